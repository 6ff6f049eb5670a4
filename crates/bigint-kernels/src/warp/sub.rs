//! Subtraction, a chunk at a time (CarryLookahead; Langer, Bringgaard).
//!
//! As addition: lane `t` generates a borrow where its difference is negative, and
//! propagates one where it is zero; never both. With `c` the borrow into the
//! chunk, the bits of `((2 g + c) + p) xor p` are the borrows into the lanes.
//!
//! Cost: two votes a chunk. No scratch. `r` may be an operand.

use crate::gpu::memory::{Number, Stride};
use crate::gpu::warp::Group;
use bigint_core::Limb;

/// `x - y - borrow` of one chunk, and the word of borrows into its lanes; bit
/// `LANES` is the borrow out. `borrow` is 0 or 1.
#[inline(always)]
pub fn chunk<const LANES: u32>(group: Group<LANES>, x: Limb, y: Limb, borrow: Limb) -> (Limb, u64) {
    let difference = x.wrapping_sub(y);
    let generate = group.ballot(x < y);
    let propagate = group.ballot(x == y);
    let borrows = ((generate << 1 | u64::from(borrow)) + propagate) ^ propagate;
    (
        difference.wrapping_sub((borrows >> group.lane()) as Limb & 1),
        borrows,
    )
}

/// `r = a - b` modulo the width of `r`; returns the borrow out of its top limb,
/// in every lane.
#[inline(always)]
pub fn carry_lookahead<const LANES: u32>(
    group: Group<LANES>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
) -> Limb {
    let mut borrow = 0;
    let mut at = 0;
    while at < r.width() {
        let own = at + group.lane();
        let (difference, borrows) = chunk(group, a.limb(own), b.limb(own), borrow);
        r.set(own, difference);
        borrow = (borrows >> LANES.min(r.width() - at)) as Limb & 1;
        at += LANES;
    }
    borrow
}
