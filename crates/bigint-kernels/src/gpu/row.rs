//! A row: `u + q w` for a limb `q` and two numbers of so many limbs in registers, and the
//! limb above.
//!
//! A product of two limbs is two limbs wide, and hardware adds it to two limbs that stand
//! in one pair of registers. `q w[0]`, `q w[2]`, ... are added to the pairs of `u`;
//! `q w[1]`, `q w[3]`, ... lie side by side one weight higher, and one chain of carries
//! adds both:
//!
//! ```text
//! u + q w[even]:   e0 e1 | e2 e3 | top
//! q w[odd]:    low | o0 o1 | o2 o3
//! ```
//!
//! Bound: `(B^N - 1) + (B - 1)(B^N - 1) + (B - 1) = B^(N+1) - 1`: the limb above holds
//! what is left over.
//!
//! Cost: `N` multiply-adds and `N + 2` additions.

// `asm!`: Rust has no word for the carry flag.
#![allow(unsafe_code)]

use bigint_core::Limb;
use core::arch::asm;

/// Numbers of so many limbs in registers.
pub trait Row: Copy {
    /// `self + q w + low`, and the limb above.
    fn multiply_add(self, q: Limb, w: Self, low: Limb) -> (Self, Limb);
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

/// Half of a product that nothing is added to.
macro_rules! product {
    ($instruction:literal, $limb:ident, $factor:ident) => {
        concat!(
            $instruction,
            ".u32 {",
            stringify!($limb),
            "}, {q}, {",
            stringify!($factor),
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

macro_rules! row {
    (
        $size:literal: ($e0:ident $e1:ident $o0:ident $o1:ident $w0:ident $w1:ident)
        $(($e:ident $f:ident $o:ident $p:ident $w:ident $x:ident))*
    ) => {
        impl Row for [Limb; $size] {
            #[inline(always)]
            fn multiply_add(self, q: Limb, w: Self, low: Limb) -> (Self, Limb) {
                let [mut $e0, mut $e1, $(mut $e, mut $f),*] = self;
                let [$w0, $w1, $($w, $x),*] = w;
                let (mut $o0, mut $o1): (Limb, Limb);
                $(let (mut $o, mut $p): (Limb, Limb);)*
                // SAFETY: register arithmetic only. The odd products set no flag.
                unsafe {
                    asm!(
                        product!("mul.lo", $o0, $w1), product!("mul.hi", $o1, $w1),
                        $(product!("mul.lo", $o, $x), product!("mul.hi", $p, $x),)*
                        $o0 = out(reg32) $o0, $o1 = out(reg32) $o1,
                        $($o = out(reg32) $o, $p = out(reg32) $p,)*
                        $w1 = in(reg32) $w1, $($x = in(reg32) $x,)*
                        q = in(reg32) q,
                        options(pure, nomem, nostack, preserves_flags),
                    );
                }
                // Each limb of the even chain meets the odd one a place lower.
                let lower = [low, $o0, $o1, $($o, $p),*];
                let [$o0, $o1, $($o, $p,)* mut above] = lower;
                // SAFETY: register arithmetic only. The first line of each chain does not
                // read the carry flag, and the last line of all does not set it.
                unsafe {
                    asm!(
                        line!("mad.lo.cc", $e0, $w0), line!("madc.hi.cc", $e1, $w0),
                        $(line!("madc.lo.cc", $e, $w), line!("madc.hi.cc", $f, $w),)*
                        "addc.u32 {above}, {above}, 0;",
                        sum!("add.cc", $e0, $o0), sum!("addc.cc", $e1, $o1),
                        $(sum!("addc.cc", $e, $o), sum!("addc.cc", $f, $p),)*
                        "addc.u32 {above}, {above}, 0;",
                        $e0 = inout(reg32) $e0, $e1 = inout(reg32) $e1,
                        $($e = inout(reg32) $e, $f = inout(reg32) $f,)*
                        $o0 = in(reg32) $o0, $o1 = in(reg32) $o1,
                        $($o = in(reg32) $o, $p = in(reg32) $p,)*
                        $w0 = in(reg32) $w0, $($w = in(reg32) $w,)*
                        q = in(reg32) q, above = inout(reg32) above,
                        options(pure, nomem, nostack),
                    );
                }
                ([$e0, $e1, $($e, $f),*], above)
            }
        }
    };
}

row! {
    2: (e0 e1 o0 o1 w0 w1)
}
row! {
    4: (e0 e1 o0 o1 w0 w1)
    (e2 e3 o2 o3 w2 w3)
}
row! {
    8: (e0 e1 o0 o1 w0 w1)
    (e2 e3 o2 o3 w2 w3) (e4 e5 o4 o5 w4 w5) (e6 e7 o6 o7 w6 w7)
}
row! {
    16: (e0 e1 o0 o1 w0 w1)
    (e2 e3 o2 o3 w2 w3) (e4 e5 o4 o5 w4 w5) (e6 e7 o6 o7 w6 w7)
    (e8 e9 o8 o9 w8 w9) (e10 e11 o10 o11 w10 w11) (e12 e13 o12 o13 w12 w13)
    (e14 e15 o14 o15 w14 w15)
}

/// Longer rows are several of sixteen limbs, one after another.
macro_rules! in_sixteens {
    ($($size:literal)*) => {$(
        impl Row for [Limb; $size] {
            #[inline(always)]
            fn multiply_add(mut self, q: Limb, w: Self, mut low: Limb) -> (Self, Limb) {
                let parts = self.as_chunks_mut::<16>().0.iter_mut();
                for (u, w) in parts.zip(w.as_chunks::<16>().0) {
                    (*u, low) = u.multiply_add(q, *w, low);
                }
                (self, low)
            }
        }
    )*};
}
in_sixteens! { 32 }
