//! The absolute difference (Scan), computed by lanes of a warp.
//!
//! Cost: a [comparison](crate::thread::compare), which mostly ends at the highest limbs, and
//! one pass over the limbs. No scratch.

use super::held::{Held, either};
use super::lookahead::number_in_fours;
use super::scan::are_in_fours;
use super::sub::{self, Difference};
use super::{Batches, scan};
use crate::gpu::memory::Stride;
use crate::thread::compare::{Compare, LESS};

/// Computes the numbers that fall to the calling lane's group.
#[inline(always)]
pub fn scan<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        if let Some(held) = Held::of(&work) {
            let (a, b) = (held.load(work.a), held.load(work.b));
            let is_less = held.order(a, b) == LESS;
            let (greater, less) = (either(is_less, a, b), either(is_less, b, a));
            let (difference, _) = held.chain::<Difference>(greater, less, 0);
            held.store(work.r, difference);
            continue;
        }
        let order = scan::number::<Compare, LANES>(work.group, work.a, work.b);
        let (greater, less) = if order == LESS {
            (work.b, work.a)
        } else {
            (work.a, work.b)
        };
        match are_in_fours(work.a, work.b) && work.r.in_fours() {
            true => number_in_fours::<Difference, LANES>(work.group, work.r, greater, less),
            false => sub::number(work.group, work.r, greater, less),
        };
    }
}
