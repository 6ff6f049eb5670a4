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
    /// The operand, if there is one, that is a guide: of a number it says one thing that holds for
    /// all limbs, as by how much it is shifted.
    const GUIDE: Option<usize>;

    /// Whether [`four`](Self::four) says how four limbs are computed together.
    const IN_FOURS: bool = false;

    /// What all limbs of a number need to know of its operands.
    type Plan: Copy;

    /// The plan of the number whose operand has this [`value`]; zero where none is a guide.
    fn plan(guide: Limb) -> Self::Plan;

    /// Limb `at`.
    fn limb<S: Stride>(operands: [Number<S>; 3], plan: Self::Plan, at: u32) -> Limb;

    /// Limbs `at .. at + 4`, of which `at` is a multiple, where operands that are not
    /// [the guide](Self::GUIDE) are [in fours](Number::in_fours).
    #[inline(always)]
    fn four<S: Stride>(operands: [Number<S>; 3], plan: Self::Plan, at: u32) -> [Limb; 4] {
        [0, 1, 2, 3].map(|i| Self::limb(operands, plan, at + i))
    }

    /// Whether a limb of the result is made of those [in its place](Self::in_place) in the operands
    /// that are no guide.
    const IS_IN_PLACE: bool = false;

    /// Whether that takes the limbs of operand 0, and of operand 1.
    #[inline(always)]
    fn wants(_: Self::Plan) -> [bool; 2] {
        [true, false]
    }

    /// Limb `at` where those in its place are `a` and `b`.
    #[inline(always)]
    fn in_place(_: Self::Plan, _: u32, a: Limb, _: Limb) -> Limb {
        a
    }

    /// Limbs `at .. at + 4` of numbers whose limbs are neighbours. Places wrap around: what is
    /// below limb 0 may be anything.
    #[inline(always)]
    fn any_four<S: Stride>(operands: [Number<S>; 3], plan: Self::Plan, at: u32) -> [Limb; 4] {
        [0, 1, 2, 3].map(|i| Self::limb(operands, plan, at.wrapping_add(i)))
    }
}

/// The value of a number, or all ones where a limb does not hold it.
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

/// The plan of the number with these operands. What an operation does not have is a number
/// without limbs.
#[inline(always)]
pub fn plan<O: Limbwise, S: Stride>(operands: [Number<S>; 3]) -> O::Plan {
    O::plan(match O::GUIDE {
        Some(operand) => value(operands[operand]),
        None => 0,
    })
}

/// The numbers that fall to the calling thread.
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
