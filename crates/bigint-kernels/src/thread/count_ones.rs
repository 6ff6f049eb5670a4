//! Ones among the bits (Scan): every limb says how many it has, and the words are summed.
//!
//! [`scan`](super::scan) says how, and at what cost.

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

/// The numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    scan::numbers::<CountOnes, S>(batches);
}
