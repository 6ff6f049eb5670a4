//! Quotients and remainders by rows (School; [Knuth 1997]). [`division`](super::division)
//! explains the method and its cost.

use super::{Batches, division};
use crate::gpu::memory::Stride;

/// Computes the numbers that fall to the calling thread's warp.
#[inline(always)]
pub fn school<S: Stride>(batches: Batches<'_, S>) {
    for tile in batches.tiles_of_one() {
        division::numbers(tile);
    }
}
