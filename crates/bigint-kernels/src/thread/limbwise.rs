//! What operations share whose every limb comes from few limbs of the operands, and
//! from no carry (Limbwise): a limb at a time, by the thread that has the number.
//!
//! Cost: an operation's own, a limb; four limbs are stored at once where they can be.
//! No scratch.

use super::{Batches, CHUNK};
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;

/// One limb of a result: what both levels must know of an operation.
pub trait Limbwise {
    /// What all limbs of a number need to know of its operands: by how much it is
    /// shifted, say.
    type Plan: Copy;

    /// The plan of the number with these operands. What an operation does not have is a
    /// number without limbs.
    fn plan<S: Stride>(operands: [Number<S>; 3]) -> Self::Plan;

    /// Limb `at`.
    fn limb<S: Stride>(operands: [Number<S>; 3], plan: Self::Plan, at: u32) -> Limb;
}

/// The numbers that fall to the calling thread.
#[inline(always)]
pub fn numbers<O: Limbwise, S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        let operands = [work.a, work.b, work.c];
        let plan = O::plan(operands);
        let limb = |at| O::limb(operands, plan, at);
        let mut at = 0;
        while at < work.r.width() {
            let limbs = [limb(at), limb(at + 1), limb(at + 2), limb(at + 3)];
            work.r.set_limbs(at, limbs);
            at += CHUNK;
        }
    }
}
