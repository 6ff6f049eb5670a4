//! Shift to the right (Limbwise): with `bits = 32 q + s`, `0 <= s < 32`,
//! `r[j] = (floor(a[j + q] / 2^s) + a[j + q + 1] 2^(32 - s)) mod 2^32`.
//!
//! [`limbwise`](super::limbwise) says how, and at what cost.

use super::Batches;
use super::limbwise::{self, Limbwise};
use super::place::{Place, word};
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;

/// A limb of the result.
pub struct Shr;

impl Limbwise for Shr {
    const TELLS: Option<usize> = Some(1);

    type Plan = Place;

    #[inline(always)]
    fn plan(told: Limb) -> Place {
        Place::of(told)
    }

    #[inline(always)]
    fn limb<S: Stride>([a, ..]: [Number<S>; 3], by: Place, at: u32) -> Limb {
        let from = at + by.limbs;
        (word(a.limb(from + 1), a.limb(from)) >> by.bits) as Limb
    }
}

/// The numbers that fall to the calling thread.
#[inline(always)]
pub fn limbwise<S: Stride>(batches: Batches<'_, S>) {
    limbwise::numbers::<Shr, S>(batches);
}
