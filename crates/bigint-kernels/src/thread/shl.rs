//! Shift to the left (Limbwise): with `bits = 32 q + s` and `0 <= s < 32`,
//! `r[j] = (a[j - q] 2^s + floor(a[j - q - 1] / 2^(32 - s))) mod 2^32`.
//!
//! [`limbwise`](super::limbwise) explains the method and its cost.

use super::Batches;
use super::limbwise::{self, Limbwise};
use super::place::{BitPlace, five, word};
use crate::gpu::memory::{Number, Stride};
use bigint_core::{LIMB_BITS, Limb, Operation};

/// The shift, limb by limb.
pub struct Shl;

impl Limbwise for Shl {
    const GUIDE: Option<usize> = Operation::Shl.guide();

    const IN_FOURS: bool = true;

    type Plan = BitPlace;

    #[inline(always)]
    fn plan(guide: Limb) -> BitPlace {
        BitPlace::of(guide)
    }

    #[inline(always)]
    fn limb<S: Stride>([a, ..]: [Number<S>; 3], by: BitPlace, at: u32) -> Limb {
        // Places below limb 0 wrap around to places above every number, and read as zero.
        let from = at.wrapping_sub(by.limbs);
        let both = word(a.limb(from), a.limb(from.wrapping_sub(1)));
        (both << by.bits >> LIMB_BITS) as Limb
    }

    #[inline(always)]
    fn four<S: Stride>([a, ..]: [Number<S>; 3], by: BitPlace, at: u32) -> [Limb; 4] {
        let from = at.wrapping_sub(by.limbs).wrapping_sub(1);
        let limbs = five(a, from);
        [0, 1, 2, 3].map(|i| (word(limbs[i + 1], limbs[i]) << by.bits >> LIMB_BITS) as Limb)
    }

    #[inline(always)]
    fn any_four<S: Stride>([a, ..]: [Number<S>; 3], by: BitPlace, at: u32) -> [Limb; 4] {
        let limbs: [Limb; 5] = a.near(at.wrapping_sub(by.limbs).wrapping_sub(1));
        [0, 1, 2, 3].map(|i| (word(limbs[i + 1], limbs[i]) << by.bits >> LIMB_BITS) as Limb)
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn limbwise<S: Stride>(batches: Batches<'_, S>) {
    limbwise::numbers::<Shl, S>(batches);
}
