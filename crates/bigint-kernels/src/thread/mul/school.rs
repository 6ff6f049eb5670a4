//! Multiplication by rows (School; [Langer 2015], [Carlessi and Kashani 2013]).
//!
//! With `B` = 2^32, `a b` is the sum of the rows `a b[j..j+8] B^j` over all multiples `j` of 8.
//! Eight limbs of `b` are the digit of a row, and stand in registers. A window of eight limbs
//! slides over the row from its low end. At limb `i` of `a` it holds the part of the product so far
//! that is above the limbs already given. One step
//!
//! ```text
//! window + a[i] b[j..j+8] + r[i+j]  =  r'[i+j] + window' B
//! ```
//!
//! gives a limb of the sum of the rows so far, and the next window. Both sides are below `B^9`.
//! Limbs of `a` are taken four at a time. Past the end of `a` they are zero, and a step shifts the
//! window out. What is left in it then are the top eight limbs of the row, where no earlier row has
//! limbs.
//!
//! Operands of up to 32 limbs that are about as wide as each other pass through shared memory, and
//! are extended to 8, 16 or 32 limbs. `b` is one digit, or two of 16 limbs, and a [`Window`] in
//! registers slides over each row. The above holds for these rows too, with a digit in place of
//! eight limbs. Contiguous operands of exactly 8, 16 or 32 limbs pass through slots
//! ([`tile`](crate::thread::tile)), in a kernel of their own. In the kernel for any layout they
//! pass through places ([`places`](crate::thread::places)), which takes a quarter longer.
//!
//! Cost: `ceil4(n) ceil8(m)` products, each with half an instruction more for carries, and two
//! loads and a store for every eight products. With a digit of `X` limbs, `X^2` products, or
//! `4 X^2` for two digits; two additions for `X` products; and no loads from device memory except
//! of the operands. No scratch. `r` overlaps no operand.

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

/// The limbs of `b` in a row.
const ROW: usize = 8;

/// The limbs of `a` that are loaded together.
const STEP: usize = 4;

/// Computes the products of a tile.
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
    // Limbs of `r` from `width` on are zero.
    let width = r.width().min(a.width() + b.width());
    let product = r.part(0, width);
    let mut j = 0;
    while j < width && j < b.width() {
        let row = b.limbs(j);
        let mut window = [0; ROW];
        let mut i = 0;
        while i < a.width() && i + j < width {
            // For the first row, `r` has not been set yet.
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

/// Multiplies operands of `X` limbs that pass through slots. `a` and `b` are `Q` groups of four
/// limbs each; the product, of `P` groups, takes their place.
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
    // The next tile uses the same shared memory.
    tile.sync();
}

/// Multiplies operands of 32 limbs that pass through slots, by two rows with digits of 16 limbs. A
/// slot holds the lower half of `b`, then `a`, the upper half of `b`, and 16 limbs that the first
/// row hands to the second. The product takes their place.
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
    // Each turn computes half a row. Written out in a line, the code would take the driver's
    // compiler four times as long.
    let mut turn = 0;
    while turn < thread::here(4) {
        let upper = 16 * (turn & 1);
        let to = match turn {
            0 => LOW,
            1 => HANDED,
            _ => A + upper,
        };
        // Limbs of the first row come into the window during the first half of the second row.
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
    // The next tile uses the same shared memory.
    tile.sync();
}

/// Multiplies operands that pass through places.
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
    // The next tile uses the same shared memory.
    tile.group.sync();
}

/// Multiplies operands of up to `X` limbs, where `X` is 8 or 16. The whole of `b` is one digit.
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

/// Multiplies operands of up to 32 limbs, by two rows with digits of 16 limbs. The first row leaves
/// `n + 16` limbs in the product's place for the second. If the product takes the place of `b`, the
/// upper digit is kept above these limbs meanwhile.
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

/// Multiplies operands of 33 to 48 limbs, by rows with digits of 16 limbs; the last digit has 8
/// limbs if these are enough. Digits are kept above the limbs of the product so far, until their
/// row is computed.
#[inline(always)]
fn in_turn(warp: Group<32>, [a, b, r]: [SharedNumber; 3]) {
    const X: usize = LONG as usize;
    const HALF: usize = X / 2;
    let (n, m) = (a.width(), b.width());
    let waiting = if r.width() < n + m {
        b
    } else {
        // One array of all 48 limbs would be kept in memory.
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

/// Sets limbs from `at` on to zero, for results that are wider than the product.
#[inline(always)]
fn clear(r: SharedNumber, mut at: u32) {
    while at < r.width() {
        r.set(at, 0);
        at += 1;
    }
}

/// Adds the row that begins at limb `j` to the product, which has `n + j` limbs so far, or none if
/// this is the first row. Returns the end of the row.
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
    // Digits of later rows are kept above the end of this row.
    let end = r.width().min(n + j + X as u32);
    let r = r.part(0, end);
    let mut steps = Steps {
        a,
        r,
        digit,
        window: Window::<X>::new(earlier.limbs(j)),
    };
    let mut i = 0;
    // After `X` steps every limb of the window is in the same register again, so a turn of the loop
    // moves none.
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

/// Computes the product of `a` and the digit, both of `X` limbs.
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

/// The state of a row whose numbers are in shared memory.
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
    /// Steps with four limbs of `a` from `from` on. The limbs that they give go to `to`.
    #[inline(always)]
    fn four(&mut self, from: u32, to: u32) {
        let [a0, a1, a2, a3] = self.a.four(from);
        let limbs = [self.step(a0), self.step(a1), self.step(a2), self.step(a3)];
        self.r.set_four(to, limbs);
    }

    /// Steps with four limbs of `a`, while limbs of an earlier row come into the window from above.
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

    /// Steps with four limbs of `a` from `i` on, in a row that begins at limb `j`.
    #[inline(always)]
    fn next_four(&mut self, i: u32, j: u32, earlier: impl Fours) {
        self.four_below(i, j + i, earlier.four(j + i + X as u32));
    }

    /// Steps with limbs `from .. n` of `a`, which are at most sixteen; `from` is a multiple of
    /// sixteen. The limbs that they give go to `to`, and up to three zeros may follow them. If
    /// widths are known to the compiler, limbs above them are not multiplied.
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

    /// Steps with sixteen limbs of `a`.
    #[inline(always)]
    fn sixteen(&mut self, from: u32, to: u32) {
        self.four(from, to);
        self.four(from + 4, to + 4);
        self.four(from + 8, to + 8);
        self.four(from + 12, to + 12);
    }

    /// Steps with sixteen limbs of `a`, while the limbs of `above` from `at` on come into the
    /// window from above.
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
