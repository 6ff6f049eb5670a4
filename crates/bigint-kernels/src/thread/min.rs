//! The lesser of two numbers (Scan): `b` where `a > b`, else `a`.
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
        let least = if order == GREATER { work.b } else { work.a };
        scan::copy(work.r, least);
    }
}
