//! Subtraction, limb after limb (Ripple).
//!
//! With `c[0] = 0`, `r[j] = (a[j] - b[j] - c[j]) mod B` and `c[j+1]` is 1 where
//! that difference is negative; `B` = 2^32. It is at least `-B`, so every borrow
//! is 0 or 1. Operands are zero-extended to the result's width.
//!
//! Cost: one carry-chain instruction a limb, in chunks of four. No scratch.
//! `r` may be an operand: a chunk is read before it is written.

use super::{Batches, CHUNK, pick};
use crate::gpu::carry;
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;

/// The differences that fall to the calling thread.
#[inline(always)]
pub fn ripple<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        work.carry.set(number(work.r, work.a, work.b));
    }
}

/// `r = a - b` modulo the width of `r`; returns the borrow out of its top limb.
#[inline(always)]
pub fn number(r: Number<impl Stride>, a: Number<impl Stride>, b: Number<impl Stride>) -> Limb {
    let (a, b) = (a.part(0, r.width()), b.part(0, r.width()));
    let mut borrow = 0;
    let mut at = 0;
    while at < r.width() {
        let (difference, out) = carry::sub(a.limbs(at), b.limbs(at), borrow);
        r.set_limbs(at, difference);
        let left = r.width() - at;
        // Above the top limb there are zeros, and then what is borrowed.
        borrow = if left < CHUNK {
            pick(difference, left) & 1
        } else {
            out
        };
        at += CHUNK;
    }
    borrow
}
