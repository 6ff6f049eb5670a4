//! One bit of each number (Limbwise): with `place = 32 q + s`, `0 <= s < 32`, bit `s` of
//! `a[q]` is limb 0 of the result.
//!
//! Lanes of a [warp](crate::warp::test_bit) have it: of one limb there is nothing for a thread to do
//! that they do not do faster.

use super::limbwise::Limbwise;
use super::place::BitPlace;
use crate::gpu::memory::{Number, Stride};
use bigint_core::{Limb, Operation};

/// A limb of the result.
pub struct TestBit;

impl Limbwise for TestBit {
    const GUIDE: Option<usize> = Operation::TestBit.guide();

    type Plan = BitPlace;

    #[inline(always)]
    fn plan(guide: Limb) -> BitPlace {
        BitPlace::of(guide)
    }

    #[inline(always)]
    fn limb<S: Stride>([a, ..]: [Number<S>; 3], place: BitPlace, at: u32) -> Limb {
        if at == 0 {
            a.limb(place.limbs) >> place.bits & 1
        } else {
            0
        }
    }
}
