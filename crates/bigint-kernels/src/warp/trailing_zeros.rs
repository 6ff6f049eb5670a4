//! The number of zeros below the lowest 1 (Scan), computed by lanes of a warp. [`scan`](super::scan)
//! explains the method and its cost.

use super::{Batches, scan};
use crate::gpu::memory::Stride;
use crate::thread::trailing_zeros::TrailingZeros;

/// Computes the numbers that fall to the calling lane's group.
#[inline(always)]
pub fn scan<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    scan::numbers::<TrailingZeros, LANES, S>(batches);
}
