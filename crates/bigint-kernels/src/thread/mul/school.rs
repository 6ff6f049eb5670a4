//! Multiplication by rows (School; [Langer 2015], [Carlessi and Kashani 2013]).
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
//! Operands of up to 32 limbs, about as wide as each other, come by way of shared memory,
//! extended to 8, 16 or 32 limbs, and the whole product stays in registers: `b` is one
//! digit, or two of 16 limbs, and a [`Window`] slides over it. What was said of rows above
//! holds for these too, with a digit in place of eight limbs. Contiguous operands that fill
//! 8, 16 or 32 limbs come by way of slots ([`tile`](crate::thread::tile)), in a kernel of
//! their own; in that of any layout they come by way of places
//! ([`places`](crate::thread::places)), which takes a quarter longer.
//!
//! Cost: `ceil4(n) ceil8(m)` products, each with half a chain instruction more
//! for carries; two loads and a store for every eight products. With a digit of `X` limbs,
//! `X^2` or, for two, `4 X^2` products, two additions for `X` of them, and no loads from
//! device memory but of the operands.
//! No scratch. `r` is not an operand.

use crate::gpu::carry;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::shared::{Fours, SharedNumber};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use crate::gpu::window::{self, Slide, Window};
use crate::thread::places::Placed;
use crate::thread::tile::{Tile, bring_in, bring_out};
use bigint_core::Limb;
use bigint_core::kernel::WIDEST_PLACED;
use bigint_core::specialization::LONG;

/// Limbs of `b` in a row.
const ROW: usize = 8;

/// Limbs of `a` that are loaded together.
const STEP: usize = 4;

/// The products of a tile.
#[inline(always)]
pub fn products<S: Stride>(tile: Tile<S>) {
    if S::UNIT {
        match tile.dense_width {
            8 => in_slots::<8, 2, 4, 5>(tile),
            16 => in_slots::<16, 4, 8, 9>(tile),
            32 => double_in_slots(tile),
            _ => in_memory(tile),
        }
    } else if let Some(placed) = tile.placed() {
        in_places(placed);
    } else {
        in_memory(tile);
    }
}

#[inline(always)]
fn in_memory(tile: Tile<impl Stride>) {
    let work = tile.work();
    product(work.r, work.a, work.b);
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

/// Operands of `X` limbs that fill slots: `a`, `b`, of `Q` fours each, become the product,
/// of `P` fours.
#[inline(always)]
fn in_slots<const X: usize, const Q: u32, const P: u32, const FOURS: u32>(tile: Tile<impl Stride>)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let lane = tile.lane();
    let slots = tile.slots::<FOURS>();
    bring_in::<Q, 0, FOURS>(tile.a(), slots, lane, 0);
    bring_in::<Q, 0, FOURS>(tile.b(), slots, lane, Q);
    tile.sync();
    let slot = slots.of_lane(lane);
    let digit = slot.limbs(X as u32);
    row::<X>(slot, slot, digit);
    tile.sync();
    bring_out::<P, true, FOURS>(tile.r(), slots, lane);
    // The next tile takes the place of this one.
    tile.sync();
}

/// Operands of 32 limbs that fill slots: two rows with digits of 16. A slot is the lower half
/// of `b`, `a`, the upper half of `b`, and 16 limbs that the first row hands to the second;
/// it becomes the product.
#[inline(always)]
fn double_in_slots(tile: Tile<impl Stride>) {
    const LOW: u32 = 0;
    const A: u32 = 16;
    const HIGH: u32 = 48;
    const HANDED: u32 = 64;
    let lane = tile.lane();
    let slots = tile.slots::<21>();
    bring_in::<8, 0, 21>(tile.a(), slots, lane, A / 4);
    bring_in::<8, 8, 21>(tile.b(), slots, lane, LOW);
    tile.sync();
    let slot = slots.of_lane(lane);

    let mut steps = Steps {
        a: slot,
        r: slot,
        digit: slot.limbs(LOW),
        window: Window::<16>::new([0; 16]),
    };
    // Half a row in each turn. The driver's compiler takes four times as long for all in a line.
    let mut turn = 0;
    while turn < thread::here(4) {
        let upper = 16 * (turn & 1);
        let to = match turn {
            0 => LOW,
            1 => HANDED,
            _ => A + upper,
        };
        // What the first row hands to the second comes in by its first half.
        let end = if turn == 2 { HANDED + 16 } else { HANDED };
        steps.sixteen_below(A + upper, to, slot.below(end), HANDED);
        turn += 1;
        if turn == 2 {
            let window = Window::<16>::new(slot.limbs(HANDED));
            let (limbs, _) = steps.window.sum();
            slot.set_limbs(HANDED, limbs);
            steps.window = window;
            steps.digit = slot.limbs(HIGH);
        }
    }
    let (limbs, _) = steps.window.sum();
    slot.set_limbs(HIGH, limbs);
    tile.sync();
    bring_out::<16, true, 21>(tile.r(), slots, lane);
    // The next tile takes the place of this one.
    tile.sync();
}

/// Operands of up to 32 limbs in places.
#[inline(always)]
fn in_places(tile: Placed<impl Stride>) {
    let places = tile.bring_in();
    tile.group.sync();
    match tile.room {
        8 => whole::<8>(tile.group, places),
        16 => whole::<16>(tile.group, places),
        32 => double(tile.group, places),
        _ => in_turn(tile.group, places),
    }
    tile.group.sync();
    tile.bring_out();
    // The next tile takes the place of this one.
    tile.group.sync();
}

/// Operands of up to `X` limbs, 8 or 16: the whole of `b` is one digit.
#[inline(always)]
fn whole<const X: usize>(warp: Group<32>, [a, b, r]: [SharedNumber; 3])
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let digit = b.limbs(0);
    // The product takes the place of `b`.
    warp.sync();
    row::<X>(a, r, digit);
}

/// Operands of up to 32 limbs: two rows with digits of 16. The first leaves in the
/// product's place what it hands to the second, `n + 16` limbs; above these the upper
/// digit waits where the product takes the place of `b`.
#[inline(always)]
fn double(warp: Group<32>, [a, b, r]: [SharedNumber; 3]) {
    const X: u32 = 16;
    let digit = b.limbs(0);
    let end = a.width() + b.width();
    let upper = if r.width() < end {
        b.part(X, b.width())
    } else {
        let upper: [Limb; X as usize] = b.limbs(X);
        // The product takes the place of `b`.
        warp.sync();
        let place = r.part(a.width() + X, end);
        place.set_limbs(0, upper);
        place
    };
    let n = a.width();
    let handed = r.part(0, r.width().min(n + X));

    let mut steps = Steps {
        a,
        r: handed,
        digit,
        window: Window::<16>::new([0; 16]),
    };
    steps.sixteen(0, 0);
    steps.rest(X, X, n);
    let (top, _) = steps.window.sum();
    handed.set_limbs(n, top);

    let window = Window::<16>::new(handed.limbs(X));
    let mut steps = Steps {
        a,
        r,
        digit: upper.limbs(0),
        window,
    };
    steps.sixteen_below(0, X, handed, 2 * X);
    steps.rest(X, 2 * X, n);
    let (top, _) = steps.window.sum();
    r.set_limbs(n + X, top);
    clear(r, n + 2 * X);
}

/// Operands of 33 to 48 limbs: rows with digits of 16, and a last one of 8 where these are enough.
/// Digits wait for their row above what there is of the product.
#[inline(always)]
fn in_turn(warp: Group<32>, [a, b, r]: [SharedNumber; 3]) {
    const X: usize = LONG as usize;
    const HALF: usize = X / 2;
    let (n, m) = (a.width(), b.width());
    let waiting = if r.width() < n + m {
        b
    } else {
        // One array of all would be kept in memory.
        const { assert!(WIDEST_PLACED == 48) };
        let (low, high): ([Limb; 32], [Limb; 16]) = (b.limbs(0), b.limbs(32));
        // The product takes the place of `b`.
        warp.sync();
        let waiting = r.part(n, n + m);
        waiting.set_limbs(0, low);
        waiting.set_limbs(32, high);
        waiting
    };
    let (mut j, mut end) = (0, 0);
    while j < m && j < r.width() {
        end = match m - j <= HALF as u32 {
            true => row_below::<HALF>(a, r, waiting.limbs(j), j),
            false => row_below::<X>(a, r, waiting.limbs(j), j),
        };
        j += X as u32;
    }
    clear(r, end);
}

/// Sets limbs from `at` on to zero: a product that is wanted wider than it is.
#[inline(always)]
fn clear(r: SharedNumber, mut at: u32) {
    while at < r.width() {
        r.set(at, 0);
        at += 1;
    }
}

/// Adds the row that begins at limb `j` to the product, of which there are `n + j` limbs so far,
/// or none where this is the first row; says where it ends.
#[inline(always)]
fn row_below<const X: usize>(a: SharedNumber, r: SharedNumber, digit: [Limb; X], j: u32) -> u32
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let n = a.width();
    let earlier = match j {
        0 => r.part(0, 0),
        _ => r.part(0, r.width().min(n + j)),
    };
    // Above its end digits wait.
    let end = r.width().min(n + j + X as u32);
    let r = r.part(0, end);
    let mut steps = Steps {
        a,
        r,
        digit,
        window: Window::<X>::new(earlier.limbs(j)),
    };
    let mut i = 0;
    // After `X` steps every limb of the window is in the same register again, so that a turn
    // of the loop moves none.
    while i + X as u32 <= n {
        steps.next_four(i, j, earlier);
        steps.next_four(i + 4, j, earlier);
        if X == LONG as usize {
            steps.next_four(i + 8, j, earlier);
            steps.next_four(i + 12, j, earlier);
        }
        i += X as u32;
    }
    while i < n {
        steps.next_four(i, j, earlier);
        i += STEP as u32;
    }
    let (top, _) = steps.window.sum();
    r.set_limbs(j + i, top);
    end
}

/// The product of `a` and the digit, both of `X` limbs.
#[inline(always)]
fn row<const X: usize>(a: impl Fours, r: impl Fours, digit: [Limb; X])
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let mut steps = Steps {
        a,
        r,
        digit,
        window: Window::<X>::new([0; X]),
    };
    match X {
        8 => {
            steps.four(0, 0);
            steps.four(4, 4);
        }
        _ => steps.sixteen(0, 0),
    }
    let (top, _) = steps.window.sum();
    r.set_limbs(X as u32, top);
}

/// A row in shared memory.
struct Steps<const X: usize, A, R> {
    a: A,
    r: R,
    digit: [Limb; X],
    window: Window<X>,
}

impl<const X: usize, A: Fours, R: Fours> Steps<X, A, R>
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    /// Steps with four limbs, from `from` on; what they give goes to `to`.
    #[inline(always)]
    fn four(&mut self, from: u32, to: u32) {
        let [a0, a1, a2, a3] = self.a.four(from);
        let limbs = [self.step(a0), self.step(a1), self.step(a2), self.step(a3)];
        self.r.set_four(to, limbs);
    }

    /// Steps with four limbs, while limbs from above come into the window.
    #[inline(always)]
    fn four_below(&mut self, from: u32, to: u32, [x0, x1, x2, x3]: [Limb; 4]) {
        let [a0, a1, a2, a3] = self.a.four(from);
        let limbs = [
            self.step_below(a0, x0),
            self.step_below(a1, x1),
            self.step_below(a2, x2),
            self.step_below(a3, x3),
        ];
        self.r.set_four(to, limbs);
    }

    /// Steps with four limbs from `i` on of a row that begins at limb `j`.
    #[inline(always)]
    fn next_four(&mut self, i: u32, j: u32, earlier: impl Fours) {
        self.four_below(i, j + i, earlier.four(j + i + X as u32));
    }

    /// Steps with limbs `from .. n`, up to sixteen of them, of which `from` is a multiple; what they
    /// give goes to `to`, and above it there may be zeros. Where widths are known, nothing is
    /// multiplied above them.
    #[inline(always)]
    fn rest(&mut self, from: u32, to: u32, n: u32) {
        let mut four = |k: u32| {
            if from + k + 4 <= n {
                self.four(from + k, to + k);
            }
        };
        four(0);
        four(4);
        four(8);
        four(12);
        let whole = n & !3;
        if whole < n {
            let [x, y, z, _] = self.a.four(whole);
            let mut limbs = [self.step(x), 0, 0, 0];
            if whole + 1 < n {
                limbs[1] = self.step(y);
            }
            if whole + 2 < n {
                limbs[2] = self.step(z);
            }
            self.r.set_four(to + whole - from, limbs);
        }
    }

    /// Steps with sixteen limbs.
    #[inline(always)]
    fn sixteen(&mut self, from: u32, to: u32) {
        self.four(from, to);
        self.four(from + 4, to + 4);
        self.four(from + 8, to + 8);
        self.four(from + 12, to + 12);
    }

    /// Steps with sixteen limbs, while those of `above` from `at` on come into the window.
    #[inline(always)]
    fn sixteen_below(&mut self, from: u32, to: u32, above: impl Fours, at: u32) {
        self.four_below(from, to, above.four(at));
        self.four_below(from + 4, to + 4, above.four(at + 4));
        self.four_below(from + 8, to + 8, above.four(at + 8));
        self.four_below(from + 12, to + 12, above.four(at + 12));
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
