//! Squares by rows (School), each product of two limbs once.
//!
//! A number of up to [`WIDEST_SQUARE`] limbs comes by way of a place in shared memory
//! ([`places`](crate::thread::places)) into the top of as many registers, with zeros below,
//! and [`triangle`] begins with its first row: so there are as many rows, and as many limbs
//! in each, as the number has.
//!
//! Wider numbers are squared by columns (Comba; Honda), as [`columns`] says. Four columns of
//! `X`, the products of limbs `i < j`, are completed, doubled with the bit that the four
//! below sends up, and the squares of two limbs are added.
//!
//! Cost: `n (n + 1) / 2` products, by columns with `n` rounded up to fours; by columns an add
//! for each. No scratch. `r` is not an operand.

use super::Batches;
use super::places::Placed;
use crate::columns::{self, Columns, STEP};
use crate::gpu::carry;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::triangle;
use bigint_core::Limb;
use bigint_core::kernel::WIDEST_SQUARE;

/// The squares that fall to the calling thread, a tile of neighbouring numbers at a time.
#[inline(always)]
pub fn school<S: Stride>(batches: Batches<'_, S>) {
    for tile in batches.tiles::<true>() {
        if let Some(placed) = tile.placed_square() {
            in_place(placed);
        } else {
            let work = tile.work();
            by_columns(work.r, work.a);
        }
    }
}

/// A tile of numbers in places, which their squares take.
#[inline(always)]
fn in_place(tile: Placed<impl Stride>) {
    let [a, _, r] = tile.bring_in();
    tile.group.sync();
    let mut limbs = [0; WIDEST_SQUARE];
    let below = WIDEST_SQUARE as u32 - a.width();
    for (i, four) in limbs.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        // Below the number as above it: an index past its end.
        *four = [0, 1, 2, 3].map(|j| a.limb((4 * i as u32 + j).wrapping_sub(below)));
    }
    tile.group.sync();
    triangle::square_from(limbs, below as usize, |i, [lower, upper]: [Limb; 2]| {
        let at = 2 * (i as u32 - below);
        r.set(at, lower);
        r.set(at + 1, upper);
    });
    let mut at = 2 * a.width();
    while at < r.width() {
        r.set(at, 0);
        at += 1;
    }
    tile.group.sync();
    tile.bring_out();
    // The next tile takes the place of this one.
    tile.group.sync();
}

/// `r = a a`, cut or zero-extended to the width of `r`.
#[inline(always)]
fn by_columns(r: Number<impl Stride>, a: Number<impl Stride>) {
    const FOUR: u32 = STEP as u32;
    let mut pairs = Columns::default();
    let (mut below, mut carry) = (0, 0);
    let mut k = 0;
    while FOUR * k < r.width() {
        pairs.add_pairs(k, a);
        let half = pairs.next();
        let limbs;
        (limbs, carry) = carry::add(columns::doubled(half, below), columns::squares(k, a), carry);
        r.set_limbs(FOUR * k, limbs);
        [.., below] = half;
        k += 1;
    }
}
