//! Addition, limb after limb (Ripple).
//!
//! With `c[0] = 0`, `r[j] = (a[j] + b[j] + c[j]) mod B` and `c[j+1]` is what was
//! cut off; `B` = 2^32. A sum of two limbs and a carry is at most `2B - 1`, so
//! every carry is 0 or 1. Operands are zero-extended to the result's width.
//!
//! Cost: one carry-chain instruction a limb, in chunks of four. No scratch.
//! `r` may be an operand: a chunk is read before it is written.

use super::{Batches, CHUNK, pick};
use crate::gpu::carry;
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;

/// The sums that fall to the calling thread.
#[inline(always)]
pub fn ripple<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        work.carry.set(number(work.r, work.a, work.b));
    }
}

/// `r = a + b`, cut to the width of `r`; returns the carry out of its top limb.
#[inline(always)]
pub fn number(r: Number<impl Stride>, a: Number<impl Stride>, b: Number<impl Stride>) -> Limb {
    chain(r, a, b, |a, b, carry| carry::add(a, b, carry))
}

/// The sum or difference that `chunk` gives, chunk by chunk, of limbs of `a` and `b` and what the chunk
/// below carries or borrows; returns what goes out of the top limb.
#[inline(always)]
pub(super) fn chain(
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
    chunk: impl Fn([Limb; 4], [Limb; 4], Limb) -> ([Limb; 4], Limb),
) -> Limb {
    let (a, b) = (a.part(0, r.width()), b.part(0, r.width()));
    let mut carry = 0;
    let mut at = 0;
    while at < r.width() {
        let (limbs, out) = chunk(a.limbs(at), b.limbs(at), carry);
        r.set_limbs(at, limbs);
        let left = r.width() - at;
        // Above the top limb there are zeros, and then what carries or is borrowed.
        carry = if left < CHUNK {
            pick(limbs, left) & 1
        } else {
            out
        };
        at += CHUNK;
    }
    carry
}
