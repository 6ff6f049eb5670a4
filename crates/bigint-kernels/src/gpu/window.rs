//! A window in registers that slides along a row of a product, one limb at a time.
//!
//! A row is `a` times a digit `d` of `X` limbs. When limbs `0 .. i` of `a` have been multiplied,
//! the window holds the part of their product at weights `i` and above. A step
//!
//! ```text
//! window + a[i] d  =  lowest + window' B
//! ```
//!
//! gives limb `i` of the row. A product of two limbs is two limbs wide, and hardware adds it to
//! two limbs in one aligned pair of registers. `a[i] d[0]`, `a[i] d[2]`, ... lie side by side,
//! and so do `a[i] d[1]`, `a[i] d[3]`, ..., one weight higher. So the window is kept as the sum
//! of two numbers:
//!
//! ```text
//! even:       e0 e1 | e2 e3 | ...           weights i .. i+X
//! odd:   low | o0 o1 | o2 o3 | ...          weights i, i+1 .. i+X+1
//! ```
//!
//! Sliding by one weight turns `even` into `odd`, with `e1` as its `low`, and `odd` into `even`.
//! No limb moves from one register to another.
//!
//! Bounds: when the window slides, the highest pair of `odd` is set to `x + c`, where `x` is a
//! limb from above and `c` a carry. It is at most `B`, and `B + (B-1)^2 + 1 < B^2`, so the chain
//! of `odd` has no carry out. The chain of `even` has one, which is the `c` of the next slide. If
//! two products are added before the window slides, `odd` may carry too, once; that carry is
//! added to the upper limb of the new pair.
//!
//! Where nothing comes from above, a window below `B^X` and one product are below `B^(X+1)` together: `odd`, which is what they
//! are above their lowest limb at most, has room for the carry of `even` in its own highest limb. The new pair is then a product
//! alone.
//!
//! Cost of a step: `X` multiply-adds and four additions; two where nothing comes from above.

// `asm!`: Rust has no word for the carry flag.
#![allow(unsafe_code)]

use super::row::product;
use bigint_core::Limb;
use core::arch::asm;

/// The window over a digit of `X` limbs, where `X` is even, and at most 32.
#[derive(Clone, Copy)]
pub struct Window<const X: usize> {
    even: [Limb; X],
    low: Limb,
    odd: [Limb; X],
}

/// The operations of windows of every size.
#[diagnostic::on_unimplemented(
    message = "numbers in registers have 2, 4, 6, ... or 32 limbs",
    label = "take the next even number: shorter numbers have zeros on top"
)]
pub trait Slide: Copy {
    /// The digit: as many limbs as the window has.
    type Digit: Copy;

    /// A window that holds a number.
    fn new(limbs: Self::Digit) -> Self;

    /// A window that holds `a` times `digit`.
    fn of_product(a: Limb, digit: Self::Digit) -> Self;

    /// The lowest limb.
    fn lowest(self) -> Limb;

    /// Adds `a` times `digit`. Returns the lowest limb, which leaves the window, and the carry
    /// for [`slide`](Self::slide).
    #[inline(always)]
    fn multiply(&mut self, a: Limb, digit: Self::Digit) -> (Limb, Limb) {
        self.add_below(a, digit, 0)
    }

    /// Adds `a` times `digit`, as one of several products that are added before the window
    /// slides. Returns the lowest limb, and `carries` with the carries out of `even` and of `odd`
    /// added, which belong to `X` and `X + 1` weights above the window's lowest.
    fn add_product(&mut self, a: Limb, digit: Self::Digit, carries: [Limb; 2])
    -> (Limb, [Limb; 2]);

    /// [`add_product`](Self::add_product) where `odd` has no carry: one product before the window slides, or two with
    /// digits below `B^X / 2`, and below `B^X / 2 + B^X / 4` together.
    fn add_below(&mut self, a: Limb, digit: Self::Digit, carry: Limb) -> (Limb, Limb);

    /// Adds `a` times `digit` where the sum is below `B^(X+1)`, and returns the lowest limb. The window slides with nothing on top.
    fn add_inside(&mut self, a: Limb, digit: Self::Digit) -> Limb;

    /// Slides up by one weight. `top` becomes the highest pair: the carry of
    /// [`multiply`](Self::multiply), to which the function [`top`] adds a limb from above if
    /// there is one.
    fn slide(&mut self, top: [Limb; 2]);

    /// The number in the window modulo `B^X`, and the limb above it.
    fn sum(self) -> (Self::Digit, Limb);

    /// `limbs + limb` modulo `B^X`, and the carry out.
    fn add(limbs: Self::Digit, limb: Limb) -> (Self::Digit, Limb);

    /// `a + b` modulo `B^X`, and the carry out.
    fn add_digits(a: Self::Digit, b: Self::Digit) -> (Self::Digit, Limb);

    /// `a - b - borrow` modulo `B^X`, and the borrow out; `borrow` is 0 or 1.
    fn subtract(a: Self::Digit, b: Self::Digit, borrow: Limb) -> (Self::Digit, Limb);

    /// Bit by bit `a` where `mask` has a 1, `b` where it has a 0.
    fn select(mask: Limb, a: Self::Digit, b: Self::Digit) -> Self::Digit;

    /// Whether all limbs are zero.
    fn are_zero(limbs: Self::Digit) -> bool;

    /// Whether all bits of all limbs are ones.
    fn are_all_ones(limbs: Self::Digit) -> bool;
}

/// A line of a chain, which adds `a` times a limb of the digit to a limb of the window.
macro_rules! line {
    ($instruction:literal, $limb:ident, $digit:ident) => {
        concat!(
            $instruction,
            ".u32 {",
            stringify!($limb),
            "}, {a}, {",
            stringify!($digit),
            "}, {",
            stringify!($limb),
            "};"
        )
    };
}

/// A line of a sum, which adds a limb to a limb.
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

/// `above + carry`, which is at most `B`.
#[inline(always)]
pub fn top(above: Limb, carry: Limb) -> [Limb; 2] {
    let (lower, upper): (Limb, Limb);
    // SAFETY: register arithmetic only; the first line does not read the carry flag, and
    // the last does not set it.
    unsafe {
        asm!(
            "add.cc.u32 {lower}, {above}, {carry};",
            "addc.u32 {upper}, 0, 0;",
            above = in(reg32) above, carry = in(reg32) carry,
            lower = out(reg32) lower, upper = out(reg32) upper,
            options(pure, nomem, nostack),
        );
    }
    [lower, upper]
}

/// Adds `a` times a digit to a window: the line that takes the carry out of the odd chain, if one does, that of the even
/// chain, and the operands of both.
macro_rules! add_row {
    (
        ($window:ident, $a:ident, $digit:ident),
        ($e0:ident $e1:ident $o0:ident $o1:ident $d0:ident $d1:ident)
        $(($e:ident $f:ident $o:ident $p:ident $d:ident $g:ident))*,
        [$($of_odd:tt)*] [$($of_even:tt)*] [$($operands:tt)*]
    ) => {
        let [mut $e0, mut $e1, $(mut $e, mut $f),*] = $window.even;
        let [mut $o0, mut $o1, $(mut $o, mut $p),*] = $window.odd;
        let [$d0, $d1, $($d, $g),*] = $digit;
        // SAFETY: register arithmetic only. The first line of each chain does not read the carry flag, and the carry out
        // of each is added to a limb that no chain has, or there is none.
        unsafe {
            asm!(
                concat!("add.cc.u32 {", stringify!($e0), "}, {", stringify!($e0), "}, {low};"),
                line!("madc.lo.cc", $o0, $d1), line!("madc.hi.cc", $o1, $d1),
                $(line!("madc.lo.cc", $o, $g), line!("madc.hi.cc", $p, $g),)*
                $($of_odd)*
                line!("mad.lo.cc", $e0, $d0), line!("madc.hi.cc", $e1, $d0),
                $(line!("madc.lo.cc", $e, $d), line!("madc.hi.cc", $f, $d),)*
                $($of_even)*,
                $e0 = inout(reg32) $e0, $e1 = inout(reg32) $e1,
                $($e = inout(reg32) $e, $f = inout(reg32) $f,)*
                $o0 = inout(reg32) $o0, $o1 = inout(reg32) $o1,
                $($o = inout(reg32) $o, $p = inout(reg32) $p,)*
                $d0 = in(reg32) $d0, $d1 = in(reg32) $d1,
                $($d = in(reg32) $d, $g = in(reg32) $g,)*
                a = in(reg32) $a, low = in(reg32) $window.low,
                $($operands)*
                options(pure, nomem, nostack),
            );
        }
        $window.low = 0;
        $window.even = [$e0, $e1, $($e, $f),*];
        $window.odd = [$o0, $o1, $($o, $p),*];
    };
}

macro_rules! window {
    (
        $size:literal: ($e0:ident $e1:ident $o0:ident $o1:ident $d0:ident $d1:ident)
        $(($e:ident $f:ident $o:ident $p:ident $d:ident $g:ident))*;
        ($_e:ident $_f:ident $_o:ident $top:ident $_d:ident $_g:ident)
    ) => {
        impl Slide for Window<$size> {
            type Digit = [Limb; $size];

            #[inline(always)]
            fn new(limbs: [Limb; $size]) -> Self {
                Window { even: limbs, low: 0, odd: [0; $size] }
            }

            #[inline(always)]
            fn of_product(a: Limb, [$d0, $d1, $($d, $g),*]: [Limb; $size]) -> Self {
                let [[$e0, $e1], [$o0, $o1]] = [product(a, $d0), product(a, $d1)];
                $(let [[$e, $f], [$o, $p]] = [product(a, $d), product(a, $g)];)*
                Window {
                    even: [$e0, $e1, $($e, $f),*],
                    low: 0,
                    odd: [$o0, $o1, $($o, $p),*],
                }
            }

            #[inline(always)]
            fn lowest(self) -> Limb {
                self.even[0].wrapping_add(self.low)
            }

            #[inline(always)]
            fn add_product(
                &mut self,
                a: Limb,
                digit: [Limb; $size],
                [mut of_even, mut of_odd]: [Limb; 2],
            ) -> (Limb, [Limb; 2]) {
                add_row! {
                    (self, a, digit), ($e0 $e1 $o0 $o1 $d0 $d1) $(($e $f $o $p $d $g))*,
                    ["addc.u32 {of_odd}, {of_odd}, 0;",] ["addc.u32 {of_even}, {of_even}, 0;"]
                    [of_even = inout(reg32) of_even, of_odd = inout(reg32) of_odd,]
                }
                ($e0, [of_even, of_odd])
            }

            #[inline(always)]
            fn add_below(
                &mut self,
                a: Limb,
                digit: [Limb; $size],
                mut carry: Limb,
            ) -> (Limb, Limb) {
                add_row! {
                    (self, a, digit), ($e0 $e1 $o0 $o1 $d0 $d1) $(($e $f $o $p $d $g))*,
                    [] ["addc.u32 {carry}, {carry}, 0;"] [carry = inout(reg32) carry,]
                }
                ($e0, carry)
            }

            #[inline(always)]
            fn add_inside(&mut self, a: Limb, digit: [Limb; $size]) -> Limb {
                add_row! {
                    (self, a, digit), ($e0 $e1 $o0 $o1 $d0 $d1) $(($e $f $o $p $d $g))*,
                    [] [concat!("addc.u32 {", stringify!($top), "}, {", stringify!($top), "}, 0;")] []
                }
                $e0
            }

            #[inline(always)]
            fn slide(&mut self, [lower, upper]: [Limb; 2]) {
                let [_, low, $($e, $f),*] = self.even;
                *self = Window { even: self.odd, low, odd: [$($e, $f,)* lower, upper] };
            }

            #[inline(always)]
            fn sum(self) -> ([Limb; $size], Limb) {
                let [mut $e0, mut $e1, $(mut $e, mut $f),*] = self.even;
                let [$o0, $o1, $($o, $p),*] = self.odd;
                let above: Limb;
                // Each limb of `even` is added to the limb of `odd` that is a place lower.
                let lower = [self.low, $o0, $o1, $($o, $p),*];
                let [$d0, $d1, $($d, $g,)* top] = lower;
                // SAFETY: register arithmetic only; the first line does not read the
                // carry flag, and the last does not set it.
                unsafe {
                    asm!(
                        sum!("add.cc", $e0, $d0), sum!("addc.cc", $e1, $d1),
                        $(sum!("addc.cc", $e, $d), sum!("addc.cc", $f, $g),)*
                        "addc.u32 {above}, {top}, 0;",
                        $e0 = inout(reg32) $e0, $e1 = inout(reg32) $e1,
                        $($e = inout(reg32) $e, $f = inout(reg32) $f,)*
                        $d0 = in(reg32) $d0, $d1 = in(reg32) $d1,
                        $($d = in(reg32) $d, $g = in(reg32) $g,)*
                        top = in(reg32) top, above = out(reg32) above,
                        options(pure, nomem, nostack),
                    );
                }
                ([$e0, $e1, $($e, $f),*], above)
            }

            #[inline(always)]
            fn add(limbs: [Limb; $size], limb: Limb) -> ([Limb; $size], Limb) {
                Window { even: limbs, low: limb, odd: [0; $size] }.sum()
            }

            #[inline(always)]
            fn add_digits(a: [Limb; $size], b: [Limb; $size]) -> ([Limb; $size], Limb) {
                let [$d0, $d1, $($d, $g),*] = b;
                Window { even: a, low: $d0, odd: [$d1, $($d, $g,)* 0] }.sum()
            }

            #[inline(always)]
            fn subtract(
                a: [Limb; $size],
                b: [Limb; $size],
                borrow: Limb,
            ) -> ([Limb; $size], Limb) {
                let [mut $e0, mut $e1, $(mut $e, mut $f),*] = a;
                let [$d0, $d1, $($d, $g),*] = b;
                let mut borrow = borrow;
                // SAFETY: register arithmetic only. The first line borrows where `borrow`
                // is 1, and the last leaves 0 or -1.
                unsafe {
                    asm!(
                        "sub.cc.u32 {borrow}, 0, {borrow};",
                        sum!("subc.cc", $e0, $d0), sum!("subc.cc", $e1, $d1),
                        $(sum!("subc.cc", $e, $d), sum!("subc.cc", $f, $g),)*
                        "subc.u32 {borrow}, 0, 0;",
                        $e0 = inout(reg32) $e0, $e1 = inout(reg32) $e1,
                        $($e = inout(reg32) $e, $f = inout(reg32) $f,)*
                        $d0 = in(reg32) $d0, $d1 = in(reg32) $d1,
                        $($d = in(reg32) $d, $g = in(reg32) $g,)*
                        borrow = inout(reg32) borrow,
                        options(pure, nomem, nostack),
                    );
                }
                ([$e0, $e1, $($e, $f),*], borrow.wrapping_neg())
            }

            #[inline(always)]
            fn select(mask: Limb, a: [Limb; $size], b: [Limb; $size]) -> [Limb; $size] {
                let [$e0, $e1, $($e, $f),*] = a;
                let [$d0, $d1, $($d, $g),*] = b;
                let bits = |a: Limb, b: Limb| a & mask | b & !mask;
                [bits($e0, $d0), bits($e1, $d1), $(bits($e, $d), bits($f, $g)),*]
            }

            #[inline(always)]
            fn are_zero(limbs: [Limb; $size]) -> bool {
                let [$e0, $e1, $($e, $f),*] = limbs;
                ($e0 | $e1 $(| $e | $f)*) == 0
            }

            #[inline(always)]
            fn are_all_ones(limbs: [Limb; $size]) -> bool {
                let [$e0, $e1, $($e, $f),*] = limbs;
                ($e0 & $e1 $(& $e & $f)*) == Limb::MAX
            }
        }
    };
}

/// Implements [`Slide`] for one, two, ... of the groups, each of which has the names of two limbs of `even`,
/// of `odd` and of the digit: `windows! {[] 2 (e0 ..) 4 (e2 ..)}` is `window! {2: (e0 ..); (e0 ..)}` and
/// `window! {4: (e0 ..) (e2 ..); (e2 ..)}`: the last one once more.
macro_rules! windows {
    ([$($all:tt)*]) => {};
    ([$($below:tt)*] $size:literal $limbs:tt $($rest:tt)*) => {
        window! { $size: $($below)* $limbs; $limbs }
        windows! { [$($below)* $limbs] $($rest)* }
    };
}

windows! { []
    2 (e0 e1 o0 o1 d0 d1)
    4 (e2 e3 o2 o3 d2 d3)
    6 (e4 e5 o4 o5 d4 d5)
    8 (e6 e7 o6 o7 d6 d7)
    10 (e8 e9 o8 o9 d8 d9)
    12 (e10 e11 o10 o11 d10 d11)
    14 (e12 e13 o12 o13 d12 d13)
    16 (e14 e15 o14 o15 d14 d15)
    18 (e16 e17 o16 o17 d16 d17)
    20 (e18 e19 o18 o19 d18 d19)
    22 (e20 e21 o20 o21 d20 d21)
    24 (e22 e23 o22 o23 d22 d23)
    26 (e24 e25 o24 o25 d24 d25)
    28 (e26 e27 o26 o27 d26 d27)
    30 (e28 e29 o28 o29 d28 d29)
    32 (e30 e31 o30 o31 d30 d31)
}
