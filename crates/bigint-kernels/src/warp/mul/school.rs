//! Multiplication by rows (School; [Langer 2015]). Each row is computed by sliding windows (the
//! rotating sums of [Honda 2015], with many limbs at a time).
//!
//! With `B` = 2^32, `a b` is the sum of the rows `a b[j..j+W] B^j` over all multiples `j` of
//! `W = X LANES`. Each of `LANES` lanes has a digit of `X` limbs of the row's `W` limbs of `b`,
//! and a [`Window`] over the part of `a` times its digit that is not given yet. All lanes
//! multiply by `a[i]` together:
//!
//! ```text
//! window + a[i] digit  =  lowest + window' B
//! ```
//!
//! The lane's lowest limb has weight `i + j + X lane`, which is the highest weight in the
//! window of the lane below, where it is added. The lowest limb of lane 0 is limb `i + j` of
//! the product, which later limbs of `a` no longer change. The lanes are a ring, so this limb
//! goes to the top lane, which stores four limbs at a time. Into the top lane's window come the
//! limbs that earlier rows left in the product, so they need not be added at the end.
//!
//! Limbs of `a` past its end are zero, and the steps with them push limbs out. The limbs left
//! in the windows are the row's top limbs. The sum of a window has one limb more, at most 2,
//! which is added to the lane above. Carries from lane to lane are found as in [`lookahead`].
//!
//! The operand that fills digits better is taken as `b`. The digits of a row have 16 limbs, or
//! 8 if all of `b` is one short row.
//!
//! Cost: `ceil4(n) ceil(m)` products, with `m` rounded up to digits; a shuffle, a selection and
//! five other instructions for each `X` products. No scratch. `r` overlaps no operand.

use super::operand::{InMemory, Operand};
use crate::gpu::known::Known;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::warp::Group;
use crate::gpu::window::{self, Slide, Window};
use crate::warp::lookahead;
use bigint_core::Limb;
use bigint_core::specialization::{LONG, ProductByRows, Rows, STEP};

/// `r = a * b`, cut or zero-extended to the width of `r`. `FOURS` says that limbs of all
/// three can be moved four at a time.
#[inline(always)]
pub fn product<const LANES: u32, const FOURS: bool, S: Stride>(
    group: Group<LANES>,
    r: Number<S>,
    a: Number<S>,
    b: Number<S>,
) {
    // Limbs of `r` from `width` on are zero.
    let width = r.width().min(a.width() + b.width());
    let in_memory = InMemory::<S, FOURS>;
    rows(
        group,
        in_memory(r.part(0, width)),
        in_memory(a),
        in_memory(b),
    );
    let mut at = width;
    while at < r.width() {
        r.set(at + group.lane(), 0);
        at += group.lanes();
    }
}

/// `product = a * b`, cut to its width, by rows.
#[inline(always)]
pub fn rows<const LANES: u32, T: Operand>(group: Group<LANES>, product: T, a: T, b: T) {
    let (a, b) = if Rows::are_of_first(a.width(), b.width(), group.lanes()) {
        (b, a)
    } else {
        (a, b)
    };
    let found = Rows::of(b.width(), group.lanes());
    let rows = ProductByRows::ROWS.or(found);
    if rows == Rows::Short {
        row::<LANES, 8, true, T>(group, product, a, b, 0);
        return;
    }
    let mut j = row::<LANES, 16, true, T>(group, product, a, b, 0);
    while rows == Rows::Several && j < product.width() && j < b.width() {
        // The next row loads limbs that other lanes have stored.
        group.sync();
        j = row::<LANES, 16, false, T>(group, product, a, b, j);
    }
}

/// Adds the row that begins at limb `j` of `b` to the product, and returns the limb at which
/// the next row begins. Before the `FIRST` row the product is not set.
#[inline(always)]
fn row<const LANES: u32, const X: usize, const FIRST: bool, T: Operand>(
    group: Group<LANES>,
    product: T,
    a: T,
    b: T,
    j: u32,
) -> u32
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let own = j + X as u32 * group.lane();
    // Limbs that earlier rows have stored end here.
    let earlier = product.below(j + a.width().next_multiple_of(STEP));
    let window = Window::<X>::new(match FIRST {
        true => [0; X],
        false => earlier.fours(own),
    });
    if !FIRST {
        // The top lane stores limbs that others have just read.
        group.sync();
    }
    let is_top = group.lane() == group.lanes() - 1;
    let mut row = Row::<T, LANES, X, FIRST> {
        group,
        is_top,
        a,
        limbs_of_a: a.fours(0),
        i: 0,
        digit: b.fours(own),
        window,
        // The top lane loads and stores for all lanes.
        earlier: earlier.switched(is_top),
        lowest: product.switched(is_top),
        product,
        j,
    };
    let mut left = a.width().min(product.width() - j).div_ceil(STEP);
    // After `X` steps every limb of the window is in the same register again, so a turn of the
    // loop moves none.
    while left >= X as u32 / STEP {
        row.four_steps();
        row.four_steps();
        if X == LONG as usize {
            row.four_steps();
            row.four_steps();
        }
        left -= X as u32 / STEP;
    }
    while left > 0 {
        row.four_steps();
        left -= 1;
    }
    row.finish(own);
    j + X as u32 * group.lanes()
}

/// The state of a row that begins at limb `j`, of which the steps before `i` are done, seen
/// from a lane.
struct Row<T, const LANES: u32, const X: usize, const FIRST: bool> {
    group: Group<LANES>,
    is_top: bool,
    a: T,
    /// The limbs `i .. i+4` of `a`.
    limbs_of_a: [Limb; STEP as usize],
    i: u32,
    digit: [Limb; X],
    window: Window<X>,
    /// The product, switched on in the top lane alone: to load limbs of earlier rows, and to
    /// store limbs.
    earlier: T,
    lowest: T,
    product: T,
    j: u32,
}

impl<T: Operand, const LANES: u32, const X: usize, const FIRST: bool> Row<T, LANES, X, FIRST>
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    #[inline(always)]
    fn four_steps(&mut self) {
        let (i, j) = (self.i, self.j);
        let next = self.a.fours(i + STEP);
        let above = match FIRST {
            true => [0; STEP as usize],
            false => self.earlier.fours(i + j + X as u32 * self.group.lanes()),
        };
        let [a0, a1, a2, a3] = self.limbs_of_a;
        let limbs = [
            self.step(a0, above[0]),
            self.step(a1, above[1]),
            self.step(a2, above[2]),
            self.step(a3, above[3]),
        ];
        self.lowest.set_fours(i + j, limbs);
        self.limbs_of_a = next;
        self.i = i + STEP;
    }

    /// One step. Returns the limb that comes from the lane above, around the ring; in the top
    /// lane this is a limb of the product.
    #[inline(always)]
    fn step(&mut self, limb_of_a: Limb, above: Limb) -> Limb {
        let (limb, carry) = self.window.multiply(limb_of_a, self.digit);
        let received = self.group.rotate_down(limb);
        let above = if self.is_top { above } else { received };
        self.window.slide(window::top(above, carry));
        received
    }

    /// Stores the row's top limbs. Those of the lane begin `own` limbs above `i`.
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
        self.product.set_fours(self.i + own, limbs);
    }
}
