//! Comparison (Scan), computed by lanes of a warp. [`scan`](super::scan) explains the method
//! and its cost.

use super::{Batches, scan};
use crate::gpu::memory::Stride;
use crate::thread::compare::Compare;

/// Computes the numbers that fall to the calling lane's group.
#[inline(always)]
pub fn scan<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    scan::numbers::<Compare, LANES, S>(batches);
}
