//! Length in bits (Scan). The word of a limb `j` that is not zero is `32 (j + 1)` minus the
//! number of zeros above its highest 1. The greatest word is that of the highest such limb.
//!
//! [`scan`](super::scan) explains the method and its cost.

use super::Batches;
use super::scan::{self, Scan};
use crate::gpu::memory::Stride;
use bigint_core::{LIMB_BITS, Limb, Operation};

/// The length of a number in bits.
pub struct BitLength;

impl Scan for BitLength {
    const OPERATION: Operation = Operation::BitLength;
    const NOTHING: Limb = 0;
    const SETTLES: bool = true;

    #[inline(always)]
    fn word(x: Limb, _: Limb, at: u32) -> Limb {
        if x == 0 {
            0
        } else {
            LIMB_BITS as u32 * (at + 1) - x.leading_zeros()
        }
    }

    #[inline(always)]
    fn both(first: Limb, second: Limb) -> Limb {
        first.max(second)
    }

    #[inline(always)]
    fn answer(word: Limb, _: u32) -> Limb {
        word
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    scan::numbers::<BitLength, S>(batches);
}
