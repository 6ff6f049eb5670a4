//! Quotients and remainders by rows (School; Knuth): [`division`](super::division) says how, and
//! at what cost.

use super::{Batches, division};
use crate::gpu::memory::Stride;

/// The numbers that fall to the calling thread's warp.
#[inline(always)]
pub fn school<S: Stride>(batches: Batches<'_, S>) {
    for tile in batches.tiles_of_one() {
        division::numbers(tile);
    }
}
