//! Subtraction, limb after limb (Ripple).
//!
//! With `B` = 2^32 and `c[0] = 0`, `r[j] = (a[j] - b[j] - c[j]) mod B`, and the borrow `c[j+1]`
//! is 1 if that difference is negative, else 0. The difference is at least `-B`, so one borrow
//! is enough. Operands are zero-extended to the result's width.
//!
//! Cost: one instruction of a carry chain for each limb, in chunks of four limbs. No scratch.
//! `r` may be an operand, as a chunk is read before it is written.

use super::Batches;
use super::add::chain;
use crate::gpu::carry;
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;

/// Computes the differences that fall to the calling thread.
#[inline(always)]
pub fn ripple<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        work.carry.set(number(work.r, work.a, work.b));
    }
}

/// `r = a - b` modulo the width of `r`; returns the borrow out of its top limb.
#[inline(always)]
pub fn number(r: Number<impl Stride>, a: Number<impl Stride>, b: Number<impl Stride>) -> Limb {
    chain(r, a, b, |a, b, borrow| carry::sub(a, b, borrow))
}
