//! Addition, a chunk at a time (CarryLookahead; Langer, Bringgaard).
//!
//! Lane `t` adds its two limbs. It generates a carry where that overflows and
//! propagates one where the sum is all ones; never both. Let the bits of `g` and
//! `p` say so for every lane, and let `c` be the chunk's carry in. The bits of
//!
//! ```text
//! w = ((2 g + c) + p) xor p
//! ```
//!
//! are the carries *into* the lanes: in the addition, a bit of `2g + c` that meets
//! a run of ones in `p` ripples to the run's end and leaves zeros behind, which
//! the xor turns into ones; elsewhere the bits just pass, as `2g` and `p` have no
//! one in common that a carry reaches. Bit `k` of `w` is therefore the carry out
//! of the `k` lowest limbs, whatever the lanes above hold.
//!
//! Cost: two votes a chunk. No scratch. `r` may be an operand.

use crate::gpu::memory::{Number, Stride};
use crate::gpu::warp::Group;
use bigint_core::Limb;

/// `x + y + carry` of one chunk, and the word of carries into its lanes; bit
/// `LANES` is the carry out. `carry` is 0 or 1.
#[inline(always)]
pub fn chunk<const LANES: u32>(group: Group<LANES>, x: Limb, y: Limb, carry: Limb) -> (Limb, u64) {
    let sum = x.wrapping_add(y);
    let generate = group.ballot(sum < x);
    let propagate = group.ballot(sum == Limb::MAX);
    let carries = ((generate << 1 | u64::from(carry)) + propagate) ^ propagate;
    (
        sum.wrapping_add((carries >> group.lane()) as Limb & 1),
        carries,
    )
}

/// `r = a + b`, cut to the width of `r`; returns the carry out of its top limb,
/// in every lane.
#[inline(always)]
pub fn carry_lookahead<const LANES: u32>(
    group: Group<LANES>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
) -> Limb {
    let mut carry = 0;
    let mut at = 0;
    while at < r.width() {
        let own = at + group.lane();
        let (sum, carries) = chunk(group, a.limb(own), b.limb(own), carry);
        r.set(own, sum);
        carry = (carries >> LANES.min(r.width() - at)) as Limb & 1;
        at += LANES;
    }
    carry
}
