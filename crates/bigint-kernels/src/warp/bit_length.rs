//! Length in bits (Scan), by lanes of a warp: [`scan`](super::scan) says how, and at what cost.

use super::{Batches, scan};
use crate::gpu::memory::Stride;
use crate::thread::bit_length::BitLength;

/// The numbers that fall to the calling lane's group.
#[inline(always)]
pub fn scan<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    scan::numbers::<BitLength, LANES, S>(batches);
}
