//! Subtraction of a batch.

use bigint_core::Limb;

use super::linear::apply;
use super::packed::Linear;
use super::{Cpu, words};
use crate::reference::compare::order;
use crate::{Error, Numbers, NumbersMut};

/// Limb after limb.
pub(super) struct Sub;

impl Linear for Sub {
    const SUB: bool = true;

    #[inline(always)]
    fn words(x: u64, y: u64, carry: bool) -> (u64, bool) {
        x.borrowing_sub(y, carry)
    }

    #[inline(always)]
    fn limbs(x: Limb, y: Limb, carry: bool) -> (Limb, bool) {
        x.borrowing_sub(y, carry)
    }

    #[inline(always)]
    fn lanes(x: Limb, y: Limb, carry: Limb) -> (Limb, Limb) {
        let difference = x.wrapping_sub(y);
        let r = difference.wrapping_sub(carry);
        (r, Limb::from(x < y) | Limb::from(difference < carry))
    }
}

/// `r = |a - b|` of one number.
#[inline(always)]
pub(super) fn abs_diff(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    let (greater, less) = if order(a, b).is_lt() { (b, a) } else { (a, b) };
    let greater = &greater[..greater.len().min(r.len())];
    let less = &less[..less.len().min(r.len())];
    words::number::<Sub>(r, greater, less);
}

pub(super) fn sub(
    cpu: &Cpu,
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    borrow: Option<&mut [Limb]>,
) -> Result<(), Error> {
    apply::<Sub>(cpu, r, a, b, borrow)
}
