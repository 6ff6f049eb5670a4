//! Multiplication by a block. The product is whole, or cut to the result's width.

pub mod fft;

use super::{Batches, Work};
use crate::gpu::memory::Stride;

/// Multiplies by a transform over the complex numbers.
#[inline(always)]
pub fn fft<'a, const LANES: u32, S: Stride>(batches: Batches<'a, LANES, S>)
where
    Batches<'a, LANES, S>: Transform,
{
    batches.multiply();
}

/// The batches of a launch with a number of lanes for which there is a transform.
pub trait Transform {
    /// Computes the products.
    fn multiply(self);
}

/// Implements [`Transform`] for numbers of lanes, with the threads, the parts and the radix of the first
/// pass of their plans.
macro_rules! transforms {
    ($($lanes:literal: $threads:literal $parts:literal $first:literal,)*) => {$(
        impl<S: Stride> Transform for Batches<'_, $lanes, S> {
            #[inline(always)]
            fn multiply(self) {
                self.for_each(
                    #[inline(always)]
                    |work: Work<$threads, S>| {
                        fft::product::<$lanes, $threads, $parts, $first, S>(work);
                    },
                );
            }
        }
    )*};
}

transforms! {
    32: 32 1 8,
    64: 64 1 8,
    80: 96 1 10,
    96: 96 1 12,
    128: 128 1 8,
    160: 160 1 10,
    192: 192 1 12,
    256: 128 2 8,
    320: 160 2 10,
    384: 192 2 12,
    512: 128 4 8,
    640: 160 4 10,
    768: 192 4 12,
    1024: 128 8 8,
}
