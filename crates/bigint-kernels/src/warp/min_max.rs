//! Two numbers in order (Scan), computed by lanes of a warp.
//!
//! Cost: a [comparison](crate::thread::compare), which mostly ends at the highest limbs, and
//! one pass over the limbs. No scratch.

use super::{Batches, scan};
use crate::gpu::memory::Stride;
use crate::thread::compare::{Compare, GREATER};

/// Computes the numbers that fall to the calling lane's group.
#[inline(always)]
pub fn scan<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        let order = scan::number::<Compare, LANES>(work.group, work.a, work.b);
        let (least, greatest) = if order == GREATER {
            (work.b, work.a)
        } else {
            (work.a, work.b)
        };
        let in_fours = scan::are_in_fours(work.a, work.b);
        scan::copy(work.group, work.r, least, in_fours);
        scan::copy(work.group, work.s, greatest, in_fours);
    }
}
