//! Equality (Scan): 1 if `a = b`, else 0. The word of a place where limbs differ is 1.
//!
//! [`scan`](super::scan) explains the method and its cost.

use super::Batches;
use super::scan::{self, Scan};
use crate::gpu::memory::Stride;
use bigint_core::{Limb, Operation};

/// Whether two numbers are equal.
pub struct Equal;

impl Scan for Equal {
    const OPERATION: Operation = Operation::Equal;
    const NOTHING: Limb = 0;
    const SETTLES: bool = true;

    #[inline(always)]
    fn word(x: Limb, y: Limb, _: u32) -> Limb {
        Limb::from(x != y)
    }

    #[inline(always)]
    fn both(first: Limb, second: Limb) -> Limb {
        first | second
    }

    #[inline(always)]
    fn answer(word: Limb, _: u32) -> Limb {
        1 - word
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    scan::numbers::<Equal, S>(batches);
}
