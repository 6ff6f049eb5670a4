//! Sums modulo `m` (Scan), computed by lanes of a warp. [`crate::thread::mod_add`] explains the
//! maths, and [`lookahead`] the carries.
//!
//! Cost: two passes, each of four votes for a limb of each lane. No scratch. `r` overlaps no
//! operand.

use super::Batches;
use super::add::Sum;
use super::held::{Held, either};
use super::lookahead;
use super::sub::Difference;
use crate::gpu::memory::Stride;

/// Computes the sums that fall to the calling lane's group.
#[inline(always)]
pub fn scan<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        let (group, r, m) = (work.group, work.r, work.c);
        // Above `m` both operands are zero.
        let (a, b) = (work.a.part(0, m.width()), work.b.part(0, m.width()));
        if let Some(held) = Held::of(&work) {
            let (sum, over) = held.chain::<Sum>(held.load(a), held.load(b), 0);
            let (less, under) = held.chain::<Difference>(sum, held.load(m), 0);
            held.store(r, either(under & !over & 1 == 1, less, sum));
            continue;
        }
        let (mut carry, mut borrow) = (0, 0);
        let mut at = group.lane();
        while at - group.lane() < m.width() {
            let (sum, over) = lookahead::chunk::<Sum, _>(group, a.limb(at), b.limb(at), carry);
            let (_, under) = lookahead::chunk::<Difference, _>(group, sum, m.limb(at), borrow);
            (carry, borrow) = (
                lookahead::out::<LANES>(over),
                lookahead::out::<LANES>(under),
            );
            at += LANES;
        }
        let mask = (borrow & !carry & 1).wrapping_sub(1);
        (carry, borrow, at) = (0, 0, group.lane());
        while at - group.lane() < r.width() {
            let (sum, over) = lookahead::chunk::<Sum, _>(group, a.limb(at), b.limb(at), carry);
            let less = m.limb(at) & mask;
            let (limb, under) = lookahead::chunk::<Difference, _>(group, sum, less, borrow);
            r.set(at, if at < m.width() { limb } else { 0 });
            (carry, borrow) = (
                lookahead::out::<LANES>(over),
                lookahead::out::<LANES>(under),
            );
            at += LANES;
        }
    }
}
