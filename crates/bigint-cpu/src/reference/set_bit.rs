//! One bit set: `r = (a | 2^k) mod 2^(32 w)`, `k` the number `place`, `w = r.len()`.
//!
//! Operands of any widths; no scratch.

use bigint_core::Limb;

use super::copy;

/// A copy, and one limb of it changed.
///
/// ```
/// let mut r = [0; 2];
/// bigint_cpu::reference::set_bit::limbwise(&mut r, &[7], &[34]);
/// assert_eq!(r, [7, 4]);
/// ```
pub fn limbwise(r: &mut [Limb], a: &[Limb], place: &[Limb]) {
    let (limbs, bits) = super::place(place);
    copy(r, a);
    if let Some(r) = r.get_mut(limbs) {
        *r |= 1 << bits;
    }
}
