//! Zeros below the lowest 1 (Scan): limb `j`, where it is not zero, says `32 j` and the zeros
//! below its lowest 1; the lowest such limb's word is the least.
//!
//! [`scan`](super::scan) says how, and at what cost.

use super::Batches;
use super::scan::{self, Scan};
use crate::gpu::memory::Stride;
use bigint_core::{LIMB_BITS, Limb, Operation};

/// The zeros below the lowest 1.
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

/// The numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    scan::numbers::<TrailingZeros, S>(batches);
}
