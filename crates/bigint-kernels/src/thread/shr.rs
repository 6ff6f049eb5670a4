//! Shift to the right (Limbwise): with `bits = 32 q + s` and `0 <= s < 32`,
//! `r[j] = (floor(a[j + q] / 2^s) + a[j + q + 1] 2^(32 - s)) mod 2^32`.
//!
//! [`limbwise`](super::limbwise) explains the method and its cost.

use super::Batches;
use super::limbwise::{self, Limbwise};
use super::place::{BitPlace, five, word};
use crate::gpu::memory::{Number, Stride};
use bigint_core::{Limb, Operation};

/// The shift, limb by limb.
pub struct Shr;

impl Limbwise for Shr {
    const GUIDE: Option<usize> = Operation::Shr.guide();

    const IN_FOURS: bool = true;

    type Plan = BitPlace;

    #[inline(always)]
    fn plan(guide: Limb) -> BitPlace {
        BitPlace::of(guide)
    }

    #[inline(always)]
    fn limb<S: Stride>([a, ..]: [Number<S>; 3], by: BitPlace, at: u32) -> Limb {
        let from = at + by.limbs;
        (word(a.limb(from + 1), a.limb(from)) >> by.bits) as Limb
    }

    #[inline(always)]
    fn four<S: Stride>([a, ..]: [Number<S>; 3], by: BitPlace, at: u32) -> [Limb; 4] {
        let limbs = five(a, at + by.limbs);
        [0, 1, 2, 3].map(|i| (word(limbs[i + 1], limbs[i]) >> by.bits) as Limb)
    }

    #[inline(always)]
    fn any_four<S: Stride>([a, ..]: [Number<S>; 3], by: BitPlace, at: u32) -> [Limb; 4] {
        let limbs: [Limb; 5] = a.near(at.wrapping_add(by.limbs));
        [0, 1, 2, 3].map(|i| (word(limbs[i + 1], limbs[i]) >> by.bits) as Limb)
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn limbwise<S: Stride>(batches: Batches<'_, S>) {
    limbwise::numbers::<Shr, S>(batches);
}
