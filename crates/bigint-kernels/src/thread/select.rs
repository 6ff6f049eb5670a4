//! Selection of one of two numbers by a mask (Limbwise): `r[j] = a[j]` if the mask is not zero,
//! else `b[j]`.
//!
//! [`limbwise`](super::limbwise) explains the method and its cost.

use super::Batches;
use super::limbwise::{self, Limbwise};
use crate::gpu::memory::{Number, Stride};
use bigint_core::{Limb, Operation};

/// The selection, limb by limb.
pub struct Select;

impl Limbwise for Select {
    const GUIDE: Option<usize> = Operation::Select.guide();

    const IN_FOURS: bool = true;

    type Plan = bool;

    #[inline(always)]
    fn plan(guide: Limb) -> bool {
        guide != 0
    }

    #[inline(always)]
    fn limb<S: Stride>([a, b, _]: [Number<S>; 3], is_first: bool, at: u32) -> Limb {
        if is_first { a.limb(at) } else { b.limb(at) }
    }

    #[inline(always)]
    fn four<S: Stride>([a, b, _]: [Number<S>; 3], is_first: bool, at: u32) -> [Limb; 4] {
        let number = if is_first { a } else { b };
        number.fours::<4, true>(at)
    }

    const IS_IN_PLACE: bool = true;

    #[inline(always)]
    fn wants(is_first: bool) -> [bool; 2] {
        [is_first, !is_first]
    }

    #[inline(always)]
    fn in_place(is_first: bool, _: u32, a: Limb, b: Limb) -> Limb {
        if is_first { a } else { b }
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn limbwise<S: Stride>(batches: Batches<'_, S>) {
    limbwise::numbers::<Select, S>(batches);
}
