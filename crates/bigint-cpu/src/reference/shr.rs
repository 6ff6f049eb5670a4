//! Shift to the right: `r = floor(a / 2^k) mod 2^(32 w)`, where `k` is the number `bits` and
//! `w = r.len()`.
//!
//! With `k = 32 q + s`, `0 <= s < 32`, `r[i]` is the lower half of the two limbs
//! `a[i + q + 1], a[i + q]` shifted by `s`. Operands have any widths. **Scratch**: none.

use bigint_core::Limb;

use super::{limb, place, word};

/// Shifts limb after limb.
///
/// ```
/// let mut r = [0; 2];
/// bigint_cpu::reference::shr::limbwise(&mut r, &[5, 6, 1], &[33]);
/// assert_eq!(r, [3 | 1 << 31, 0]);
/// ```
pub fn limbwise(r: &mut [Limb], a: &[Limb], bits: &[Limb]) {
    let (limbs, bits) = place(bits);
    for (i, r) in r.iter_mut().enumerate() {
        let above = |by: usize| i.checked_add(by).map_or(0, |i| limb(a, i));
        *r = (word(above(limbs.saturating_add(1)), above(limbs)) >> bits) as Limb;
    }
}
