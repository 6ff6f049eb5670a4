//! One bit: `r` is bit `k` of `a`, `k` the number `place`; 0 above the width of `a`.
//!
//! Operands of any widths; no scratch.

use bigint_core::Limb;

use super::{limb, set};

/// One limb looked at.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::test_bit::limbwise(&mut r, &[0, 4], &[34]);
/// assert_eq!(r, [1]);
/// ```
pub fn limbwise(r: &mut [Limb], a: &[Limb], place: &[Limb]) {
    let (limbs, bits) = super::place(place);
    set(r, limb(a, limbs) >> bits & 1);
}
