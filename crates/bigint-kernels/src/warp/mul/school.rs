//! Multiplication by rows (School; Langer), each row by windows that slide (Honda's
//! rotating sums, many limbs at a time).
//!
//! `a b` is the sum over `j` of the rows `a b[j..j+W] B^j`, `B` = 2^32. Each of `LANES`
//! lanes has a digit of `X` limbs of the row's `W = X LANES` limbs of `b`, and a window
//! over what `a` times its digit has sent up ([`Window`]). All lanes multiply by `a[i]`
//! together:
//!
//! ```text
//! window + a[i] digit  =  lowest + window' B
//! ```
//!
//! The lane's lowest limb has weight `i + j + X lane`, which is the highest weight in the
//! window of the lane below: there it is added. The lowest limb of lane 0 is the
//! product's limb `i + j`, which later limbs of `a` no longer change. A ring of lanes
//! brings it to the top lane, which stores four at a time, and which gets from above what
//! earlier rows left in the product; so it need not be added in the end.
//!
//! Limbs of `a` past its end are zero: those steps push limbs out. What is left in the
//! windows are the row's top limbs. A window's sum has a limb more, at most 2, for the
//! lane above, and a carry from lane to lane is found as in [`lookahead`].
//!
//! The operand that fills digits better is `b`. A row's digits have 16 limbs, or 8 where
//! all of `b` is one short row.
//!
//! Contiguous operands of one row come by way of shared memory (see
//! [`staged`](crate::staged)).
//!
//! Cost: `ceil4(n) ceil(m)` products, `m` rounded up to digits; a shuffle, a selection and
//! five other instructions for `X` products. No scratch. `r` is not an operand.

use crate::gpu::fours::{Below, Fours, Nothing};
use crate::gpu::memory::{Number, Stride};
use crate::gpu::warp::Group;
use crate::gpu::window::{self, Slide, Window};
use crate::staged::Tile;
use crate::warp::lookahead;
use bigint_core::{Limb, staging};

/// Limbs of `a` that are loaded together.
const STEP: u32 = 4;

/// Limbs in a digit of a short row.
const SHORT: u32 = 8;

/// Limbs in any other digit.
const LONG: u32 = staging::ROW as u32;

/// Multiply-adds that a product of operands of `n` and `m` limbs takes, the second of which
/// is cut into digits.
#[inline(always)]
fn products<const LANES: u32>(n: u32, m: u32) -> u64 {
    let row = LANES * if m <= SHORT * LANES { SHORT } else { LONG };
    u64::from(n.next_multiple_of(STEP)) * u64::from(m.next_multiple_of(row))
}

/// Whether to exchange operands of `n` and `m` limbs.
#[inline(always)]
pub fn exchanges<const LANES: u32>(n: u32, m: u32) -> bool {
    products::<LANES>(m, n) < products::<LANES>(n, m)
}

/// The products of a tile, whose second operands are one row each.
#[inline(always)]
pub fn staged<const LANES: u32>(group: Group<LANES>, tile: Tile<'_, LANES>) {
    tile.bring_in::<4>();
    let number = tile.lane() / LANES;
    let (a, b, r) = (tile.a(number), tile.b(number), tile.r(number));
    let own = LONG * group.lane();
    let digit = b.in_fours(own);
    // Results take the place of second operands.
    tile.sync();
    let row = Row::<_, _, _, LANES, { LONG as usize }> {
        group,
        a,
        limbs_of_a: a.four(0),
        i: 0,
        digit,
        window: Window::new([0; LONG as usize]),
        earlier: Nothing,
        // The top lane stores for all.
        lowest: r.switched(group.lane() == LANES - 1),
        product: r,
        j: 0,
    };
    let mut at = row.run(tile.n().div_ceil(STEP), own) + STEP * group.lane();
    while at < tile.width() {
        r.set_four(at, [0; STEP as usize]);
        at += STEP * LANES;
    }
    tile.bring_out();
}

/// `r = a * b`, cut or zero-extended to the width of `r`.
#[inline(always)]
pub fn product<const LANES: u32, S: Stride>(
    group: Group<LANES>,
    r: Number<S>,
    a: Number<S>,
    b: Number<S>,
) {
    let (a, b) = match exchanges::<LANES>(a.width(), b.width()) {
        true => (b, a),
        false => (a, b),
    };
    // Limbs of `r` from here on are zero.
    let width = r.width().min(a.width() + b.width());
    let product = r.part(0, width);
    // Contiguous short ones come by way of shared memory.
    if !S::UNIT && b.width() <= SHORT * LANES {
        row::<LANES, { SHORT as usize }, S>(group, product, a, b, 0);
    } else {
        let mut j = 0;
        loop {
            j = row::<LANES, { LONG as usize }, S>(group, product, a, b, j);
            if j >= product.width() || j >= b.width() {
                break;
            }
            // The next row takes up limbs that other lanes have stored.
            group.sync();
        }
    }
    let mut at = width;
    while at < r.width() {
        r.set(at + group.lane(), 0);
        at += LANES;
    }
}

/// Adds the row that begins at limb `j` of `b` to the product; returns where the next
/// row begins.
#[inline(always)]
fn row<const LANES: u32, const X: usize, S: Stride>(
    group: Group<LANES>,
    product: Number<S>,
    a: Number<S>,
    b: Number<S>,
    j: u32,
) -> u32
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let own = j + X as u32 * group.lane();
    // What earlier rows have stored ends where they ended; the first finds nothing.
    let end = match j {
        0 => 0,
        _ => j + a.width().next_multiple_of(STEP),
    };
    let window = Window::new(product.cut(end).in_fours(own));
    // The top lane stores where others have just read.
    group.sync();
    let is_top = group.lane() == LANES - 1;
    let row = Row::<_, _, _, LANES, X> {
        group,
        a,
        limbs_of_a: a.four(0),
        i: 0,
        digit: b.in_fours(own),
        window,
        // The top lane takes and stores for all.
        earlier: Below {
            number: product.switched(is_top),
            end,
        },
        lowest: product.switched(is_top),
        product,
        j,
    };
    row.run(a.width().min(product.width() - j).div_ceil(STEP), own);
    j + X as u32 * LANES
}

/// A row that begins at limb `j`, of which the steps before `i` are done, seen from a lane.
struct Row<A, E, R, const LANES: u32, const X: usize> {
    group: Group<LANES>,
    a: A,
    /// Limbs `i .. i+4` of `a`.
    limbs_of_a: [Limb; STEP as usize],
    i: u32,
    digit: [Limb; X],
    window: Window<X>,
    /// What earlier rows have left in the product.
    earlier: E,
    /// The product where the lane stores its lowest limbs.
    lowest: R,
    product: R,
    j: u32,
}

impl<A: Fours, E: Fours, R: Fours, const LANES: u32, const X: usize> Row<A, E, R, LANES, X>
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    /// All steps, `fours` times four, and the row's top limbs, of which the lane's own begin
    /// `own` above the last step; gives the limb above them all.
    #[inline(always)]
    fn run(mut self, fours: u32, own: u32) -> u32 {
        let end = STEP * fours;
        // After `X` steps every limb of the window is in the same register again, so that a
        // turn of the loop moves none.
        while self.i < end {
            self.four_steps();
            if self.i == end {
                break;
            }
            self.four_steps();
            if X == SHORT as usize {
                continue;
            }
            if self.i == end {
                break;
            }
            self.four_steps();
            if self.i == end {
                break;
            }
            self.four_steps();
        }
        let end = self.i + self.j + X as u32 * LANES;
        self.finish(own);
        end
    }

    #[inline(always)]
    fn four_steps(&mut self) {
        let (i, j) = (self.i, self.j);
        let next = self.a.four(i + STEP);
        let above = self.earlier.four(i + j + X as u32 * LANES);
        let [a0, a1, a2, a3] = self.limbs_of_a;
        let limbs = [
            self.step(a0, above[0]),
            self.step(a1, above[1]),
            self.step(a2, above[2]),
            self.step(a3, above[3]),
        ];
        self.lowest.set_four(i + j, limbs);
        self.limbs_of_a = next;
        self.i = i + STEP;
    }

    /// Gives the limb that comes round from the lane above; for the top lane that is a
    /// limb of the product.
    #[inline(always)]
    fn step(&mut self, limb_of_a: Limb, above: Limb) -> Limb {
        let (limb, carry) = self.window.multiply(limb_of_a, self.digit);
        let received = self.group.rotate_down(limb);
        let above = if self.is_top() { above } else { received };
        self.window.slide(window::top(above, carry));
        received
    }

    #[inline(always)]
    fn is_top(&self) -> bool {
        self.group.lane() == LANES - 1
    }

    /// Stores the row's top limbs; the lane's own begin `own` above `i`.
    #[inline(always)]
    fn finish(self, own: u32) {
        let group = self.group;
        let (limbs, over) = self.window.sum();
        let below = group.rotate_up(over, 1);
        let below = if group.lane() == 0 { 0 } else { below };
        let (limbs, carry) = Window::<X>::add(limbs, below);
        let all_ones = Window::<X>::are_all_ones(limbs);
        let carries = lookahead::carries(group.ballot(carry != 0), group.ballot(all_ones), 0);
        let (limbs, _) = Window::<X>::add(limbs, (carries >> group.lane()) as Limb & 1);
        self.product.set_in_fours(self.i + own, limbs);
    }
}
