//! Two rows at a time: `u + (q1 B + q0) w` for two limbs `q0` and `q1` and two numbers of `N` limbs
//! in registers. The result has `N + 2` limbs.
//!
//! A product of two limbs is two limbs wide, and hardware adds it to two limbs that stand in one
//! pair of registers. `q0 w[0]`, `q1 w[1]`, `q0 w[2]`, ... begin at even weights and are added to
//! the pairs of `u`. `q0 w[1]`, `q1 w[0]`, ... lie side by side one weight higher. One chain of
//! carries adds both numbers:
//!
//! ```text
//! u + q0 w[even] + q1 B w[odd]:   e0 e1 | e2 e3 | top
//! q0 w[odd] + q1 B w[even]:       -   o0 o1 | o2 o3
//! ```
//!
//! With one limb `q` at a time, the next row's pairs would begin at the other weights, and every
//! limb would move between registers twice; with two, pairs stay pairs. The driver's compiler finds
//! pairs of registers for words of 64 bits, but if limbs are put together into words for each row,
//! it moves half of them. So code that adds row after row keeps `u` as [pairs](Row::Pairs).
//!
//! Bound: `(B^N - 1) + (B^2 - 1)(B^N - 1) = B^(N+2) - B^2`, so two limbs more than `N` hold the
//! result.
//!
//! Cost: `2 N` multiply-adds and `N + 4` additions.

// `asm!`: Rust has no word for the carry flag.
#![allow(unsafe_code)]

use bigint_core::{LIMB_BITS, Limb};
use core::arch::asm;

/// Two limbs, the lower one in the lower half.
pub type Pair = u64;

/// The pair of two limbs.
#[inline(always)]
pub fn pair([low, high]: [Limb; 2]) -> Pair {
    Pair::from(high) << LIMB_BITS | Pair::from(low)
}

/// The limbs of a pair.
#[inline(always)]
pub fn halves(pair: Pair) -> [Limb; 2] {
    [pair as Limb, (pair >> LIMB_BITS) as Limb]
}

/// A number of a fixed count of limbs in registers.
pub trait Row: Copy {
    /// The number of limbs.
    const LIMBS: u32;

    /// The number as pairs of limbs: an array of half as many pairs.
    type Pairs: Copy;

    /// The number whose limb `i` is `limb(i)`, which is called from the lowest limb up. (A loop,
    /// and so `array::from_fn`, would put the limbs of long numbers into memory.)
    fn of(limb: impl FnMut(u32) -> Limb) -> Self;

    /// Calls `take` with the place and the value of each limb, from the lowest up.
    fn each(self, take: impl FnMut(u32, Limb));

    /// Puts the limbs together into pairs.
    fn pairs(self) -> Self::Pairs;

    /// Takes pairs apart into limbs.
    fn of_pairs(pairs: Self::Pairs) -> Self;

    /// Moves the number up by two limbs, with `lowest` below. The highest pair is lost.
    fn slide(pairs: Self::Pairs, lowest: Pair) -> Self::Pairs;

    /// The three highest limbs, lowest first.
    fn highest(pairs: Self::Pairs) -> [Limb; 3];

    /// `pairs + limbs`, with carries inside the four lowest limbs only, and the carry out of these.
    fn add_below(pairs: Self::Pairs, limbs: [Limb; 2]) -> (Self::Pairs, Limb);

    /// `pairs + q w`, and the two limbs above.
    fn add_rows(pairs: Self::Pairs, q: [Limb; 2], w: Self) -> (Self::Pairs, [Limb; 2]);

    /// `self + q w`, and the two limbs above.
    #[inline(always)]
    fn multiply_add(self, q: [Limb; 2], w: Self) -> (Self, [Limb; 2]) {
        let (pairs, above) = Self::add_rows(self.pairs(), q, w);
        (Self::of_pairs(pairs), above)
    }
}

/// A line of a chain, which adds `q` times a limb of `w` to a limb.
macro_rules! line {
    ($instruction:literal, $limb:ident, $q:literal, $factor:ident) => {
        concat!(
            $instruction,
            ".u32 ",
            stringify!($limb),
            ", {",
            $q,
            "}, {",
            stringify!($factor),
            "}, ",
            stringify!($limb),
            ";"
        )
    };
}

/// A line of the sum of both chains, which adds a limb to a limb.
macro_rules! sum {
    ($instruction:literal, $limb:ident, $other:ident) => {
        concat!(
            $instruction,
            ".u32 ",
            stringify!($limb),
            ", ",
            stringify!($limb),
            ", ",
            stringify!($other),
            ";"
        )
    };
}

/// A line that takes two limbs from a pair.
macro_rules! unpack {
    ($e:ident $f:ident $o:ident $p:ident $u:ident) => {
        concat!(
            ".reg .b32 ",
            stringify!($e),
            ", ",
            stringify!($f),
            ", ",
            stringify!($o),
            ", ",
            stringify!($p),
            "; mov.b64 {{",
            stringify!($e),
            ", ",
            stringify!($f),
            "}}, {",
            stringify!($u),
            "};"
        )
    };
}

/// A line that puts two limbs together into a pair.
macro_rules! pack {
    ($r:ident $e:ident $f:ident) => {
        concat!(
            "mov.b64 {",
            stringify!($r),
            "}, {{",
            stringify!($e),
            ", ",
            stringify!($f),
            "}};"
        )
    };
}

/// A line that multiplies `q0` by an odd limb of `w`. (For a product of words of 64 bits, the
/// driver's compiler would also add the products of their upper halves, which are zero.)
macro_rules! product {
    ($o:ident $p:ident $x:ident) => {
        concat!(
            "mul.wide.u32 product, {q0}, {",
            stringify!($x),
            "}; mov.b64 {{",
            stringify!($o),
            ", ",
            stringify!($p),
            "}}, product;"
        )
    };
}

/// Both halves of a product of two limbs, by one multiplication.
#[inline(always)]
pub fn product(a: Limb, b: Limb) -> [Limb; 2] {
    let (lower, upper);
    // SAFETY: register arithmetic only.
    unsafe {
        asm!(
            "{{",
            ".reg .b64 product;",
            "mul.wide.u32 product, {a}, {b};",
            "mov.b64 {{{lower}, {upper}}}, product;",
            "}}",
            a = in(reg32) a, b = in(reg32) b,
            lower = out(reg32) lower, upper = out(reg32) upper,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    [lower, upper]
}

/// The number of the pairs `a` and, above it, `b`, plus `limbs`; and the carry out.
#[inline(always)]
fn add_to_two([mut a, mut b]: [Pair; 2], [low, high]: [Limb; 2]) -> ([Pair; 2], Limb) {
    let carry;
    // SAFETY: register arithmetic only; the first addition does not read the carry flag, and the
    // last does not set it.
    unsafe {
        asm!(
            "{{",
            ".reg .b32 a0, a1, b0, b1;",
            "mov.b64 {{a0, a1}}, {a};",
            "mov.b64 {{b0, b1}}, {b};",
            "add.cc.u32 a0, a0, {low};",
            "addc.cc.u32 a1, a1, {high};",
            "addc.cc.u32 b0, b0, 0;",
            "addc.cc.u32 b1, b1, 0;",
            "addc.u32 {carry}, 0, 0;",
            "mov.b64 {a}, {{a0, a1}};",
            "mov.b64 {b}, {{b0, b1}};",
            "}}",
            a = inout(reg64) a, b = inout(reg64) b, carry = out(reg32) carry,
            low = in(reg32) low, high = in(reg32) high,
            options(pure, nomem, nostack),
        );
    }
    ([a, b], carry)
}

// Implements `Row` for one size. For each pair come the names of: the pair, the resulting pair, its
// two limbs, the two limbs of the odd chain, two limbs of `w`, and (from the third pair on) the
// limbs of `w` and of the odd chain one place below these.
macro_rules! row {
    (
        $size:literal [$($i:literal)*]:
        ($u0:ident $r0:ident $e0:ident $e1:ident $o0:ident $o1:ident $w0:ident $w1:ident)
        ($u1:ident $r1:ident $e2:ident $e3:ident $o2:ident $o3:ident $w2:ident $w3:ident)
        $(($u:ident $r:ident $e:ident $f:ident $o:ident $p:ident $w:ident $x:ident
            $y:ident $z:ident))*
        $highest:ident $last:ident
    ) => {
        impl Row for [Limb; $size] {
            const LIMBS: u32 = $size;
            type Pairs = [Pair; $size / 2];

            #[inline(always)]
            fn of(mut limb: impl FnMut(u32) -> Limb) -> Self {
                [$(limb($i)),*]
            }

            #[inline(always)]
            fn each(self, mut take: impl FnMut(u32, Limb)) {
                $(take($i, self[$i]);)*
            }

            #[inline(always)]
            fn pairs(self) -> Self::Pairs {
                let [$w0, $w1, $w2, $w3, $($w, $x),*] = self;
                [pair([$w0, $w1]), pair([$w2, $w3]), $(pair([$w, $x])),*]
            }

            #[inline(always)]
            fn of_pairs([$u0, $u1, $($u),*]: Self::Pairs) -> Self {
                let [[$w0, $w1], [$w2, $w3]] = [halves($u0), halves($u1)];
                $(let [$w, $x] = halves($u);)*
                [$w0, $w1, $w2, $w3, $($w, $x),*]
            }

            #[inline(always)]
            fn slide([$u0, $u1, $($u),*]: Self::Pairs, lowest: Pair) -> Self::Pairs {
                let [$r1, $($r,)* _] = [$u0, $u1, $($u),*];
                [lowest, $r1, $($r),*]
            }

            #[inline(always)]
            fn highest(pairs: Self::Pairs) -> [Limb; 3] {
                let [low, high] = halves(pairs[$size / 2 - 1]);
                [halves(pairs[$size / 2 - 2])[1], low, high]
            }

            #[inline(always)]
            fn add_below(pairs: Self::Pairs, limbs: [Limb; 2]) -> (Self::Pairs, Limb) {
                let [$u0, $u1, $($u),*] = pairs;
                let ([$u0, $u1], carry) = add_to_two([$u0, $u1], limbs);
                ([$u0, $u1, $($u),*], carry)
            }

            #[inline(always)]
            fn add_rows(pairs: Self::Pairs, q: [Limb; 2], w: Self) -> (Self::Pairs, [Limb; 2]) {
                let [$u0, $u1, $($u),*] = pairs;
                let [$w0, $w1, $w2, $w3, $($w, $x),*] = w;
                let ($r0, $r1, $($r,)* top, above);
                // SAFETY: register arithmetic only. The first line of each chain does not read the
                // carry flag, and the last does not set it. The carry out of the odd chain is added
                // to the limb above the even one, which holds it as the sum of both is no wider.
                unsafe {
                    asm!(
                        "{{",
                        ".reg .b64 product; .reg .b32 top, above;",
                        unpack!($e0 $e1 $o0 $o1 $u0), unpack!($e2 $e3 $o2 $o3 $u1),
                        $(unpack!($e $f $o $p $u),)*
                        line!("mad.lo.cc", $e0, "q0", $w0), line!("madc.hi.cc", $e1, "q0", $w0),
                        line!("madc.lo.cc", $e2, "q0", $w2), line!("madc.hi.cc", $e3, "q0", $w2),
                        $(line!("madc.lo.cc", $e, "q0", $w), line!("madc.hi.cc", $f, "q0", $w),)*
                        "addc.u32 top, 0, 0;",
                        product!($o0 $o1 $w1), product!($o2 $o3 $w3),
                        $(product!($o $p $x),)*
                        line!("mad.lo.cc", $e2, "q1", $w1), line!("madc.hi.cc", $e3, "q1", $w1),
                        $(line!("madc.lo.cc", $e, "q1", $y), line!("madc.hi.cc", $f, "q1", $y),)*
                        line!("madc.lo.cc", top, "q1", $highest),
                        concat!("madc.hi.u32 above, {q1}, {", stringify!($highest), "}, 0;"),
                        line!("mad.lo.cc", $o0, "q1", $w0), line!("madc.hi.cc", $o1, "q1", $w0),
                        line!("madc.lo.cc", $o2, "q1", $w2), line!("madc.hi.cc", $o3, "q1", $w2),
                        $(line!("madc.lo.cc", $o, "q1", $w), line!("madc.hi.cc", $p, "q1", $w),)*
                        "addc.u32 above, above, 0;",
                        // Each limb of the even chain is added to the limb of the odd chain one
                        // place lower.
                        sum!("add.cc", $e1, $o0),
                        sum!("addc.cc", $e2, $o1), sum!("addc.cc", $e3, $o2),
                        $(sum!("addc.cc", $e, $z), sum!("addc.cc", $f, $o),)*
                        sum!("addc.cc", top, $last),
                        "addc.u32 above, above, 0;",
                        pack!($r0 $e0 $e1), pack!($r1 $e2 $e3), $(pack!($r $e $f),)*
                        "mov.u32 {top}, top; mov.u32 {above}, above;",
                        "}}",
                        $u0 = in(reg64) $u0, $u1 = in(reg64) $u1, $($u = in(reg64) $u,)*
                        $r0 = out(reg64) $r0, $r1 = out(reg64) $r1, $($r = out(reg64) $r,)*
                        $w0 = in(reg32) $w0, $w1 = in(reg32) $w1,
                        $w2 = in(reg32) $w2, $w3 = in(reg32) $w3,
                        $($w = in(reg32) $w, $x = in(reg32) $x,)*
                        q0 = in(reg32) q[0], q1 = in(reg32) q[1],
                        top = out(reg32) top, above = out(reg32) above,
                        options(pure, nomem, nostack),
                    );
                }
                ([$r0, $r1, $($r),*], [top, above])
            }
        }
    };
}

row! {
    4 [0 1 2 3]:
    (u0 r0 e0 e1 o0 o1 w0 w1) (u1 r1 e2 e3 o2 o3 w2 w3)
    w3 o3
}
row! {
    8 [0 1 2 3 4 5 6 7]:
    (u0 r0 e0 e1 o0 o1 w0 w1) (u1 r1 e2 e3 o2 o3 w2 w3)
    (u2 r2 e4 e5 o4 o5 w4 w5 w3 o3) (u3 r3 e6 e7 o6 o7 w6 w7 w5 o5)
    w7 o7
}
row! {
    16 [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]:
    (u0 r0 e0 e1 o0 o1 w0 w1) (u1 r1 e2 e3 o2 o3 w2 w3)
    (u2 r2 e4 e5 o4 o5 w4 w5 w3 o3) (u3 r3 e6 e7 o6 o7 w6 w7 w5 o5)
    (u4 r4 e8 e9 o8 o9 w8 w9 w7 o7) (u5 r5 e10 e11 o10 o11 w10 w11 w9 o9)
    (u6 r6 e12 e13 o12 o13 w12 w13 w11 o11) (u7 r7 e14 e15 o14 o15 w14 w15 w13 o13)
    w15 o15
}
row! {
    32 [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31]:
    (u0 r0 e0 e1 o0 o1 w0 w1) (u1 r1 e2 e3 o2 o3 w2 w3)
    (u2 r2 e4 e5 o4 o5 w4 w5 w3 o3) (u3 r3 e6 e7 o6 o7 w6 w7 w5 o5)
    (u4 r4 e8 e9 o8 o9 w8 w9 w7 o7) (u5 r5 e10 e11 o10 o11 w10 w11 w9 o9)
    (u6 r6 e12 e13 o12 o13 w12 w13 w11 o11) (u7 r7 e14 e15 o14 o15 w14 w15 w13 o13)
    (u8 r8 e16 e17 o16 o17 w16 w17 w15 o15) (u9 r9 e18 e19 o18 o19 w18 w19 w17 o17)
    (u10 r10 e20 e21 o20 o21 w20 w21 w19 o19) (u11 r11 e22 e23 o22 o23 w22 w23 w21 o21)
    (u12 r12 e24 e25 o24 o25 w24 w25 w23 o23) (u13 r13 e26 e27 o26 o27 w26 w27 w25 o25)
    (u14 r14 e28 e29 o28 o29 w28 w29 w27 o27) (u15 r15 e30 e31 o30 o31 w30 w31 w29 o29)
    w31 o31
}
