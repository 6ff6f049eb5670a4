//! Quotients and remainders by rows (School; Knuth): [`division`](super::division) says how, and
//! at what cost.

use super::{Batches, division};
use crate::gpu::memory::Stride;

/// The numbers that fall to the calling thread.
#[inline(always)]
pub fn school<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        let (q, r) = (work.r, work.s);
        let flag = division::number(q, r, work.a, work.b, work.scratch);
        work.carry.set(flag);
    }
}
