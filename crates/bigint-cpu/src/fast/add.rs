//! Addition of a batch.

use bigint_core::Limb;

use super::Cpu;
use super::linear::apply;
use super::packed::Linear;
use crate::{Error, Numbers, NumbersMut};

/// Limb after limb.
pub(super) struct Add;

impl Linear for Add {
    const SUB: bool = false;

    #[inline(always)]
    fn words(x: u64, y: u64, carry: bool) -> (u64, bool) {
        x.carrying_add(y, carry)
    }

    #[inline(always)]
    fn limbs(x: Limb, y: Limb, carry: bool) -> (Limb, bool) {
        x.carrying_add(y, carry)
    }

    #[inline(always)]
    fn lanes(x: Limb, y: Limb, carry: Limb) -> (Limb, Limb) {
        let sum = x.wrapping_add(y);
        let r = sum.wrapping_add(carry);
        (r, Limb::from(sum < x) | Limb::from(r < sum))
    }
}

pub(super) fn add(
    cpu: &Cpu,
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    carry: Option<&mut [Limb]>,
) -> Result<(), Error> {
    apply::<Add>(cpu, r, a, b, carry)
}
