//! Squares by columns (Comba; Honda), each two limbs multiplied once.
//!
//! The maths and the bounds are in [`columns`]. Four columns of `X`, the products of limbs
//! `i < j`, are completed, doubled with the bit that the four below sends up, and the
//! squares of two limbs are added.
//!
//! Cost: `n (n + 1) / 2` products, `n` rounded up to fours, an add for each; each limb of
//! the result is written once and none is read. No scratch. `r` is not an operand.

use super::Batches;
use crate::columns::{self, Columns, STEP};
use crate::gpu::carry;
use crate::gpu::memory::{Number, Stride};

/// The squares that fall to the calling thread.
#[inline(always)]
pub fn comba<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        number(work.r, work.a);
    }
}

/// `r = a a`, cut or zero-extended to the width of `r`.
#[inline(always)]
fn number(r: Number<impl Stride>, a: Number<impl Stride>) {
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
