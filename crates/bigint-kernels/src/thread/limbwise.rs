//! Operations in which each limb of the result depends on a few limbs of the operands and on no
//! carry (Limbwise). A thread computes the limbs of its number one by one.
//!
//! Cost: that of the operation for each limb. Four limbs are stored at once where that is possible.
//! No scratch.

use super::{Batches, CHUNK};
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;

/// An operation limb by limb, as threads and warps compute it.
pub trait Limbwise {
    /// The index of the operand that is a guide, if there is one: a value for each number, such as
    /// the bits of a shift, that applies to all of its limbs.
    const GUIDE: Option<usize>;

    /// Whether [`four`](Self::four) computes four limbs together.
    const IN_FOURS: bool = false;

    /// The values, the same for all limbs of a number, that its limbs depend on.
    type Plan: Copy;

    /// The plan of a number whose guide has this [`value`], which is zero if there is no guide.
    fn plan(guide: Limb) -> Self::Plan;

    /// Limb `at` of the result.
    fn limb<S: Stride>(operands: [Number<S>; 3], plan: Self::Plan, at: u32) -> Limb;

    /// Limbs `at .. at + 4` of the result, where `at` is a multiple of 4 and all operands except
    /// [the guide](Self::GUIDE) are [in fours](Number::in_fours).
    #[inline(always)]
    fn four<S: Stride>(operands: [Number<S>; 3], plan: Self::Plan, at: u32) -> [Limb; 4] {
        [0, 1, 2, 3].map(|i| Self::limb(operands, plan, at + i))
    }

    /// Whether a limb of the result depends only on the limbs [at the same place](Self::in_place)
    /// of the operands that are no guide.
    const IS_IN_PLACE: bool = false;

    /// Whether [`in_place`](Self::in_place) needs the limb of operand 0, and that of operand 1.
    #[inline(always)]
    fn wants(_: Self::Plan) -> [bool; 2] {
        [true, false]
    }

    /// Limb `at` of the result, from the limbs `a` and `b` at the same place.
    #[inline(always)]
    fn in_place(_: Self::Plan, _: u32, a: Limb, _: Limb) -> Limb {
        a
    }

    /// Limbs `at .. at + 4` of the result, for operands whose limbs are neighbours. Places below
    /// limb 0 wrap around, and their results may be anything.
    #[inline(always)]
    fn any_four<S: Stride>(operands: [Number<S>; 3], plan: Self::Plan, at: u32) -> [Limb; 4] {
        [0, 1, 2, 3].map(|i| Self::limb(operands, plan, at.wrapping_add(i)))
    }
}

/// The value of a number if one limb holds it, else all ones.
#[inline(always)]
pub fn value<S: Stride>(number: Number<S>) -> Limb {
    let (mut above, mut at) = (0, 1);
    while at < number.width() {
        above |= number.limb(at);
        at += 1;
    }
    if above == 0 {
        number.limb(0)
    } else {
        Limb::MAX
    }
}

/// The plan of the number with these operands. Operands that the operation does not have are
/// numbers without limbs.
#[inline(always)]
pub fn plan<O: Limbwise, S: Stride>(operands: [Number<S>; 3]) -> O::Plan {
    O::plan(match O::GUIDE {
        Some(operand) => value(operands[operand]),
        None => 0,
    })
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn numbers<O: Limbwise, S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        let operands = [work.a, work.b, work.c];
        let plan = plan::<O, S>(operands);
        let limb = |at| O::limb(operands, plan, at);
        let mut at = 0;
        while at < work.r.width() {
            let limbs = [limb(at), limb(at + 1), limb(at + 2), limb(at + 3)];
            work.r.set_limbs(at, limbs);
            at += CHUNK;
        }
    }
}
