//! Shift to the left (Limbwise), a warp on a stretch of the batch:
//! [`limbwise`](super::limbwise) says how, and at what cost.

use super::{Batches, limbwise};
use crate::gpu::memory::Stride;
use crate::thread::shl::Shl;

/// The limbs of the calling warp's stretch.
#[inline(always)]
pub fn limbwise<S: Stride>(batches: Batches<'_, 32, S>) {
    limbwise::batch::<Shl, S>(batches);
}
