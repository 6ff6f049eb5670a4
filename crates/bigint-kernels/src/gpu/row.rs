//! Two rows at a time: `u + (q1 B + q0) w` for two limbs and two numbers of so many limbs in
//! registers, and the two limbs above.
//!
//! A product of two limbs is two limbs wide, and hardware adds it to two limbs that stand
//! in one pair of registers. `q0 w[0]`, `q1 w[1]`, `q0 w[2]`, ... begin at even weights and are
//! added to the pairs of `u`; `q0 w[1]`, `q1 w[0]`, ... lie side by side one weight higher, and
//! one chain of carries adds both:
//!
//! ```text
//! u + q0 w[even] + q1 B w[odd]:   e0 e1 | e2 e3 | top
//! q0 w[odd] + q1 B w[even]:       -   o0 o1 | o2 o3
//! ```
//!
//! With one limb `q` the sum would begin at the other weight in the next row, and every limb be moved
//! twice between registers; with two, pairs stay pairs.
//!
//! Bound: `(B^N - 1) + (B^2 - 1)(B^N - 1) = B^(N+2) - B^2`: two limbs above hold what is left over.
//!
//! Cost: `2 N` multiply-adds and `N + 4` additions.

// `asm!`: Rust has no word for the carry flag.
#![allow(unsafe_code)]

use bigint_core::Limb;
use core::arch::asm;

/// Numbers of so many limbs in registers.
pub trait Row: Copy {
    /// How many.
    const LIMBS: u32;

    /// The number whose limb `i` is `limb(i)`, asked for from the lowest up. (In a loop, and so in
    /// `array::from_fn`, limbs of long numbers would be put in memory.)
    fn of(limb: impl FnMut(u32) -> Limb) -> Self;

    /// `take` of each limb and its place, from the lowest up.
    fn each(self, take: impl FnMut(u32, Limb));

    /// `self + q w`, and the two limbs above.
    fn multiply_add(self, q: [Limb; 2], w: Self) -> (Self, [Limb; 2]);
}

/// A line of a chain: `q` times a limb of `w`, added to a limb of `u`.
macro_rules! line {
    ($instruction:literal, $limb:ident, $factor:ident) => {
        concat!(
            $instruction,
            ".u32 {",
            stringify!($limb),
            "}, {q}, {",
            stringify!($factor),
            "}, {",
            stringify!($limb),
            "};"
        )
    };
}

/// A line of the sum of both chains.
macro_rules! sum {
    ($instruction:literal, $limb:ident, $other:ident) => {
        concat!(
            $instruction,
            ".u32 {",
            stringify!($limb),
            "}, {",
            stringify!($limb),
            "}, {",
            stringify!($other),
            "};"
        )
    };
}

/// Both halves of a product. (Of one that is written as words of 64 bits, the driver's compiler
/// adds the products of upper halves, which are zero.)
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

// Of each pair: its limbs of `u`, of the odd chain, of `w`, and the odd limb of `w` below.
macro_rules! row {
    (
        $size:literal [$($i:literal)*]: ($e0:ident $e1:ident $o0:ident $o1:ident $w0:ident $w1:ident)
        ($e2:ident $e3:ident $o2:ident $o3:ident $w2:ident $w3:ident $y2:ident)
        $(($e:ident $f:ident $o:ident $p:ident $w:ident $x:ident $y:ident))*
    ) => {
        impl Row for [Limb; $size] {
            const LIMBS: u32 = $size;

            #[inline(always)]
            fn of(mut limb: impl FnMut(u32) -> Limb) -> Self {
                [$(limb($i)),*]
            }

            #[inline(always)]
            fn each(self, mut take: impl FnMut(u32, Limb)) {
                $(take($i, self[$i]);)*
            }

            #[inline(always)]
            fn multiply_add(self, q: [Limb; 2], w: Self) -> (Self, [Limb; 2]) {
                let [mut $e0, mut $e1, mut $e2, mut $e3, $(mut $e, mut $f),*] = self;
                let [$w0, $w1, $w2, $w3, $($w, $x),*] = w;
                let [$y2, $($y,)* highest] = [$w1, $w3, $($x),*];
                let mut top: Limb;
                // SAFETY: register arithmetic only. The first line does not read the carry flag,
                // and the last does not set it.
                unsafe {
                    asm!(
                        line!("mad.lo.cc", $e0, $w0), line!("madc.hi.cc", $e1, $w0),
                        line!("madc.lo.cc", $e2, $w2), line!("madc.hi.cc", $e3, $w2),
                        $(line!("madc.lo.cc", $e, $w), line!("madc.hi.cc", $f, $w),)*
                        "addc.u32 {top}, 0, 0;",
                        $e0 = inout(reg32) $e0, $e1 = inout(reg32) $e1,
                        $e2 = inout(reg32) $e2, $e3 = inout(reg32) $e3,
                        $($e = inout(reg32) $e, $f = inout(reg32) $f,)*
                        $w0 = in(reg32) $w0, $w2 = in(reg32) $w2, $($w = in(reg32) $w,)*
                        q = in(reg32) q[0], top = out(reg32) top,
                        options(pure, nomem, nostack),
                    );
                }
                let [mut $o0, mut $o1] = product(q[0], $w1);
                let [mut $o2, mut $o3] = product(q[0], $w3);
                $(let [mut $o, mut $p] = product(q[0], $x);)*
                let mut above: Limb = 0;
                // SAFETY: as above; the carry out of the odd chain is added to the limb above the
                // even one, which holds it as the sum of both is no wider.
                unsafe {
                    asm!(
                        line!("mad.lo.cc", $e2, $y2), line!("madc.hi.cc", $e3, $y2),
                        $(line!("madc.lo.cc", $e, $y), line!("madc.hi.cc", $f, $y),)*
                        line!("madc.lo.cc", top, highest), line!("madc.hi", above, highest),
                        line!("mad.lo.cc", $o0, $w0), line!("madc.hi.cc", $o1, $w0),
                        line!("madc.lo.cc", $o2, $w2), line!("madc.hi.cc", $o3, $w2),
                        $(line!("madc.lo.cc", $o, $w), line!("madc.hi.cc", $p, $w),)*
                        "addc.u32 {above}, {above}, 0;",
                        $o0 = inout(reg32) $o0, $o1 = inout(reg32) $o1,
                        $o2 = inout(reg32) $o2, $o3 = inout(reg32) $o3,
                        $($o = inout(reg32) $o, $p = inout(reg32) $p,)*
                        $e2 = inout(reg32) $e2, $e3 = inout(reg32) $e3,
                        $($e = inout(reg32) $e, $f = inout(reg32) $f,)*
                        $w0 = in(reg32) $w0, $w2 = in(reg32) $w2, $($w = in(reg32) $w,)*
                        $y2 = in(reg32) $y2, $($y = in(reg32) $y,)* highest = in(reg32) highest,
                        q = in(reg32) q[1], top = inout(reg32) top, above = inout(reg32) above,
                        options(pure, nomem, nostack),
                    );
                }
                // Each limb of the even chain meets the odd one a place lower.
                let lower = [$o0, $o1, $o2, $o3, $($o, $p),*];
                let [$o1, $o2, $o3, $($o, $p,)* $w0] = lower;
                // SAFETY: as above.
                unsafe {
                    asm!(
                        sum!("add.cc", $e1, $o1), sum!("addc.cc", $e2, $o2), sum!("addc.cc", $e3, $o3),
                        $(sum!("addc.cc", $e, $o), sum!("addc.cc", $f, $p),)*
                        sum!("addc.cc", top, $w0),
                        "addc.u32 {above}, {above}, 0;",
                        $e1 = inout(reg32) $e1, $e2 = inout(reg32) $e2, $e3 = inout(reg32) $e3,
                        $($e = inout(reg32) $e, $f = inout(reg32) $f,)*
                        $o1 = in(reg32) $o1, $o2 = in(reg32) $o2, $o3 = in(reg32) $o3,
                        $($o = in(reg32) $o, $p = in(reg32) $p,)* $w0 = in(reg32) $w0,
                        top = inout(reg32) top, above = inout(reg32) above,
                        options(pure, nomem, nostack),
                    );
                }
                ([$e0, $e1, $e2, $e3, $($e, $f),*], [top, above])
            }
        }
    };
}

row! {
    4 [0 1 2 3]: (e0 e1 o0 o1 w0 w1)
    (e2 e3 o2 o3 w2 w3 y2)
}
row! {
    8 [0 1 2 3 4 5 6 7]: (e0 e1 o0 o1 w0 w1)
    (e2 e3 o2 o3 w2 w3 y2) (e4 e5 o4 o5 w4 w5 y4)
    (e6 e7 o6 o7 w6 w7 y6)
}
row! {
    16 [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]: (e0 e1 o0 o1 w0 w1)
    (e2 e3 o2 o3 w2 w3 y2) (e4 e5 o4 o5 w4 w5 y4)
    (e6 e7 o6 o7 w6 w7 y6) (e8 e9 o8 o9 w8 w9 y8)
    (e10 e11 o10 o11 w10 w11 y10) (e12 e13 o12 o13 w12 w13 y12)
    (e14 e15 o14 o15 w14 w15 y14)
}
row! {
    32 [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31]: (e0 e1 o0 o1 w0 w1)
    (e2 e3 o2 o3 w2 w3 y2) (e4 e5 o4 o5 w4 w5 y4)
    (e6 e7 o6 o7 w6 w7 y6) (e8 e9 o8 o9 w8 w9 y8)
    (e10 e11 o10 o11 w10 w11 y10) (e12 e13 o12 o13 w12 w13 y12)
    (e14 e15 o14 o15 w14 w15 y14) (e16 e17 o16 o17 w16 w17 y16)
    (e18 e19 o18 o19 w18 w19 y18) (e20 e21 o20 o21 w20 w21 y20)
    (e22 e23 o22 o23 w22 w23 y22) (e24 e25 o24 o25 w24 w25 y24)
    (e26 e27 o26 o27 w26 w27 y26) (e28 e29 o28 o29 w28 w29 y28)
    (e30 e31 o30 o31 w30 w31 y30)
}
