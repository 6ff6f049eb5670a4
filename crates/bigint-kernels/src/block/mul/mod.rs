//! Multiplication by a block. The product is whole, or cut to the result's width.

pub mod fft;

use super::{Batches, Work};
use crate::gpu::memory::Stride;

/// Multiplies by a transform over the complex numbers.
#[inline(always)]
pub fn fft<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    match LANES {
        16 => batches.for_each(
            #[inline(always)]
            |work: Work<32, S>| fft::short::product(work),
        ),
        256 => batches.for_each(
            #[inline(always)]
            |work: Work<128, S>| fft::product::<128, 2, S>(work),
        ),
        512 => batches.for_each(
            #[inline(always)]
            |work: Work<128, S>| fft::product::<128, 4, S>(work),
        ),
        1024 => batches.for_each(
            #[inline(always)]
            |work: Work<128, S>| fft::product::<128, 8, S>(work),
        ),
        _ => batches.for_each(
            #[inline(always)]
            |work: Work<LANES, S>| fft::product::<LANES, 1, S>(work),
        ),
    }
}
