//! Setting one bit of each number (Limbwise): with `place = 32 q + s` and `0 <= s < 32`,
//! `r[j] = a[j]`, except `r[q] = a[q] | 2^s`.
//!
//! [`limbwise`](super::limbwise) explains the method and its cost.

use super::Batches;
use super::limbwise::{self, Limbwise};
use super::place::BitPlace;
use crate::gpu::memory::{Number, Stride};
use bigint_core::{Limb, Operation};

/// The operation, limb by limb.
pub struct SetBit;

impl Limbwise for SetBit {
    const GUIDE: Option<usize> = Operation::SetBit.guide();

    const IN_FOURS: bool = true;

    type Plan = BitPlace;

    #[inline(always)]
    fn plan(guide: Limb) -> BitPlace {
        BitPlace::of(guide)
    }

    #[inline(always)]
    fn limb<S: Stride>([a, ..]: [Number<S>; 3], place: BitPlace, at: u32) -> Limb {
        a.limb(at) | Limb::from(at == place.limbs) << place.bits
    }

    #[inline(always)]
    fn four<S: Stride>([a, ..]: [Number<S>; 3], place: BitPlace, at: u32) -> [Limb; 4] {
        let mut limbs = a.fours::<4, true>(at);
        for (i, limb) in (at..).zip(&mut limbs) {
            *limb |= Limb::from(i == place.limbs) << place.bits;
        }
        limbs
    }

    const IS_IN_PLACE: bool = true;

    #[inline(always)]
    fn in_place(place: BitPlace, at: u32, a: Limb, _: Limb) -> Limb {
        a | Limb::from(at == place.limbs) << place.bits
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn limbwise<S: Stride>(batches: Batches<'_, S>) {
    limbwise::numbers::<SetBit, S>(batches);
}
