//! Disjunction, bit by bit (Limbwise): `r[j] = a[j] | b[j]`, operands zero-extended.
//!
//! [`limbwise`](super::limbwise) says how, and at what cost.

use super::Batches;
use super::limbwise::{self, Limbwise};
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;

/// A limb of `a | b`.
pub struct Or;

impl Limbwise for Or {
    const GUIDE: Option<usize> = None;

    type Plan = ();

    #[inline(always)]
    fn plan(_: Limb) {}

    #[inline(always)]
    fn limb<S: Stride>([a, b, _]: [Number<S>; 3], (): (), at: u32) -> Limb {
        a.limb(at) | b.limb(at)
    }
}

/// The numbers that fall to the calling thread.
#[inline(always)]
pub fn limbwise<S: Stride>(batches: Batches<'_, S>) {
    limbwise::numbers::<Or, S>(batches);
}
