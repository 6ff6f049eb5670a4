//! Setting one bit: `r = (a | 2^k) mod 2^(32 w)`, where `k` is the number `place` and
//! `w = r.len()`.
//!
//! Operands have any widths. **Scratch**: none.

use bigint_core::Limb;

use super::copy;

/// Copies the number and changes one limb.
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
