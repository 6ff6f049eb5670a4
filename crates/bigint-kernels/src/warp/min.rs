//! The lesser of two numbers (Scan), computed by lanes of a warp.
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
        let in_fours = scan::are_in_fours(work.a, work.b);
        // Four limbs at a time, reading one of both and copying it takes less time than holding both.
        if !in_fours && let Some(held) = Held::of(&work) {
            let (a, b) = (held.load(work.a), held.load(work.b));
            held.store(work.r, either(held.order(a, b) == GREATER, a, b));
            continue;
        }
        let order = scan::number::<Compare, LANES>(work.group, work.a, work.b);
        let least = if order == GREATER { work.b } else { work.a };
        scan::copy(work.group, work.r, least, in_fours);
    }
}
