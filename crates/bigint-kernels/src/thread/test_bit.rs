//! Reading one bit of each number (Limbwise): with `place = 32 q + s` and `0 <= s < 32`, limb 0 of
//! the result is bit `s` of `a[q]`.
//!
//! Only lanes of a [warp](crate::warp::test_bit) compute it: a thread reads just one limb of a
//! number, and a kernel of threads would never be faster.

use super::limbwise::Limbwise;
use super::place::BitPlace;
use crate::gpu::memory::{Number, Stride};
use bigint_core::{Limb, Operation};

/// The operation, limb by limb.
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
