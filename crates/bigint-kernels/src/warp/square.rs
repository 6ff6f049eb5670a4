//! Squares by columns (Comba; Honda), four columns to a lane, each two limbs multiplied
//! once.
//!
//! The maths is in [`columns`], how lanes share it in [`each_four`]: a lane doubles what it
//! has summed and adds the squares of two limbs before it hands anything on.
//!
//! Cost: `n (n + 1) / 2` products, `n` rounded up to fours. No scratch. `r` is not an
//! operand.

use super::Batches;
use super::columns::each_four;
use crate::columns::{self, Columns};
use crate::gpu::memory::Stride;

/// The squares that fall to the calling lane's group.
#[inline(always)]
pub fn comba<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        let (r, a) = (work.r, work.a);
        let sum = |k| {
            let mut pairs = Columns::default();
            pairs.add_pairs(k, a);
            pairs.sum().doubled_plus(columns::squares(k, a))
        };
        each_four(work.group, r.width(), sum, |at, limbs| {
            r.set_limbs(at, limbs);
        });
    }
}
