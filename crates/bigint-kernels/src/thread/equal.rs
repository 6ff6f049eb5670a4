//! Equality (Scan): 1 where `a = b`, else 0. A limb that differs says 1, and that is all there
//! is to know.
//!
//! [`scan`](super::scan) says how, and at what cost.

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

/// The numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    scan::numbers::<Equal, S>(batches);
}
