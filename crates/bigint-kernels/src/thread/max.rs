//! The greater of two numbers (Scan): `a` where `a > b`, else `b`.
//!
//! Cost: a [comparison](super::compare), which mostly ends at the highest limbs, and one
//! pass. No scratch.

use super::Batches;
use super::compare::{Compare, GREATER};
use super::scan;
use crate::gpu::memory::Stride;

/// The numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        let order = scan::number::<Compare>(work.a, work.b);
        let greatest = if order == GREATER { work.a } else { work.b };
        scan::copy(work.r, greatest);
    }
}
