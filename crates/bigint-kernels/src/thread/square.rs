//! Squares by rows (School), with each product of two limbs computed once.
//!
//! A number of up to 32 limbs is squared in registers ([`squares`]).
//!
//! Wider numbers are squared by columns (Comba; [Honda 2015]), as [`columns`] explains. Four
//! columns of `X`, the sum of products of limbs `i < j`, are completed at a time. They are doubled,
//! with the bit carried from the four columns below, and the squares of two limbs are added.
//!
//! Cost: in registers 528 products; by columns `n (n + 1) / 2` products, with `n` rounded up to a
//! multiple of 4, and an addition for each. No scratch. `r` overlaps no operand.

use super::Batches;
use crate::columns::{self, Columns, STEP};
use crate::gpu::carry;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::warp::Group;
use crate::squares;
use bigint_core::kernel::SQUARE_DIGIT;

/// Computes the squares that fall to the calling thread, or to its warp.
#[inline(always)]
pub fn school<S: Stride>(batches: Batches<'_, S>) {
    if batches.arguments.a.width as usize <= SQUARE_DIGIT {
        squares::of_tiles::<1, S>(Group::thread(), batches.digits());
    } else {
        for work in batches.numbers() {
            by_columns(work.r, work.a);
        }
    }
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
