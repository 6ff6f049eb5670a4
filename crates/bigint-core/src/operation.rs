//! What each operation is, declared once.
//!
//! [`for_each_operation!`](crate::for_each_operation) has one entry for each. From it come
//! the kernels and their entry points, dispatch on every back end, the engine's methods,
//! the conformance suite, the benchmarks, and the command's operators and functions.

use crate::algorithm::{Algorithm, Level};
pub use crate::declaration::*;
use crate::shape::Layout;

/// Expands `$callback!` once, over the declarations of all operations. An entry reads
///
/// ```text
/// /// What the engine's method says.          (its documentation)
/// Add add(a, b) -> (r) {                     (variant, name of its files, operands -> results)
///     exact: [Widest(1)],                     (limbs that hold every result, one rule for each)
///     flag: Carry,                            (what is told beside the results: None, Carry, Borrow,
///                                             ZeroDivisor, NotInvertible, EvenModulus)
///     methods: add [wrapping_add] [overflowing_add],   (the engine's; the forms in brackets may be missing)
///     syntax: Infix("+"),                     (how the command writes it: Infix, Function, Unwritten)
///     signs: Sum,                             (what it is of signed numbers: see Signs; may be missing)
///     kernels: {                              (algorithm, level, numbers of lanes, layouts)
///         ripple thread [1] [contiguous interleaved]
///         carry_lookahead warp [32] [contiguous interleaved]
///     }
/// }
/// ```
///
/// A row without `contiguous` is for kernels that compute so long that it does not matter
/// how limbs come: those of the interleaved layout take any strides.
///
/// Lanes and layouts are multiplied out: the rows above are four kernels,
/// `add_ripple_thread_contiguous` and so on. The leaf of a row is the device crate's
/// `thread::add::ripple`, and the reference of the operation is `reference::add` in the
/// CPU crate.
#[macro_export]
macro_rules! for_each_operation {
    ($callback:path) => {
        $callback! {
            /// `a + b`.
            ///
            /// Exact: one limb wider than the wider operand. Cost: linear (Langer,
            /// Bringgaard).
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
            /// Exact: as wide as the wider operand; a negative difference is an error, so
            /// that the exact form waits for the device. Cost: linear.
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
            /// Karatsuba's and the transform's sizes (Langer, Honda, Carlessi-Kashani).
            Mul mul(a, b) -> (r) {
                exact: [Total(0)],
                flag: None,
                methods: mul [wrapping_mul] [],
                syntax: Infix("*"),
                signs: Product,
                kernels: {
                    school thread [1] [contiguous interleaved]
                    comba thread [1] [contiguous interleaved]
                    karatsuba thread [1] [contiguous interleaved]
                    school warp [4 8 16 32] [contiguous interleaved]
                    comba warp [32] [contiguous interleaved]
                    karatsuba warp [32] [interleaved]
                    fft block [16 32 64 128 256 512 1024] [interleaved]
                    ntt grid [] [contiguous interleaved]
                }
            }
            /// `a a`.
            ///
            /// Exact: twice as wide as the operand. Cost: `n (n + 1) / 2` multiply-adds
            /// below the CPU's Karatsuba; the product of a batch by itself is computed so
            /// as well.
            Square square(a) -> (r) {
                exact: [Twice(0)],
                flag: None,
                methods: square [wrapping_square] [],
                syntax: Unwritten,
                signs: Magnitudes,
                kernels: {
                    school thread [1] [interleaved]
                    school warp [2 4 8 16 32] [interleaved]
                    fft block [16 32 64 128 256 512 1024] [interleaved]
                    ntt grid [] [contiguous interleaved]
                }
            }
            /// The high half of `a b`: what is left of it without its `w` lowest limbs, `w`
            /// the wider operand's width. The low half is the wrapping product.
            ///
            /// Exact: as wide as the narrower operand. Cost: as the whole product, of which
            /// the low limbs are not stored.
            MulHigh mul_high(a, b) -> (r) {
                exact: [Narrowest(0)],
                flag: None,
                methods: mul_high [] [],
                syntax: Unwritten,
                kernels: {
                    comba thread [1] [contiguous interleaved]
                }
            }
            /// `a b + c`.
            ///
            /// Exact: as wide as `a` and `b` together where `c` is no wider than the wider
            /// of them; else a limb wider than the wider of product and `c`. Cost: as the
            /// product; the sum costs no pass of its own.
            MulAdd mul_add(a, b, c) -> (r) {
                exact: [ProductPlus(0)],
                flag: None,
                methods: mul_add [wrapping_mul_add] [],
                syntax: Unwritten,
                signs: ProductPlus,
                kernels: {
                    comba thread [1] [contiguous interleaved]
                }
            }
            /// Quotient and remainder of `a` by `b`: `a = q b + r`, `0 <= r < b`.
            ///
            /// Exact: the quotient as wide as `a`, the remainder as the narrower operand. Cost:
            /// `(n - m + 1) m` multiply-adds below the CPU's recursive division (Knuth;
            /// Moller and Granlund).
            DivRem div_rem(a, b) -> (q, r) {
                exact: [First(0), Narrowest(0)],
                flag: ZeroDivisor,
                methods: div_rem [] [masked_div_rem],
                syntax: Unwritten,
                kernels: {
                    school thread [1] [interleaved]
                    school warp [4 8 16 32] [interleaved]
                }
            }
            /// The quotient of `a` by `b`, rounded down.
            ///
            /// Exact: as wide as `a`. Cost: as quotient and remainder together.
            Div div(a, b) -> (q) {
                exact: [First(0)],
                flag: ZeroDivisor,
                methods: div [] [masked_div],
                syntax: Infix("/"),
                signs: Quotient,
                kernels: {
                    school thread [1] [interleaved]
                    school warp [4 8 16 32] [interleaved]
                }
            }
            /// The remainder of `a` by `b`: at least 0 and less than `b`.
            ///
            /// Exact: as wide as the narrower operand. Cost: as quotient and remainder together.
            Rem rem(a, b) -> (r) {
                exact: [Narrowest(0)],
                flag: ZeroDivisor,
                methods: rem [] [masked_rem],
                syntax: Infix("%"),
                signs: Remainder,
                kernels: {
                    school thread [1] [interleaved]
                    school warp [4 8 16 32] [interleaved]
                }
            }
            /// The greatest common divisor of `a` and `b`; 0 of two zeros.
            ///
            /// Exact: as wide as the wider operand. Cost: quadratic, in time that depends on
            /// the numbers (Lehmer).
            Gcd gcd(a, b) -> (r) {
                exact: [Widest(0)],
                flag: None,
                methods: gcd [] [],
                syntax: Function("gcd"),
                signs: Magnitudes,
                kernels: {
                    lehmer thread [1] [interleaved]
                }
            }
            /// The least common multiple of `a` and `b`; 0 where one of them is 0.
            ///
            /// Exact: as wide as both operands together. Cost: of a greatest common divisor, an
            /// exact division and a product.
            Lcm lcm(a, b) -> (r) {
                exact: [Total(0)],
                flag: None,
                methods: lcm [] [],
                syntax: Function("lcm"),
                signs: Magnitudes,
                kernels: {
                    lehmer thread [1] [interleaved]
                }
            }
            /// The inverse of `a` modulo `m`: `r a = 1` modulo `m`, `0 <= r < m`; it is 0 modulo 1.
            ///
            /// As wide as `m`. Cost: twice that of a greatest common divisor, in time that
            /// depends on the numbers (Lehmer).
            InvMod inv_mod(a, m) -> (r) {
                exact: [Last(0)],
                flag: NotInvertible,
                methods: inv_mod [] [masked_inv_mod],
                syntax: Function("invmod"),
                signs: Residue,
                kernels: {
                    lehmer thread [1] [interleaved]
                }
            }
            /// The inverse of `a` modulo an odd `m`, in constant time: no branch and no address
            /// depends on `a` or `m`, but on their widths. Modulo an even `m` there is none.
            ///
            /// As wide as `m`. Cost: `33 n^2` multiply-adds: ten for each digit of 30 bits in each round
            /// of 30 steps, of which each bit takes 2.9 (Bernstein and Yang).
            InvOddMod inv_odd_mod(a, m) -> (r) {
                exact: [Last(0)],
                flag: NotInvertible,
                methods: inv_odd_mod [] [masked_inv_odd_mod],
                syntax: Unwritten,
                kernels: {
                    divsteps thread [1] [interleaved]
                }
            }
            /// The square root of `a`, rounded down, and what it leaves:
            /// `a = root^2 + remainder`, `remainder <= 2 root`.
            ///
            /// Exact: the root half as wide as `a`, the remainder a limb wider than the root.
            /// Cost: `n^2 / 4` multiply-adds on a device, of a few divisions on the CPU
            /// (Zimmermann).
            Isqrt isqrt(a) -> (root, remainder) {
                exact: [Half(0), Half(1)],
                flag: None,
                methods: isqrt [] [],
                syntax: Function("isqrt"),
                kernels: {
                    school thread [1] [interleaved]
                    school warp [2 4 8 16 32] [interleaved]
                }
            }
            /// The `k`-th root of `a`, rounded down, and what it leaves:
            /// `a = root^k + remainder`. A degree of 0 is a divisor of zero.
            ///
            /// Exact: both as wide as `a`. Computed on the CPU. Cost: a few divisions (Newton).
            Iroot iroot(a, k) -> (root, remainder) {
                exact: [First(0), First(0)],
                flag: ZeroDivisor,
                methods: iroot [] [masked_iroot],
                syntax: Function("iroot"),
                kernels: {
                }
            }
            /// The Jacobi symbol of `a` over an odd `n`: 0, 1 or 2 for a symbol of -1, 0 or 1.
            ///
            /// One limb for each number. Every engine computes it on the CPU. Cost: quadratic
            /// (Euclid).
            Jacobi jacobi(a, n) -> (r) {
                exact: [Limbs(1)],
                flag: EvenModulus,
                methods: jacobi [] [masked_jacobi],
                syntax: Function("jacobi"),
                signs: Symbol,
                kernels: {
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
                    limbwise warp [32] [contiguous interleaved]
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
                    limbwise warp [32] [contiguous interleaved]
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
                    limbwise warp [32] [contiguous interleaved]
                }
            }
            /// `!a`, every bit the other: `-1 - a` modulo `2^(32 w)`.
            ///
            /// As wide as the operand. Cost: linear, no carries.
            Not not(a) -> (r) {
                exact: [Cut(0)],
                flag: None,
                methods: not [] [],
                syntax: Unwritten,
                kernels: {
                    limbwise thread [1] [interleaved]
                    limbwise warp [32] [contiguous interleaved]
                }
            }
            /// `a` shifted left by `bits` bits: `a * 2^bits` modulo `2^(32 w)`.
            ///
            /// As wide as `a`; `Engine::shl` is exact. Cost: linear.
            Shl shl(a, bits) -> (r) {
                exact: [Cut(0)],
                flag: None,
                methods: wrapping_shl [] [],
                syntax: Infix("<<"),
                signs: Shifted,
                kernels: {
                    limbwise thread [1] [interleaved]
                    limbwise warp [32] [contiguous interleaved]
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
                kernels: {
                    limbwise thread [1] [interleaved]
                    limbwise warp [32] [contiguous interleaved]
                }
            }
            /// Bit `place` of `a`: 0 or 1, and 0 above its width.
            ///
            /// One limb for each number. Cost: one limb read.
            TestBit test_bit(a, place) -> (r) {
                exact: [Limbs(1)],
                flag: None,
                methods: test_bit [] [],
                syntax: Unwritten,
                kernels: {
                    limbwise warp [32] [contiguous interleaved]
                }
            }
            /// `a` with bit `place` set: `a | 2^place` modulo `2^(32 w)`.
            ///
            /// As wide as `a`, so that a place above it changes nothing. Cost: linear.
            SetBit set_bit(a, place) -> (r) {
                exact: [Cut(0)],
                flag: None,
                methods: set_bit [] [],
                syntax: Unwritten,
                kernels: {
                    limbwise thread [1] [interleaved]
                    limbwise warp [32] [contiguous interleaved]
                }
            }
            /// `a` where `mask` is not zero, `b` where it is.
            ///
            /// Exact: as wide as the widest operand. Cost: linear.
            Select select(a, b, mask) -> (r) {
                exact: [Widest(0)],
                flag: None,
                methods: select [] [],
                syntax: Unwritten,
                kernels: {
                    limbwise thread [1] [interleaved]
                    limbwise warp [32] [contiguous interleaved]
                }
            }
            /// How `a` compares with `b`: 0 where it is less, 1 where they are equal, 2 where it
            /// is greater.
            ///
            /// One limb for each number; `Engine::compare` brings them
            /// to the host. Cost: linear, less where high limbs differ.
            Compare compare(a, b) -> (r) {
                exact: [Limbs(1)],
                flag: None,
                methods: order [] [],
                syntax: Function("cmp"),
                signs: Order,
                kernels: {
                    scan thread [1] [contiguous interleaved]
                    scan warp [8] [contiguous interleaved]
                }
            }
            /// Whether `a` equals `b`: 1 or 0.
            /// One limb for each number. Cost: linear, less where high limbs differ.
            Equal equal(a, b) -> (r) {
                exact: [Limbs(1)],
                flag: None,
                methods: equal [] [],
                syntax: Unwritten,
                kernels: {
                    scan thread [1] [contiguous interleaved]
                    scan warp [8] [contiguous interleaved]
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
                    scan thread [1] [contiguous interleaved]
                    scan warp [8] [contiguous interleaved]
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
                    scan thread [1] [contiguous interleaved]
                    scan warp [8] [contiguous interleaved]
                }
            }
            /// The lesser and the greater of `a` and `b`.
            /// Exact: both as wide as the wider operand. Cost: linear.
            MinMax min_max(a, b) -> (r, s) {
                exact: [Widest(0), Widest(0)],
                flag: None,
                methods: min_max [] [],
                syntax: Unwritten,
                kernels: {
                    scan thread [1] [contiguous interleaved]
                    scan warp [8] [contiguous interleaved]
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
                    scan thread [1] [contiguous interleaved]
                    scan warp [8] [contiguous interleaved]
                }
            }
            /// The sum of two signed numbers: `a` and `b` are their absolute values, bit 0 of
            /// `signs` is 1 where the first is negative, bit 1 where the second is; bits above
            /// mean nothing. `r` is the sum's absolute value, `negative` its sign, 1 or 0.
            ///
            /// The sign of a sum of two zeros is that of both, or 0. Exact: one limb wider than
            /// the widest operand, and one limb. Cost: linear; where signs differ, a comparison
            /// as well.
            AddSigned add_signed(a, b, signs) -> (r, negative) {
                exact: [Widest(1), Limbs(1)],
                flag: None,
                methods: add_signed [] [],
                syntax: Unwritten,
                kernels: {
                    scan thread [1] [contiguous interleaved]
                    scan warp [8] [contiguous interleaved]
                }
            }
            /// Sums and differences of numbers that lie one behind the other in `a` and in `b`,
            /// segments of any lengths. `marks` says what limb `32 k + i` of both is: bit `i` of
            /// limb `3 k` is 1 where a segment begins, as one always does at limb 0, bit `i` of
            /// limb `3 k + 1` where `b` is subtracted, which is the same in all of a segment, and
            /// bit `i` of limb `3 k + 2` where `b` has ended: its limb counts as 0, whatever it is.
            ///
            /// What a segment carries or borrows is dropped. As wide as `a`. Cost: linear, one
            /// pass whatever the segments are (Langer, Bringgaard).
            AddSegments add_segments(a, b, marks) -> (r) {
                exact: [Cut(0)],
                flag: None,
                methods: add_segments [] [],
                syntax: Unwritten,
                kernels: {
                    carry_lookahead warp [32] [contiguous interleaved]
                }
            }
            /// The length of `a` in bits: of the highest 1 its place, from 1; 0 for 0.
            ///
            /// One limb for each number. Cost: linear, less where high limbs are not zero.
            BitLength bit_length(a) -> (r) {
                exact: [Limbs(1)],
                flag: None,
                methods: bit_length [] [],
                syntax: Function("bits"),
                signs: Magnitudes,
                kernels: {
                    scan thread [1] [contiguous interleaved]
                    scan warp [8] [contiguous interleaved]
                }
            }
            /// The zeros below the lowest 1 of `a`; for 0 as many as it is wide, in bits.
            ///
            /// One limb for each number. Cost: linear.
            TrailingZeros trailing_zeros(a) -> (r) {
                exact: [Limbs(1)],
                flag: None,
                methods: trailing_zeros [] [],
                syntax: Unwritten,
                kernels: {
                    scan thread [1] [contiguous interleaved]
                    scan warp [8] [contiguous interleaved]
                }
            }
            /// The ones among the bits of `a` (its population count).
            ///
            /// One limb for each number. Cost: linear.
            CountOnes count_ones(a) -> (r) {
                exact: [Limbs(1)],
                flag: None,
                methods: count_ones [] [],
                syntax: Unwritten,
                kernels: {
                    scan thread [1] [contiguous interleaved]
                    scan warp [8] [contiguous interleaved]
                }
            }
            /// `a + b` modulo `m`, of operands below `m`.
            ///
            /// As wide as `m`. Cost: linear; no branch depends on limbs.
            ModAdd mod_add(a, b, m) -> (r) {
                exact: [Last(0)],
                flag: None,
                methods: mod_add [] [],
                syntax: Unwritten,
                kernels: {
                    scan thread [1] [contiguous interleaved]
                    scan warp [8] [contiguous interleaved]
                }
            }
            /// `a - b` modulo `m`, of operands below `m`.
            ///
            /// As wide as `m`. Cost: linear; no branch depends on limbs.
            ModSub mod_sub(a, b, m) -> (r) {
                exact: [Last(0)],
                flag: None,
                methods: mod_sub [] [],
                syntax: Unwritten,
                kernels: {
                    scan thread [1] [contiguous interleaved]
                    scan warp [8] [contiguous interleaved]
                }
            }
            /// Montgomery's product: `a b / 2^(32 n)` modulo an odd `m` of `n` limbs, of operands
            /// below `m`.
            ///
            /// As wide as `m`. Cost: `2 n^2 + n` multiply-adds; no branch depends on limbs
            /// (Montgomery; Koç, Acar and Kaliski). `Residues` are what it is for.
            MontMul mont_mul(a, b, m) -> (r) {
                exact: [Last(0)],
                flag: None,
                methods: mont_mul [] [],
                syntax: Unwritten,
                kernels: {
                    cios thread [1] [contiguous interleaved]
                    cios warp [4 8 16 32] [contiguous interleaved]
                }
            }
            /// `a^e` modulo `m`, of operands of any widths and any `m` but zero; `0^0` is 1.
            ///
            /// As wide as `m`. Constant time, for odd `m`: no branch and no address depends on
            /// `a` or `e`, but on their widths; `Algorithm::WindowVartime` is the faster one that
            /// does not say so, for exponents that anybody may know. Cost: `32 k (1 + 1 / w)`
            /// Montgomery products for an exponent of `k` limbs and windows of `w` bits.
            PowMod pow_mod(a, e, m) -> (r) {
                exact: [Last(0)],
                flag: ZeroDivisor,
                methods: pow_mod [] [masked_pow_mod],
                syntax: Function("powmod"),
                signs: Power,
                kernels: {
                    window thread [1] [interleaved]
                    window_vartime thread [1] [interleaved]
                    window warp [2 4 8 16 32] [interleaved]
                    window_vartime warp [2 4 8 16 32] [interleaved]
                }
            }
            /// `a0^e0 a1^e1` modulo an odd `m`: two bases, the lower half of `a` (of an odd width a
            /// limb longer) and the upper, and two exponents in `e`; as `Engine::pow_mod`, with the
            /// squares of one power (Straus). `Residues::multi_exponentiate` takes it.
            PowPair pow_pair(a, e, m) -> (r) {
                exact: [Last(0)],
                flag: None,
                methods: pow_pair [] [],
                syntax: Unwritten,
                kernels: {
                    window thread [1] [interleaved]
                    window_vartime thread [1] [interleaved]
                    window warp [2 4 8 16 32] [interleaved]
                    window_vartime warp [2 4 8 16 32] [interleaved]
                }
            }
            /// `g^e` modulo an odd `m` of `n` limbs; entry `64 i + d` of the table `t`, of `n` limbs, is
            /// `g^(d 64^i)` in Montgomery's form. As `Engine::pow_mod`, but no squares: a product for
            /// each window of six bits, on a device two in constant time. For `FixedBase`.
            PowFixed pow_fixed(t, e, m) -> (r) {
                exact: [Last(0)],
                flag: None,
                methods: pow_fixed [] [],
                syntax: Unwritten,
                kernels: {
                    window thread [1] [interleaved]
                    window_vartime thread [1] [interleaved]
                    window warp [2 4 8 16 32] [interleaved]
                    window_vartime warp [2 4 8 16 32] [interleaved]
                }
            }
        }
    };
}

macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $variant:ident $name:ident ($($operand:ident),*) -> ($($result:ident),*) {
            exact: [$($exact:ident($limbs:literal)),*],
            flag: $flag:ident,
            methods: $method:ident [$($wrapping:ident)?] [$($overflowing:ident)?],
            syntax: $syntax:ident$(($symbol:literal))?,
            $(signs: $signs:ident,)?
            kernels: {$(
                $algorithm:ident $level:ident [$($lanes:literal)*] [$($layout:ident)*]
            )*}
        }
    )*) => {
        /// An operation on batches, number by number.
        ///
        /// Every operation takes operands of any widths and results of any width `w`: it
        /// computes the exact value modulo 2^(32 w). Exact forms are those whose result is
        /// wide enough; wrapping forms choose a narrower one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Operation {
            $($(#[$doc])* $variant,)*
        }

        impl Operation {
            /// Every operation, in the order of their declarations.
            pub const ALL: [Operation; [$(stringify!($variant)),*].len()] =
                [$(Operation::$variant),*];

            /// What the operation is.
            pub const fn declaration(self) -> &'static Declaration {
                match self {
                    $(Operation::$variant => const { &Declaration {
                        name: stringify!($name),
                        operands: &[$(stringify!($operand)),*],
                        results: &[$(stringify!($result)),*],
                        exact: &[$(Width::$exact($limbs)),*],
                        flag: Flag::$flag,
                        wraps: !<[&str]>::is_empty(&[$(stringify!($wrapping))?]),
                        syntax: Syntax::$syntax$(($symbol))?,
                        signs: {
                            let signs = [$(Signs::$signs,)? Signs::Natural];
                            signs[0]
                        },
                        rows: &[$(Row {
                            algorithm: Algorithm::named(stringify!($algorithm)),
                            level: Level::named(stringify!($level)),
                            lanes: &[$($lanes),*],
                            layouts: &[$(Layout::named(stringify!($layout))),*],
                        }),*],
                    } },)*
                }
            }
        }
    };
}
for_each_operation!(operations);
