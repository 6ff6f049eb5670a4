//! One bit of each number set (Limbwise): with `place = 32 q + s`, `0 <= s < 32`,
//! `r[j] = a[j]`, but `r[q] = a[q] | 2^s`.
//!
//! [`limbwise`](super::limbwise) says how, and at what cost.

use super::Batches;
use super::limbwise::{self, Limbwise};
use super::place::Place;
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;

/// A limb of the result.
pub struct SetBit;

impl Limbwise for SetBit {
    const TELLS: Option<usize> = Some(1);

    type Plan = Place;

    #[inline(always)]
    fn plan(told: Limb) -> Place {
        Place::of(told)
    }

    #[inline(always)]
    fn limb<S: Stride>([a, ..]: [Number<S>; 3], place: Place, at: u32) -> Limb {
        a.limb(at) | Limb::from(at == place.limbs) << place.bits
    }
}

/// The numbers that fall to the calling thread.
#[inline(always)]
pub fn limbwise<S: Stride>(batches: Batches<'_, S>) {
    limbwise::numbers::<SetBit, S>(batches);
}
