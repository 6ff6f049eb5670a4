//! The number of ones among the bits (Scan). The word of a limb is the number of its ones, and
//! words are summed.
//!
//! [`scan`](super::scan) explains the method and its cost.

use super::Batches;
use super::scan::{self, Scan};
use crate::gpu::memory::Stride;
use bigint_core::{Limb, Operation};

/// The number of ones.
pub struct CountOnes;

impl Scan for CountOnes {
    const OPERATION: Operation = Operation::CountOnes;
    const NOTHING: Limb = 0;
    const SETTLES: bool = false;

    #[inline(always)]
    fn word(x: Limb, _: Limb, _: u32) -> Limb {
        x.count_ones()
    }

    #[inline(always)]
    fn both(first: Limb, second: Limb) -> Limb {
        first + second
    }

    #[inline(always)]
    fn answer(word: Limb, _: u32) -> Limb {
        word
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    scan::numbers::<CountOnes, S>(batches);
}
