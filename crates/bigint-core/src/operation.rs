//! The operations, each declared once.
//!
//! [`for_each_operation!`](crate::for_each_operation) has one entry for each operation. From it come the
//! kernels and their entry points, dispatch on every back end, the engine's methods, the conformance suite,
//! the benchmarks, and the command's operators and functions.

mod declaration;
mod expand;
mod properties;

pub use declaration::*;
pub use expand::Operation;

/// Calls `$callback!` once, with the declarations of all operations. An entry reads
///
/// ```text
/// /// What the engine's method says.          (its documentation)
/// Add add(a, b) -> (r) {                     (variant, name of its files, operands -> results)
///     exact: [Widest(1)],                     (limbs that hold every result, one rule for each)
///     flag: Carry,                            (what stands beside the results: see Flag)
///     methods: add [wrapping_add] [overflowing_add],   (the engine's; the forms in brackets may be missing)
///     syntax: Infix("+"),                     (how the command writes it: Infix, Function, Unwritten)
///     signs: Sum,                             (what it is of signed numbers: see Signs; may be missing)
///     cost: Linear,                           (what its time grows with: see Cost; Linear where missing)
///     properties: [OfWidths],                 (what else holds of it: see Property; may be missing)
///     kernels: {                              (algorithm, level, numbers of lanes, layouts)
///         ripple thread [1] [contiguous interleaved]
///         carry_lookahead warp [32] [contiguous interleaved]
///     }
/// }
/// ```
///
/// Each number of lanes with each layout is a kernel: the rows above are four kernels,
/// `add_ripple_thread_contiguous` and so on. The leaf of the first row is `thread::add::ripple` in the
/// device crate, and the reference of the operation is `reference::add` in the CPU crate. A longer row says
/// how kernels share a text:
///
/// ```text
/// school warp {4 8 16 32} {interleaved}: DivisionByLanes @3 = div_rem school
/// ```
///
/// * In brackets, each number of lanes and each layout has a text of its own. In braces there is one text,
///   which is specialised when it is loaded: `{4 8 16 32}` to the number of lanes, `{interleaved}` to
///   whether a number's limbs are neighbours in memory.
/// * A row without `contiguous` serves batches of any layout: its kernels take any strides.
/// * `: DivisionByLanes` is the [`Family`](crate::specialization::Family) of the row's specialisations.
///   Kernels of a row without a family are not specialised.
/// * `@3` bounds the registers of a thread, so that 3 blocks fit a multiprocessor.
/// * `= div_rem school` says that the kernels have the text of another row, here of `div_rem` by `school`.
///   It is specialised to what these compute, or finds that out by itself.
#[macro_export]
macro_rules! for_each_operation {
    ($callback:path) => {
        $callback! {
            /// `a + b`.
            ///
            /// Exact: one limb wider than the wider operand. Cost: linear
            /// [Langer 2015], [Bringgaard 2024].
            Add add(a, b) -> (r) {
                exact: [Widest(1)],
                flag: Carry,
                methods: add [wrapping_add] [overflowing_add],
                syntax: Infix("+"),
                signs: Sum,
                kernels: {
                    ripple thread [1] [contiguous interleaved]
                    carry_lookahead warp [32] [contiguous interleaved]
                }
            }
            /// `a - b`.
            ///
            /// Exact: as wide as the wider operand. A negative difference is an error, so the exact form
            /// waits until the device has computed it. Cost: linear.
            Sub sub(a, b) -> (r) {
                exact: [Widest(0)],
                flag: Borrow,
                methods: sub [wrapping_sub] [overflowing_sub],
                syntax: Infix("-"),
                signs: Difference,
                kernels: {
                    ripple thread [1] [contiguous interleaved]
                    carry_lookahead warp [32] [contiguous interleaved]
                }
            }
            /// `a * b`.
            ///
            /// Exact: as wide as both operands together. Cost: `n m` multiply-adds below
            /// Karatsuba's and the transform's sizes [Langer 2015], [Honda 2015],
            /// [Carlessi and Kashani 2013].
            Mul mul(a, b) -> (r) {
                exact: [Total(0)],
                flag: None,
                methods: mul [wrapping_mul] [],
                syntax: Infix("*"),
                signs: Product,
                cost: Product,
                kernels: {
                    school thread [1] [contiguous]: ProductInSlots
                    school thread [1] [interleaved]: ProductInPlaces
                    comba thread [1] [contiguous]: ProductInSlots
                    comba thread [1] [interleaved]
                    karatsuba thread [1] [contiguous interleaved]
                    school warp {4 8 16 32} [contiguous interleaved]: ProductByRows
                    comba warp [32] [contiguous interleaved]
                    karatsuba warp [32] [interleaved]
                    toeplitz warp [32] {interleaved}: Toeplitz @4
                    fft block [32 64 80 96 128 160 192 256 320 384 512 640 768 1024] {interleaved}: BlockTransform
                    ntt grid [] [contiguous interleaved]
                }
            }
            /// `a a`.
            ///
            /// Exact: twice as wide as the operand. Cost: `n (n + 1) / 2` multiply-adds below the CPU's
            /// Karatsuba. The product of a batch by itself is computed as a square too.
            Square square(a) -> (r) {
                exact: [Twice(0)],
                flag: None,
                methods: square [wrapping_square] [],
                syntax: Unwritten,
                signs: Magnitudes,
                cost: Square,
                kernels: {
                    school thread [1] {interleaved}: Square
                    school warp {2 4 8 16 32} {interleaved}: Square
                    toeplitz warp [32] {interleaved}: Toeplitz @4 = mul toeplitz
                    fft block [32 64 80 96 128 160 192 256 320 384 512 640 768 1024] {interleaved}: BlockTransform = mul fft
                    ntt grid [] [contiguous interleaved] = mul ntt
                }
            }
            /// The high half of `a b`: the product without its `w` lowest limbs, where `w` is the wider
            /// operand's width. The low half is the wrapping product.
            ///
            /// Exact: as wide as the narrower operand. Cost: that of the whole product, whose low limbs are
            /// computed but not stored.
            MulHigh mul_high(a, b) -> (r) {
                exact: [Narrowest(0)],
                flag: None,
                methods: mul_high [] [],
                syntax: Unwritten,
                cost: Product,
                properties: [OfWidths],
                kernels: {
                    comba thread [1] [contiguous interleaved]
                }
            }
            /// `a b + c`.
            ///
            /// Exact: as wide as `a` and `b` together if `c` is no wider than the wider of them; else a limb
            /// wider than the wider of product and `c`. Cost: that of the product, as the sum takes no pass
            /// of its own.
            MulAdd mul_add(a, b, c) -> (r) {
                exact: [ProductPlus(0)],
                flag: None,
                methods: mul_add [wrapping_mul_add] [],
                syntax: Unwritten,
                signs: ProductPlus,
                cost: Product,
                kernels: {
                    comba thread [1] [contiguous interleaved]
                }
            }
            /// Quotient and remainder of `a` by `b`: `a = q b + r`, `0 <= r < b`.
            ///
            /// Exact: the quotient is as wide as `a`, the remainder as the narrower operand. Cost:
            /// `(n - m + 1) m` multiply-adds below the CPU's recursive division ([Knuth 1997], [Möller and
            /// Granlund 2011]).
            DivRem div_rem(a, b) -> (q, r) {
                exact: [First(0), Narrowest(0)],
                flag: ZeroDivisor,
                methods: div_rem [] [masked_div_rem],
                syntax: Unwritten,
                cost: Quotient,
                kernels: {
                    school thread [1] {interleaved}: Division @3
                    school warp {4 8 16 32} {interleaved}: DivisionByLanes
                }
            }
            /// The quotient of `a` by `b`, rounded down.
            ///
            /// Exact: as wide as `a`. Cost: that of quotient and remainder together.
            Div div(a, b) -> (q) {
                exact: [First(0)],
                flag: ZeroDivisor,
                methods: div [] [masked_div],
                syntax: Infix("/"),
                signs: Quotient,
                cost: Quotient,
                kernels: {
                    school thread [1] {interleaved}: Division @3 = div_rem school
                    school warp {4 8 16 32} {interleaved}: DivisionByLanes = div_rem school
                }
            }
            /// The remainder of `a` by `b`: at least 0 and less than `b`.
            ///
            /// Exact: as wide as the narrower operand. Cost: that of quotient and remainder together.
            Rem rem(a, b) -> (r) {
                exact: [Narrowest(0)],
                flag: ZeroDivisor,
                methods: rem [] [masked_rem],
                syntax: Infix("%"),
                signs: Remainder,
                cost: Quotient,
                kernels: {
                    school thread [1] {interleaved}: Division @3 = div_rem school
                    school warp {4 8 16 32} {interleaved}: DivisionByLanes = div_rem school
                }
            }
            /// The greatest common divisor of `a` and `b`, which is 0 if both are 0.
            ///
            /// Exact: as wide as the wider operand. Cost: quadratic (Lehmer's algorithm), and of long numbers some
            /// products for each doubling of their length [Möller 2008]. The time depends on the numbers.
            Gcd gcd(a, b) -> (r) {
                exact: [Widest(0)],
                flag: None,
                methods: gcd [] [],
                syntax: Function("gcd"),
                signs: Magnitudes,
                cost: Euclid,
                kernels: {
                    lehmer thread [1] {interleaved}: Column @8
                    lehmer_words thread [1] {interleaved}: Column @8
                }
            }
            /// The least common multiple of `a` and `b`, which is 0 if one of them is 0.
            ///
            /// Exact: as wide as both operands together. Cost: that of a greatest common divisor, an exact
            /// division and a product.
            Lcm lcm(a, b) -> (r) {
                exact: [Total(0)],
                flag: None,
                methods: lcm [] [],
                syntax: Function("lcm"),
                signs: Magnitudes,
                cost: Euclid,
                kernels: {
                    lehmer thread [1] {interleaved}: Column @7
                    lehmer_words thread [1] {interleaved}: Column @7
                }
            }
            /// The inverse of `a` modulo `m`: `r a = 1` modulo `m` and `0 <= r < m`. Modulo 1 it is 0.
            ///
            /// As wide as `m`. Cost: twice that of a greatest common divisor, in a time that depends on the
            /// numbers (Lehmer's algorithm).
            InvMod inv_mod(a, m) -> (r) {
                exact: [Last(0)],
                flag: NotInvertible,
                methods: inv_mod [] [masked_inv_mod],
                syntax: Function("invmod"),
                signs: Residue,
                cost: Euclid,
                kernels: {
                    lehmer thread [1] {interleaved}: Column @6
                    lehmer_words thread [1] {interleaved}: Column @6
                }
            }
            /// The inverse of `a` modulo an odd `m`, in constant time: no branch and no address depends on
            /// `a` or `m`, only on their widths. Modulo an even `m` there is no result.
            ///
            /// As wide as `m`. Cost: `33 n^2` multiply-adds: each round of 30 steps takes ten for each digit
            /// of 30 bits, and each bit of the modulus takes 2.9 steps [Bernstein and Yang 2019].
            InvOddMod inv_odd_mod(a, m) -> (r) {
                exact: [Last(0)],
                flag: NotInvertible,
                methods: inv_odd_mod [] [masked_inv_odd_mod],
                syntax: Unwritten,
                cost: Divsteps,
                kernels: {
                    divsteps thread [1] [interleaved]: Column
                    divsteps warp {2 4 8 16 32} {interleaved}: DivstepsByLanes @3
                }
            }
            /// The square root of `a`, rounded down, and the remainder: `a = root^2 + remainder`,
            /// `remainder <= 2 root`.
            ///
            /// Exact: the root is half as wide as `a`, the remainder a limb wider than the root. Cost:
            /// `n^2 / 4` multiply-adds on a device, that of a few divisions on the CPU [Zimmermann 1999].
            Isqrt isqrt(a) -> (root, remainder) {
                exact: [Half(0), Half(1)],
                flag: None,
                methods: isqrt [] [],
                syntax: Function("isqrt"),
                cost: Root,
                kernels: {
                    school thread [1] {interleaved}: Root
                    school warp {2 4 8 16 32} {interleaved}: Root
                }
            }
            /// The `k`-th root of `a`, rounded down, and the remainder: `a = root^k + remainder`. A degree
            /// `k` of 0 is treated as a divisor of zero.
            ///
            /// Exact: both results are as wide as `a`. The CPU computes it, and devices with long numbers and one degree
            /// for all. Cost: that of a few divisions (Newton's method).
            Iroot iroot(a, k) -> (root, remainder) {
                exact: [First(0), First(0)],
                flag: ZeroDivisor,
                methods: iroot [] [masked_iroot],
                syntax: Function("iroot"),
                cost: Root,
                kernels: {
                }
            }
            /// The Jacobi symbol of `a` over an odd `n`: 0, 1 or 2 for a symbol of -1, 0 or 1.
            ///
            /// One limb for each number. The CPU computes it, and devices with long numbers. Cost: that of a
            /// greatest common divisor.
            Jacobi jacobi(a, n) -> (r) {
                exact: [Limbs(1)],
                flag: EvenModulus,
                methods: jacobi [] [masked_jacobi],
                syntax: Function("jacobi"),
                signs: Symbol,
                cost: Euclid,
                kernels: {
                }
            }
            /// The digits of `a` in base `10^9`, the lowest first: limb `i` is `a / 10^(9 i)` modulo `10^9`, nine decimal
            /// digits.
            ///
            /// Exact: a fourteenth wider than `a`, and a limb. Cost: `n^2 / 2` divisions of words. `Engine::decimals`
            /// has it done for many numbers.
            ToDecimal to_decimal(a) -> (r) {
                exact: [Billions(0)],
                flag: None,
                methods: to_decimal [] [],
                syntax: Unwritten,
                cost: Radix,
                kernels: {
                    school thread [1] [contiguous interleaved]
                }
            }
            /// The number whose digits in base `10^9` are the limbs of `a`, the lowest first: the sum of `a[i] 10^(9 i)`. A
            /// digit may be any limb.
            ///
            /// Exact: as wide as `a`. Cost: `n^2 / 2` multiply-adds. `Engine::integers_from_texts` has it done for many
            /// numbers.
            FromDecimal from_decimal(a) -> (r) {
                exact: [First(0)],
                flag: None,
                methods: from_decimal [] [],
                syntax: Unwritten,
                cost: Radix,
                kernels: {
                    school thread [1] [contiguous interleaved]
                }
            }
            /// `a & b`, bit by bit.
            /// Exact: as wide as the wider operand. Cost: linear, no carries.
            And and(a, b) -> (r) {
                exact: [Widest(0)],
                flag: None,
                methods: and [] [],
                syntax: Unwritten,
                kernels: {
                    limbwise thread [1] [interleaved]
                    limbwise warp [32] [contiguous interleaved]: Limbwise
                }
            }
            /// `a | b`, bit by bit.
            /// Exact: as wide as the wider operand. Cost: linear, no carries.
            Or or(a, b) -> (r) {
                exact: [Widest(0)],
                flag: None,
                methods: or [] [],
                syntax: Unwritten,
                kernels: {
                    limbwise thread [1] [interleaved]
                    limbwise warp [32] [contiguous interleaved]: Limbwise
                }
            }
            /// `a ^ b`, bit by bit.
            /// Exact: as wide as the wider operand. Cost: linear, no carries.
            Xor xor(a, b) -> (r) {
                exact: [Widest(0)],
                flag: None,
                methods: xor [] [],
                syntax: Unwritten,
                kernels: {
                    limbwise thread [1] [interleaved]
                    limbwise warp [32] [contiguous interleaved]: Limbwise
                }
            }
            /// `!a`, every bit of `a` inverted: `-1 - a` modulo `2^(32 w)`, where `w` is the operand's
            /// width.
            ///
            /// As wide as the operand. Cost: linear, no carries.
            Not not(a) -> (r) {
                exact: [Cut(0)],
                flag: None,
                methods: not [] [],
                syntax: Unwritten,
                properties: [OfWidths],
                kernels: {
                    limbwise thread [1] [interleaved]
                    limbwise warp [32] [contiguous interleaved]: Limbwise
                }
            }
            /// `a` shifted left by `bits` bits: `a * 2^bits` modulo `2^(32 w)`, where `w` is the width of
            /// `a`.
            ///
            /// As wide as `a`. `Engine::shl` is the exact form. Cost: linear.
            Shl shl(a, bits) -> (r) {
                exact: [Cut(0)],
                flag: None,
                methods: wrapping_shl [] [],
                syntax: Infix("<<"),
                signs: Shifted,
                properties: [Guided],
                kernels: {
                    limbwise thread [1] [interleaved]
                    limbwise warp [32] [contiguous interleaved]: Limbwise
                }
            }
            /// `a` shifted right by `bits` bits: `a / 2^bits`, rounded down.
            ///
            /// Exact: as wide as `a`. Cost: linear.
            Shr shr(a, bits) -> (r) {
                exact: [First(0)],
                flag: None,
                methods: shr [] [],
                syntax: Infix(">>"),
                signs: ShiftedFloor,
                properties: [Guided],
                kernels: {
                    limbwise thread [1] [interleaved]
                    limbwise warp [32] [contiguous interleaved]: Limbwise
                }
            }
            /// Bit `place` of `a`: 0 or 1. It is 0 at places above the width of `a`.
            ///
            /// One limb for each number. Cost: that of reading one limb of each number.
            TestBit test_bit(a, place) -> (r) {
                exact: [Limbs(1)],
                flag: None,
                methods: test_bit [] [],
                syntax: Unwritten,
                properties: [CountsBits Guided],
                kernels: {
                    limbwise warp [32] [contiguous interleaved]: Limbwise
                }
            }
            /// `a` with bit `place` set: `a | 2^place` modulo `2^(32 w)`, where `w` is the width of `a`.
            ///
            /// As wide as `a`. A place above the width of `a` changes nothing. Cost: linear.
            SetBit set_bit(a, place) -> (r) {
                exact: [Cut(0)],
                flag: None,
                methods: set_bit [] [],
                syntax: Unwritten,
                properties: [OfWidths CountsBits Guided],
                kernels: {
                    limbwise thread [1] [interleaved]
                    limbwise warp [32] [contiguous interleaved]: Limbwise
                }
            }
            /// `a` where `mask` is not zero, and `b` where it is.
            ///
            /// Exact: as wide as the widest operand. Cost: linear.
            Select select(a, b, mask) -> (r) {
                exact: [Widest(0)],
                flag: None,
                methods: select [] [],
                syntax: Unwritten,
                properties: [Guided],
                kernels: {
                    limbwise thread [1] [interleaved]
                    limbwise warp [32] [contiguous interleaved]: Limbwise
                }
            }
            /// The order of `a` and `b`: 0 if `a` is less, 1 if they are equal, 2 if `a` is greater.
            ///
            /// One limb for each number. `Engine::compare` brings the results to the host. Cost: linear,
            /// less where high limbs differ.
            Compare compare(a, b) -> (r) {
                exact: [Limbs(1)],
                flag: None,
                methods: order [] [],
                syntax: Function("cmp"),
                signs: Order,
                kernels: {
                    scan thread [1] [contiguous interleaved]: ScanByThread
                    scan warp [8] [contiguous interleaved]: ScanByLanes
                }
            }
            /// Whether `a` equals `b`: 1 if it does, else 0. One limb for each number. Cost: linear, less
            /// where high limbs differ.
            Equal equal(a, b) -> (r) {
                exact: [Limbs(1)],
                flag: None,
                methods: equal [] [],
                syntax: Unwritten,
                kernels: {
                    scan thread [1] [contiguous interleaved]: ScanByThread
                    scan warp [8] [contiguous interleaved]: ScanByLanes
                }
            }
            /// The lesser of `a` and `b`.
            /// Exact: as wide as the wider operand. Cost: linear.
            Min min(a, b) -> (r) {
                exact: [Widest(0)],
                flag: None,
                methods: min [] [],
                syntax: Function("min"),
                signs: Least,
                kernels: {
                    scan thread [1] [contiguous interleaved]: ScanByThread
                    scan warp [8 16 32] [contiguous]: ScanByLanes
                    scan warp [8] [interleaved]: ScanByLanes
                }
            }
            /// The greater of `a` and `b`.
            /// Exact: as wide as the wider operand. Cost: linear.
            Max max(a, b) -> (r) {
                exact: [Widest(0)],
                flag: None,
                methods: max [] [],
                syntax: Function("max"),
                signs: Greatest,
                kernels: {
                    scan thread [1] [contiguous interleaved]: ScanByThread
                    scan warp [8 16 32] [contiguous]: ScanByLanes
                    scan warp [8] [interleaved]: ScanByLanes
                }
            }
            /// The lesser and the greater of `a` and `b`. Exact: both are as wide as the wider operand.
            /// Cost: linear.
            MinMax min_max(a, b) -> (r, s) {
                exact: [Widest(0), Widest(0)],
                flag: None,
                methods: min_max [] [],
                syntax: Unwritten,
                kernels: {
                    scan thread [1] [contiguous interleaved]: ScanByThread
                    scan warp [8 16 32] [contiguous]: ScanByLanes
                    scan warp [8] [interleaved]: ScanByLanes
                }
            }
            /// The absolute difference of `a` and `b`.
            /// Exact: as wide as the wider operand. Cost: linear.
            AbsDiff abs_diff(a, b) -> (r) {
                exact: [Widest(0)],
                flag: None,
                methods: abs_diff [] [],
                syntax: Unwritten,
                kernels: {
                    scan thread [1] [contiguous interleaved]: ScanByThread
                    scan warp [8 16 32] [contiguous]: ScanByLanes
                    scan warp [8] [interleaved]: ScanByLanes
                }
            }
            /// The sum of two signed numbers, whose absolute values are `a` and `b`. Bit 0 of `signs` is 1
            /// if the first is negative, bit 1 if the second is; higher bits are ignored. `r` is the sum's
            /// absolute value, and `negative` its sign, 1 or 0.
            ///
            /// A sum of zero has the sign 1 only if both operands are zeros with sign 1. Exact: `r` is one
            /// limb wider than the widest operand, `negative` is one limb. Cost: linear, and that of a
            /// comparison where signs differ.
            AddSigned add_signed(a, b, signs) -> (r, negative) {
                exact: [Widest(1), Limbs(1)],
                flag: None,
                methods: add_signed [] [],
                syntax: Unwritten,
                kernels: {
                    scan thread [1] [contiguous interleaved]: ScanByThread
                    scan warp [8 32] [contiguous]: ScanByLanes
                    scan warp [8] [interleaved]: ScanByLanes
                }
            }
            /// Sums and differences of numbers of any lengths that lie end to end in `a` and in `b`, as
            /// segments. Three limbs of `marks` describe every 32 limbs of both. Bit `i` of limb `3 k` of
            /// `marks` is 1 if a segment begins at limb `32 k + i`; one always begins at limb 0. Bit `i` of
            /// limb `3 k + 1` is 1 if `b` is subtracted there, which is the same in all of a segment. Bit
            /// `i` of limb `3 k + 2` is 1 if the number in `b` has ended: its limb then counts as 0,
            /// whatever it is.
            ///
            /// The carry or borrow out of a segment is dropped. As wide as `a`. Cost: linear, one pass for
            /// segments of any lengths [Langer 2015], [Bringgaard 2024].
            AddSegments add_segments(a, b, marks) -> (r) {
                exact: [Cut(0)],
                flag: None,
                methods: add_segments [] [],
                syntax: Unwritten,
                properties: [OfWidths],
                kernels: {
                    carry_lookahead warp [32] [contiguous interleaved]
                }
            }
            /// The length of `a` in bits: one more than the place of its highest 1, and 0 for 0.
            ///
            /// One limb for each number. Cost: linear, less where high limbs are not zero.
            BitLength bit_length(a) -> (r) {
                exact: [Limbs(1)],
                flag: None,
                methods: bit_length [] [],
                syntax: Function("bits"),
                signs: Magnitudes,
                properties: [CountsBits],
                kernels: {
                    scan thread [1] [contiguous interleaved]: ScanByThread
                    scan warp [8] [contiguous interleaved]: ScanByLanes
                }
            }
            /// The number of zeros below the lowest 1 of `a`; for 0 it is the width of `a` in bits.
            ///
            /// One limb for each number. Cost: linear.
            TrailingZeros trailing_zeros(a) -> (r) {
                exact: [Limbs(1)],
                flag: None,
                methods: trailing_zeros [] [],
                syntax: Unwritten,
                properties: [OfWidths CountsBits],
                kernels: {
                    scan thread [1] [contiguous interleaved]: ScanByThread
                    scan warp [8] [contiguous interleaved]: ScanByLanes
                }
            }
            /// The number of ones among the bits of `a` (its population count).
            ///
            /// One limb for each number. Cost: linear.
            CountOnes count_ones(a) -> (r) {
                exact: [Limbs(1)],
                flag: None,
                methods: count_ones [] [],
                syntax: Unwritten,
                properties: [CountsBits],
                kernels: {
                    scan thread [1] [contiguous interleaved]: ScanByThread
                    scan warp [8] [contiguous interleaved]: ScanByLanes
                }
            }
            /// `a + b` modulo `m`, for operands below `m`.
            ///
            /// As wide as `m`. Cost: linear; no branch depends on limbs.
            ModAdd mod_add(a, b, m) -> (r) {
                exact: [Last(0)],
                flag: None,
                methods: mod_add [] [],
                syntax: Unwritten,
                properties: [BelowModulus],
                kernels: {
                    scan thread [1] [contiguous interleaved]: ScanByThread
                    scan warp [8 16 32] [contiguous]: ScanByLanes
                    scan warp [8] [interleaved]: ScanByLanes
                }
            }
            /// `a - b` modulo `m`, for operands below `m`.
            ///
            /// As wide as `m`. Cost: linear; no branch depends on limbs.
            ModSub mod_sub(a, b, m) -> (r) {
                exact: [Last(0)],
                flag: None,
                methods: mod_sub [] [],
                syntax: Unwritten,
                properties: [BelowModulus],
                kernels: {
                    scan thread [1] [contiguous interleaved]: ScanByThread
                    scan warp [8 16 32] [contiguous]: ScanByLanes
                    scan warp [8] [interleaved]: ScanByLanes
                }
            }
            /// Montgomery's product: `a b / 2^(32 n)` modulo an odd `m` of `n` limbs, for operands below
            /// `m`.
            ///
            /// As wide as `m`. Cost: `2 n^2 + n` multiply-adds; no branch depends on limbs ([Montgomery
            /// 1985], [Koç 1996]). `Residues` are multiplied by it.
            MontMul mont_mul(a, b, m) -> (r) {
                exact: [Last(0)],
                flag: None,
                methods: mont_mul [] [],
                syntax: Unwritten,
                cost: Residue,
                properties: [OfWidths BelowModulus OddModulus],
                kernels: {
                    cios thread [1] [contiguous interleaved]: Montgomery
                    cios warp {4 8 16 32} [contiguous]: Montgomery @4
                    cios warp {4 8 16 32} [interleaved]: Montgomery
                }
            }
            /// `a^e` modulo `m`, for operands of any widths and any `m` but zero; `0^0` is 1 modulo `m`.
            ///
            /// As wide as `m`. Constant time, for odd `m`: no branch and no address depends on `a` or `e`,
            /// only on their widths. `Algorithm::WindowVartime` is faster but not of constant time, for
            /// exponents that anybody may know. Cost: `32 k (1 + 1 / w)` Montgomery products for an exponent
            /// of `k` limbs and windows of `w` bits.
            PowMod pow_mod(a, e, m) -> (r) {
                exact: [Last(0)],
                flag: ZeroDivisor,
                methods: pow_mod [] [masked_pow_mod],
                syntax: Function("powmod"),
                signs: Power,
                cost: Power,
                properties: [FlagsMore],
                kernels: {
                    window thread [1] [interleaved]: Power
                    window_vartime thread [1] [interleaved]: Power = pow_mod window
                    window warp {2 4 8 16 32} [interleaved]: Power
                    window_vartime warp {2 4 8 16 32} [interleaved]: Power = pow_mod window
                    rns grid [] [contiguous interleaved]
                    rns_vartime grid [] [contiguous interleaved]
                }
            }
            /// `a0^e0 a1^e1` modulo an odd `m`. The lower half of `a` is `a0` and the upper half `a1`; if
            /// the width is odd, the lower half is a limb longer. The halves of `e` are `e0` and `e1`. It
            /// computes as `Engine::pow_mod` does, with no more squares than one power takes [Straus 1964].
            /// `Residues::multi_exponentiate` is computed by it.
            PowPair pow_pair(a, e, m) -> (r) {
                exact: [Last(0)],
                flag: None,
                methods: pow_pair [] [],
                syntax: Unwritten,
                cost: PairOfPowers,
                properties: [OfWidths OddModulus],
                kernels: {
                    window thread [1] [interleaved]: Power = pow_mod window
                    window_vartime thread [1] [interleaved]: Power = pow_mod window
                    window warp {2 4 8 16 32} [interleaved]: Power = pow_mod window
                    window_vartime warp {2 4 8 16 32} [interleaved]: Power = pow_mod window
                    rns grid [] [contiguous interleaved] = pow_mod rns
                    rns_vartime grid [] [contiguous interleaved] = pow_mod rns
                }
            }
            /// `g^e` modulo an odd `m` of `n` limbs, from a table of powers of `g`: entry `64 i + d` of `t`,
            /// of `n` limbs, is `g^(d 64^i)` in Montgomery's form. It computes as `Engine::pow_mod` does,
            /// but without squares: each window of six bits costs one product, or two on a device in
            /// constant time. `FixedBase` is computed by it.
            PowFixed pow_fixed(t, e, m) -> (r) {
                exact: [Last(0)],
                flag: None,
                methods: pow_fixed [] [],
                syntax: Unwritten,
                cost: PowerByTable,
                properties: [OfWidths OddModulus],
                kernels: {
                    window thread [1] [interleaved]: Power = pow_mod window
                    window_vartime thread [1] [interleaved]: Power = pow_mod window
                    window warp {2 4 8 16 32} [interleaved]: Power = pow_mod window
                    window_vartime warp {2 4 8 16 32} [interleaved]: Power = pow_mod window
                    rns grid [] [contiguous interleaved] = pow_mod rns
                    rns_vartime grid [] [contiguous interleaved] = pow_mod rns
                }
            }
        }
    };
}
