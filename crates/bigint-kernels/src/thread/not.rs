//! Complement (Limbwise): `r[j] = !a[j]`. The operand is zero-extended.
//!
//! [`limbwise`](super::limbwise) explains the method and its cost.

use super::Batches;
use super::limbwise::{self, Limbwise};
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;

/// The operation `!a`, limb by limb.
pub struct Not;

impl Limbwise for Not {
    const GUIDE: Option<usize> = None;

    const IN_FOURS: bool = true;

    type Plan = ();

    #[inline(always)]
    fn plan(_: Limb) {}

    #[inline(always)]
    fn limb<S: Stride>([a, ..]: [Number<S>; 3], (): (), at: u32) -> Limb {
        !a.limb(at)
    }

    #[inline(always)]
    fn four<S: Stride>([a, ..]: [Number<S>; 3], (): (), at: u32) -> [Limb; 4] {
        a.fours::<4, true>(at).map(|limb| !limb)
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn limbwise<S: Stride>(batches: Batches<'_, S>) {
    limbwise::numbers::<Not, S>(batches);
}
