//! Shift to the left: `r = a 2^k mod 2^(32 w)`, where `k` is the number `bits` and `w = r.len()`.
//!
//! With `k = 32 q + s`, `0 <= s < 32`, `r[i]` is the higher half of the two limbs
//! `a[i - q], a[i - q - 1]` shifted by `s`. Operands have any widths. **Scratch**: none.

use bigint_core::{LIMB_BITS, Limb};

use super::{limb, place, word};

/// Shifts limb after limb.
///
/// ```
/// let mut r = [0; 3];
/// bigint_cpu::reference::shl::limbwise(&mut r, &[5, 1 << 31], &[33]);
/// assert_eq!(r, [0, 10, 0]);
/// ```
pub fn limbwise(r: &mut [Limb], a: &[Limb], bits: &[Limb]) {
    let (limbs, bits) = place(bits);
    for (i, r) in r.iter_mut().enumerate() {
        let below = |by| i.checked_sub(by).map_or(0, |i| limb(a, i));
        let both = word(below(limbs), below(limbs.saturating_add(1)));
        *r = (both << bits >> LIMB_BITS) as Limb;
    }
}
