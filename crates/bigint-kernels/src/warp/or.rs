//! Disjunction (Limbwise), with a warp on a stretch of the batch. [`limbwise`](super::limbwise)
//! explains the method and its cost.

use super::{Batches, limbwise};
use crate::gpu::memory::Stride;
use crate::thread::or::Or;

/// Computes the limbs of the calling warp's stretch.
#[inline(always)]
pub fn limbwise<S: Stride>(batches: Batches<'_, 32, S>) {
    limbwise::batch::<Or, S>(batches);
}
