//! Addition, limb after limb (Ripple).
//!
//! With `B` = 2^32 and `c[0] = 0`, `r[j] = (a[j] + b[j] + c[j]) mod B`, and the carry `c[j+1]` is
//! what that cuts off. A sum of two limbs and a carry is at most `2B - 1`, so every carry is 0
//! or 1. Operands are zero-extended to the result's width.
//!
//! Cost: one instruction of a carry chain for each limb, in chunks of four limbs. No scratch. `r`
//! may be an operand, as a chunk is read before it is written.

use super::{Batches, CHUNK, pick};
use crate::gpu::carry;
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;

/// Computes the sums that fall to the calling thread.
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

/// Computes a sum or difference in chunks. `chunk` computes one from limbs of `a` and `b` and the
/// carry or borrow of the chunk below. Returns the carry or borrow out of the top limb.
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
        // The operands have zeros above the top limb, so the limb above it shows the carry or
        // borrow.
        carry = if left < CHUNK {
            pick(limbs, left) & 1
        } else {
            out
        };
        at += CHUNK;
    }
    carry
}
