//! Setting one bit of each number (Limbwise), with a warp on a stretch of the batch.
//! [`limbwise`](super::limbwise) explains the method and its cost.

use super::{Batches, limbwise};
use crate::gpu::memory::Stride;
use crate::thread::set_bit::SetBit;

/// Computes the limbs of the calling warp's stretch.
#[inline(always)]
pub fn limbwise<S: Stride>(batches: Batches<'_, 32, S>) {
    limbwise::batch::<SetBit, S>(batches);
}
