//! Multiplication, full or cut to the result's width.

pub mod fft;

use super::Batches;
use crate::gpu::memory::Stride;

/// By a transform over the complex numbers.
#[inline(always)]
pub fn fft<const THREADS: u32, S: Stride>(batches: Batches<'_, THREADS, S>) {
    batches.for_each(
        #[inline(always)]
        |work| fft::product(work),
    );
}
