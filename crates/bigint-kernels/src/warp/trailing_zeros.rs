//! Zeros below the lowest 1 (Scan), by lanes of a warp: [`scan`](super::scan) says how, and at what cost.

use super::{Batches, scan};
use crate::gpu::memory::Stride;
use crate::thread::trailing_zeros::TrailingZeros;

/// The numbers that fall to the calling lane's group.
#[inline(always)]
pub fn scan<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    scan::numbers::<TrailingZeros, LANES, S>(batches);
}
