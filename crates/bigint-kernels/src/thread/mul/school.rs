//! Multiplication by rows (School; Langer, Carlessi-Kashani).
//!
//! `a b` is the sum over `j` of the rows `a b[j..j+8] B^j`, `B` = 2^32: eight
//! limbs of `b` are one digit of a row, held in registers. A window of eight
//! limbs slides over the row from its low end. At limb `i` of `a` it holds what
//! the limbs below have sent up, and one step
//!
//! ```text
//! window + a[i] b[j..j+8] + r[i+j]  =  r'[i+j] + window' B
//! ```
//!
//! gives a limb of the result, which earlier rows no longer change, and the next
//! window; both sides are below `B^9`. Limbs of `a` come in fours: past its end
//! they are zero, and a step shifts the window out. What then is left of it are
//! the row's top eight limbs, where no earlier row has been.
//!
//! Contiguous operands of up to 32 limbs come by way of shared memory (see
//! [`staged`](crate::staged)), where the product is made: the narrower operand `b` is one
//! digit of 16 limbs, or two, and a [`Window`] slides over it. What was said of
//! rows above holds for these too, with a digit in place of eight limbs.
//!
//! Cost: `ceil4(n) ceil8(m)` products, each with half a chain instruction more
//! for carries; two loads and a store for every eight products. With a digit of `X` limbs,
//! two additions for `X` products, and no loads from device memory but of the operands.
//! No scratch. `r` is not an operand.

use crate::gpu::carry;
use crate::gpu::fours::{Fours, NOWHERE};
use crate::gpu::memory::{Number, Stride};
use crate::gpu::shared::Place;
use crate::gpu::window::{self, Slide, Window};
use crate::staged::Tile;
use bigint_core::Limb;
use bigint_core::staging;

/// Limbs of `b` in a row.
const ROW: usize = 8;

/// Limbs of `a` that are loaded together.
const STEP: usize = 4;

/// `r = a * b`, cut or zero-extended to the width of `r`.
#[inline(always)]
pub fn product(r: Number<impl Stride>, a: Number<impl Stride>, b: Number<impl Stride>) {
    // Limbs of `r` from here on are zero.
    let width = r.width().min(a.width() + b.width());
    let product = r.part(0, width);
    let mut j = 0;
    while j < width && j < b.width() {
        let row = b.limbs(j);
        let mut window = [0; ROW];
        let mut i = 0;
        while i < a.width() && i + j < width {
            // The first row finds nothing in `r`.
            let mut limbs = if j == 0 {
                [0; STEP]
            } else {
                product.limbs(i + j)
            };
            let limbs_of_a = a.limbs::<STEP>(i);
            for step in 0..STEP {
                (limbs[step], window) =
                    carry::multiply_row(window, limbs_of_a[step], row, limbs[step]);
            }
            product.set_limbs(i + j, limbs);
            i += STEP as u32;
        }
        product.set_limbs(i + j, window);
        j += ROW as u32;
    }
    let mut at = width;
    while at < r.width() {
        r.set(at, 0);
        at += 1;
    }
}

/// Limbs in a digit of a staged operand.
const X: usize = staging::ROW;

/// The products of a tile, whose second operands are not the wider ones: a row for each
/// digit, of which there are one or two.
#[inline(always)]
pub fn staged(tile: Tile<'_, 1>) {
    tile.bring_in::<4>();
    let (a, b, r) = (
        tile.a(tile.lane()),
        tile.b(tile.lane()),
        tile.r(tile.lane()),
    );
    let x = X as u32;
    // What is left out of a second operand is left out here.
    let mut digit: [Limb; X] = b.in_fours(0);
    let upper = b.from(tile.gap()).in_fours(x);
    // Results take their place.
    tile.sync();
    let steps = tile.n().next_multiple_of(STEP as u32);
    // Where the first row leaves its limb 16 and those above for the second.
    let handed = r.from(tile.handed() - x);
    let mut j = 0;
    loop {
        let mut row = Row {
            a,
            digit,
            window: Window::new(handed.in_fours(if j == 0 { NOWHERE } else { x })),
        };
        let mut next = |i: u32| {
            let is_below_all = (j == 0) | (i + x >= steps);
            let above = handed.four(if is_below_all { NOWHERE } else { 2 * x + i });
            let place = if (j == 0) & (i >= x) { handed } else { r };
            place.set_four(j + i, row.four(i, above));
            i + STEP as u32
        };
        let mut i = 0;
        // After 16 steps every limb of the window is in the same register again, so that a
        // turn of the loop moves none.
        while i < steps {
            i = next(i);
            if i == steps {
                break;
            }
            i = next(i);
            if i == steps {
                break;
            }
            i = next(i);
            if i == steps {
                break;
            }
            i = next(i);
        }
        let (limbs, _) = row.window.sum();
        let place = if j == 0 { handed } else { r };
        place.set_in_fours(j + steps, limbs);
        j += x;
        if j >= tile.m() {
            break;
        }
        digit = upper;
    }
    let mut at = j + steps;
    while at < tile.width() {
        r.set_four(at, [0; STEP]);
        at += STEP as u32;
    }
    tile.bring_out();
}

/// A row in the middle of its steps.
struct Row {
    a: Place,
    digit: [Limb; X],
    window: Window<X>,
}

impl Row {
    /// Steps with four limbs of `a` from `i` on; `above` comes into the window.
    #[inline(always)]
    fn four(&mut self, i: u32, [x0, x1, x2, x3]: [Limb; STEP]) -> [Limb; STEP] {
        let [a0, a1, a2, a3] = self.a.four(i);
        [
            self.step(a0, x0),
            self.step(a1, x1),
            self.step(a2, x2),
            self.step(a3, x3),
        ]
    }

    #[inline(always)]
    fn step(&mut self, a: Limb, above: Limb) -> Limb {
        let (limb, carry) = self.window.multiply(a, self.digit);
        self.window.slide(window::top(above, carry));
        limb
    }
}
