//! Two numbers in order (Scan), computed by lanes of a warp.
//!
//! Cost: a [comparison](crate::thread::compare), which mostly ends at the highest limbs, and
//! one pass over the limbs. No scratch.

use super::held::{Held, either};
use super::{Batches, scan};
use crate::gpu::memory::Stride;
use crate::thread::compare::{Compare, GREATER};

/// Computes the numbers that fall to the calling lane's group.
#[inline(always)]
pub fn scan<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        if let Some(held) = Held::of(&work) {
            let (a, b) = (held.load(work.a), held.load(work.b));
            let is_swapped = held.order(a, b) == GREATER;
            held.store(work.r, either(is_swapped, a, b));
            held.store(work.s, either(is_swapped, b, a));
            continue;
        }
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
