//! The absolute difference (Scan): `b - a` where `a < b`, else `a - b`.
//!
//! Cost: a [comparison](super::compare), which mostly ends at the highest limbs, and one
//! pass. No scratch.

use super::Batches;
use super::compare::{Compare, LESS};
use super::scan;
use super::sub;
use crate::gpu::memory::Stride;

/// The numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        let order = scan::number::<Compare>(work.a, work.b);
        let (greater, less) = if order == LESS {
            (work.b, work.a)
        } else {
            (work.a, work.b)
        };
        sub::number(work.r, greater, less);
    }
}
