//! The number of zeros below the lowest 1 (Scan). The word of a limb `j` that is not zero is
//! `32 j` plus the number of zeros below its lowest 1. The least word is that of the lowest
//! such limb.
//!
//! [`scan`](super::scan) explains the method and its cost.

use super::Batches;
use super::scan::{self, Scan};
use crate::gpu::memory::Stride;
use bigint_core::{LIMB_BITS, Limb, Operation};

/// The number of zeros below the lowest 1.
pub struct TrailingZeros;

impl Scan for TrailingZeros {
    const OPERATION: Operation = Operation::TrailingZeros;
    const NOTHING: Limb = Limb::MAX;
    const SETTLES: bool = false;

    #[inline(always)]
    fn word(x: Limb, _: Limb, at: u32) -> Limb {
        if x == 0 {
            Self::NOTHING
        } else {
            LIMB_BITS as u32 * at + x.trailing_zeros()
        }
    }

    #[inline(always)]
    fn both(first: Limb, second: Limb) -> Limb {
        first.min(second)
    }

    #[inline(always)]
    fn answer(word: Limb, width: u32) -> Limb {
        word.min(LIMB_BITS as u32 * width)
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    scan::numbers::<TrailingZeros, S>(batches);
}
