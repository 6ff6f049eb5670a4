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
//! Operands of 8, 16 or 32 limbs, as wide as each other, come by way of shared
//! memory (see [`tile`](crate::thread::tile)), and the whole product stays in registers:
//! `b` is one digit, or two of 16 limbs, and a [`Window`] slides over it. What was said of
//! rows above holds for these too, with a digit in place of eight limbs.
//!
//! Cost: `ceil4(n) ceil8(m)` products, each with half a chain instruction more
//! for carries; two loads and a store for every eight products. With a digit of `X` limbs,
//! two additions for `X` products, and no loads from device memory but of the operands.
//! No scratch. `r` is not an operand.

use crate::gpu::carry;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::shared::Slots;
use crate::gpu::window::{self, Slide, Window};
use crate::thread::tile::{Tile, bring_in, bring_out};
use bigint_core::Limb;

/// Limbs of `b` in a row.
const ROW: usize = 8;

/// Limbs of `a` that are loaded together.
const STEP: usize = 4;

/// The products of a tile.
#[inline(always)]
pub fn products<S: Stride>(tile: Tile<S>) {
    match tile.dense_width {
        8 => whole::<8, 2, 4, 5>(tile),
        16 => whole::<16, 4, 8, 9>(tile),
        32 => double(tile),
        _ => {
            let work = tile.work();
            product(work.r, work.a, work.b);
        }
    }
}

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

/// Operands of `X` limbs: the whole of `b` is one digit. A slot is `a`, `b`, of `Q` fours
/// each, and becomes the product, of `P` fours.
#[inline(always)]
fn whole<const X: usize, const Q: u32, const P: u32, const FOURS: u32>(tile: Tile<impl Stride>)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let lane = tile.lane();
    let slots = tile.slots::<FOURS>();
    bring_in::<Q, 0, FOURS>(tile.a(), slots, lane, 0);
    bring_in::<Q, 0, FOURS>(tile.b(), slots, lane, Q);
    tile.sync();
    let digit = slots.limbs::<X>(lane, Q);
    let mut window = Window::<X>::new([0; X]);
    let mut steps = Steps {
        slots,
        lane,
        digit,
        window,
    };
    steps.four(0, 0);
    steps.four(1, 1);
    if Q == 4 {
        steps.four(2, 2);
        steps.four(3, 3);
    }
    let (limbs, _) = steps.window.sum();
    slots.set_limbs(lane, Q, limbs);
    tile.sync();
    bring_out::<P, true, FOURS>(tile.r(), slots, lane);
    // The next tile takes the place of this one.
    tile.sync();
}

/// Operands of 32 limbs: two rows with digits of 16. A slot is the lower half of `b`, `a`,
/// the upper half of `b`, and 16 limbs that the first row hands to the second; it becomes
/// the product.
#[inline(always)]
fn double(tile: Tile<impl Stride>) {
    const LOW: u32 = 0;
    const A: u32 = 4;
    const HIGH: u32 = 12;
    const HANDED: u32 = 16;
    let lane = tile.lane();
    let slots = tile.slots::<21>();
    bring_in::<8, 0, 21>(tile.a(), slots, lane, A);
    bring_in::<8, 8, 21>(tile.b(), slots, lane, LOW);
    tile.sync();

    let digit = slots.limbs::<16>(lane, LOW);
    let mut window = Window::<16>::new([0; 16]);
    let mut steps = Steps {
        slots,
        lane,
        digit,
        window,
    };
    steps.four(A, LOW);
    steps.four(A + 1, LOW + 1);
    steps.four(A + 2, LOW + 2);
    steps.four(A + 3, LOW + 3);
    steps.four(A + 4, HANDED);
    steps.four(A + 5, HANDED + 1);
    steps.four(A + 6, HANDED + 2);
    steps.four(A + 7, HANDED + 3);
    let (limbs, _) = steps.window.sum();

    let mut window = Window::<16>::new(slots.limbs(lane, HANDED));
    slots.set_limbs(lane, HANDED, limbs);
    let digit = slots.limbs::<16>(lane, HIGH);
    let mut steps = Steps {
        slots,
        lane,
        digit,
        window,
    };
    steps.four_below(A, A, HANDED);
    steps.four_below(A + 1, A + 1, HANDED + 1);
    steps.four_below(A + 2, A + 2, HANDED + 2);
    steps.four_below(A + 3, A + 3, HANDED + 3);
    steps.four(A + 4, A + 4);
    steps.four(A + 5, A + 5);
    steps.four(A + 6, A + 6);
    steps.four(A + 7, A + 7);
    let (limbs, _) = steps.window.sum();
    slots.set_limbs(lane, HIGH, limbs);
    tile.sync();
    bring_out::<16, true, 21>(tile.r(), slots, lane);
    // The next tile takes the place of this one.
    tile.sync();
}

/// A row in a thread's own slot.
struct Steps<const X: usize, const FOURS: u32> {
    slots: Slots<FOURS>,
    lane: u32,
    digit: [Limb; X],
    window: Window<X>,
}

impl<const X: usize, const FOURS: u32> Steps<X, FOURS>
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    /// Steps with the four limbs at `from`; what they give goes to `to`.
    #[inline(always)]
    fn four(&mut self, from: u32, to: u32) {
        let [a0, a1, a2, a3] = self.slots.four(self.lane, from);
        let limbs = [self.step(a0), self.step(a1), self.step(a2), self.step(a3)];
        self.slots.set_four(self.lane, to, limbs);
    }

    /// The same, and the four at `above` comes into the window.
    #[inline(always)]
    fn four_below(&mut self, from: u32, to: u32, above: u32) {
        let [a0, a1, a2, a3] = self.slots.four(self.lane, from);
        let [x0, x1, x2, x3] = self.slots.four(self.lane, above);
        let limbs = [
            self.step_below(a0, x0),
            self.step_below(a1, x1),
            self.step_below(a2, x2),
            self.step_below(a3, x3),
        ];
        self.slots.set_four(self.lane, to, limbs);
    }

    #[inline(always)]
    fn step(&mut self, a: Limb) -> Limb {
        let (limb, carry) = self.window.multiply(a, self.digit);
        self.window.slide([carry, 0]);
        limb
    }

    #[inline(always)]
    fn step_below(&mut self, a: Limb, above: Limb) -> Limb {
        let (limb, carry) = self.window.multiply(a, self.digit);
        self.window.slide(window::top(above, carry));
        limb
    }
}
