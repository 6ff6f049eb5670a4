//! Squares in registers by rows. Each product of two limbs is computed once.
//!
//! With `B` = 2^32, `a a` is the sum of all `a[i]^2 B^2i` and twice the triangle. Row `i` of
//! the triangle is `a[i]` times the limbs above it, and begins at weight `2i + 1`. As in a
//! [`Window`](crate::gpu::window), products with every other limb lie side by side, so that one
//! chain of carries adds them:
//!
//! ```text
//! weight      2i+1  2i+2  2i+3  2i+4  2i+5
//! odd       | o0         | o1         | ..      a[i] a[i+1], a[i] a[i+3], ...
//! even            | e0         | e1         |   a[i] a[i+2], a[i] a[i+4], ...
//! ```
//!
//! A row reaches one weight higher than the row before. So the highest pair of one of its
//! chains is new, and holds only the carry of the other chain of the row before. This chain has
//! no carry out. The other chain has one, which goes into the new pair of the next row. Weights
//! `2i + 1` and `2i + 2` are complete after row `i`. They are doubled, and `a[i]^2` is added to
//! the pair of weights `2i` and `2i + 1`. By hand, with `B` = 10 and `a` = 123: row 0 is 3
//! times 12 from weight 1 on, row 1 is 2 times 1 from weight 3 on; twice 360 + 2000, and
//! 010409, is 15129.
//!
//! Bounds: a new pair holds at most 1, and `(B-1)^2 + 2 < B^2`. The triangle of `X` limbs is
//! below `B^(2X-1)`, so nothing reaches weight `2X - 1`.
//!
//! Cost: `X (X + 1) / 2` multiply-adds, ten additions and shifts for each row.

// `asm!`: Rust has no word for the carry flag.
#![allow(unsafe_code)]

use bigint_core::Limb;
use core::arch::asm;

/// Calls `take` with `i` and limbs `2i` and `2i + 1` of the square of `a`, for each `i` from
/// `first` on. The limbs of `a` below `first` are zero. `X` is even, and at most 32.
#[inline(always)]
pub fn square_from<const X: usize>(
    a: [Limb; X],
    first: usize,
    mut take: impl FnMut(usize, [Limb; 2]),
) {
    let mut triangle = Triangle {
        a,
        odd: [[0; 2]; X],
        even: [[0; 2]; X],
        carry: 0,
        below: [0; 2],
        carry_of_square: 0,
    };
    // The rows are written out, as in a loop the limbs would have to be in memory.
    macro_rules! rows {
        ($($i:literal)*) => {$(
            if $i < X && $i >= first {
                take($i, triangle.row($i));
            }
        )*};
    }
    rows! {
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
        16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    }
}

/// The lower and the upper half of the square of `a`.
#[inline(always)]
pub fn square<const X: usize>(a: [Limb; X]) -> [[Limb; X]; 2] {
    let mut halves = [[0; X]; 2];
    square_from(a, 0, |i, [lower, upper]| {
        halves[2 * i / X][2 * i % X] = lower;
        halves[2 * i / X][2 * i % X + 1] = upper;
    });
    halves
}

/// The sum of the rows so far.
struct Triangle<const X: usize> {
    a: [Limb; X],
    /// The pairs of weights `2k + 1` and `2k + 2`.
    odd: [[Limb; 2]; X],
    /// The pairs of weights `2k + 2` and `2k + 3`.
    even: [[Limb; 2]; X],
    /// The carry of the triangle into the next row's lowest weight.
    carry: Limb,
    /// The two limbs of the triangle that were completed last.
    below: [Limb; 2],
    /// The carry of the square into its next pair.
    carry_of_square: Limb,
}

impl<const X: usize> Triangle<X> {
    /// Adds row `i`, and returns limbs `2i` and `2i + 1` of the square.
    #[inline(always)]
    fn row(&mut self, i: usize) -> [Limb; 2] {
        let x = self.a[i];
        let above = X - 1 - i;
        let (mut low, mut high) = (0, 0);
        if above > 0 {
            let of_odd = chain(
                above.div_ceil(2),
                x,
                &mut self.odd[i..],
                &self.a[i + 1..],
                (&mut self.carry, Limb::MAX),
            );
            let left = match i {
                0 => 0,
                _ => self.even[i - 1][1],
            };
            let of_even = chain(
                above / 2,
                x,
                &mut self.even[i..],
                self.a.get(i + 2..).unwrap_or_default(),
                (&mut self.odd[i][0], left),
            );
            // The new pair of the next row.
            match above % 2 {
                0 => self.odd[(X + i - 1) / 2][0] = of_odd,
                _ => self.even[(X + i - 2) / 2][0] = of_even,
            }
            low = self.odd[i][0];
            (high, self.carry) = add(self.odd[i][1], self.even[i][0]);
        }
        let [of_low, of_high] = self.below;
        let twice = [of_high << 1 | of_low >> 31, low << 1 | of_high >> 31];
        self.below = [low, high];
        let square;
        (square, self.carry_of_square) = add_square(twice, x, self.carry_of_square);
        square
    }
}

/// `x + y`, and the carry out.
#[inline(always)]
fn add(x: Limb, y: Limb) -> (Limb, Limb) {
    let (sum, carry) = x.overflowing_add(y);
    (sum, Limb::from(carry))
}

/// `pair + x^2 + carry`, and the carry out; `carry` is 0 or 1.
#[inline(always)]
fn add_square([mut lower, mut upper]: [Limb; 2], x: Limb, mut carry: Limb) -> ([Limb; 2], Limb) {
    // SAFETY: register arithmetic only. The first line sets the carry flag where `carry` is
    // 1; the last reads it.
    unsafe {
        asm!(
            "add.cc.u32 {carry}, {carry}, 0xffffffff;",
            "madc.lo.cc.u32 {lower}, {x}, {x}, {lower};",
            "madc.hi.cc.u32 {upper}, {x}, {x}, {upper};",
            "addc.u32 {carry}, 0, 0;",
            carry = inout(reg32) carry, x = in(reg32) x,
            lower = inout(reg32) lower, upper = inout(reg32) upper,
            options(pure, nomem, nostack),
        );
    }
    ([lower, upper], carry)
}

/// Adds `x` times every other one of `factors` to `count` of the `pairs`, and returns the carry
/// out. The carry into the lowest pair is that of an addition made first, of `addend` to
/// `lead`.
#[inline(always)]
fn chain(
    count: usize,
    x: Limb,
    pairs: &mut [[Limb; 2]],
    factors: &[Limb],
    (lead, addend): (&mut Limb, Limb),
) -> Limb {
    let carry: Limb;
    /// Selects the chain for a count at compile time.
    macro_rules! chains {
        ([$(($i:literal $l:ident $h:ident $f:ident))*]) => {
            multiply_adds!($($i $l $h $f)*)
        };
        ([$($done:tt)*] ($i:literal $l:ident $h:ident $f:ident) $($rest:tt)*) => {
            if count == $i {
                chains!([$($done)*])
            } else {
                chains!([$($done)* ($i $l $h $f)] $($rest)*)
            }
        };
    }
    macro_rules! multiply_adds {
        () => {
            // SAFETY: register arithmetic only; the first line sets the carry flag.
            unsafe {
                asm!(
                    "add.cc.u32 {lead}, {lead}, {addend};",
                    "addc.u32 {carry}, 0, 0;",
                    lead = inout(reg32) *lead, addend = in(reg32) addend,
                    carry = out(reg32) carry,
                    options(pure, nomem, nostack),
                )
            }
        };
        ($($i:literal $l:ident $h:ident $f:ident)*) => {{
            $(let ([mut $l, mut $h], $f) = (pairs[$i], factors[2 * $i]);)*
            // SAFETY: as above.
            unsafe {
                asm!(
                    "add.cc.u32 {lead}, {lead}, {addend};",
                    $(
                        concat!(
                            "madc.lo.cc.u32 {", stringify!($l), "}, {x}, {", stringify!($f),
                            "}, {", stringify!($l), "};"
                        ),
                        concat!(
                            "madc.hi.cc.u32 {", stringify!($h), "}, {x}, {", stringify!($f),
                            "}, {", stringify!($h), "};"
                        ),
                    )*
                    "addc.u32 {carry}, 0, 0;",
                    lead = inout(reg32) *lead, addend = in(reg32) addend,
                    x = in(reg32) x, carry = out(reg32) carry,
                    $($l = inout(reg32) $l, $h = inout(reg32) $h, $f = in(reg32) $f,)*
                    options(pure, nomem, nostack),
                );
            }
            $(pairs[$i] = [$l, $h];)*
        }};
    }
    chains!([]
        (0 l0 h0 f0) (1 l1 h1 f1) (2 l2 h2 f2) (3 l3 h3 f3)
        (4 l4 h4 f4) (5 l5 h5 f5) (6 l6 h6 f6) (7 l7 h7 f7)
        (8 l8 h8 f8) (9 l9 h9 f9) (10 l10 h10 f10) (11 l11 h11 f11)
        (12 l12 h12 f12) (13 l13 h13 f13) (14 l14 h14 f14) (15 l15 h15 f15)
    );
    carry
}
