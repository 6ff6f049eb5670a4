//! Differences modulo `m` (Scan), computed by lanes of a warp. [`crate::thread::mod_sub`]
//! explains the maths, and [`lookahead`] the borrows.
//!
//! Cost: two passes, of two and of four votes for a limb of each lane. No scratch. `r` overlaps
//! no operand.

use super::Batches;
use super::add::Sum;
use super::held::{Held, either};
use super::lookahead;
use super::sub::Difference;
use crate::gpu::memory::Stride;

/// Computes the differences that fall to the calling lane's group.
#[inline(always)]
pub fn scan<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        let (group, r, m) = (work.group, work.r, work.c);
        // Above `m` both operands are zero.
        let (a, b) = (work.a.part(0, m.width()), work.b.part(0, m.width()));
        if let Some(held) = Held::of(&work) {
            let (difference, under) = held.chain::<Difference>(held.load(a), held.load(b), 0);
            let (more, _) = held.chain::<Sum>(difference, held.load(m), 0);
            held.store(r, either(under == 1, difference, more));
            continue;
        }
        let (mut carry, mut borrow) = (0, 0);
        let mut at = group.lane();
        while at - group.lane() < m.width() {
            let (_, under) =
                lookahead::chunk::<Difference, _>(group, a.limb(at), b.limb(at), borrow);
            borrow = lookahead::out::<LANES>(under);
            at += LANES;
        }
        let mask = borrow.wrapping_neg();
        (borrow, at) = (0, group.lane());
        while at - group.lane() < r.width() {
            let (difference, under) =
                lookahead::chunk::<Difference, _>(group, a.limb(at), b.limb(at), borrow);
            let more = m.limb(at) & mask;
            let (limb, over) = lookahead::chunk::<Sum, _>(group, difference, more, carry);
            r.set(at, if at < m.width() { limb } else { 0 });
            (carry, borrow) = (
                lookahead::out::<LANES>(over),
                lookahead::out::<LANES>(under),
            );
            at += LANES;
        }
    }
}
