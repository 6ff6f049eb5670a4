//! Testing one bit: `r` is bit `k` of `a`, where `k` is the number `place`. Bits above the width of
//! `a` are 0.
//!
//! Operands have any widths. **Scratch**: none.

use bigint_core::Limb;

use super::{limb, set};

/// Looks at one limb.
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
