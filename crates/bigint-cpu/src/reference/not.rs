//! Complement: `r[i] = !a[i]`, which is `-1 - a` modulo `2^(32 w)`, `w = r.len()`.
//!
//! The operand has any width. **Scratch**: none.

use bigint_core::Limb;

use super::limb;

/// Computes limb after limb.
///
/// ```
/// let mut r = [0; 2];
/// bigint_cpu::reference::not::limbwise(&mut r, &[1]);
/// assert_eq!(r, [u32::MAX - 1, u32::MAX]);
/// ```
pub fn limbwise(r: &mut [Limb], a: &[Limb]) {
    for (i, r) in r.iter_mut().enumerate() {
        *r = !limb(a, i);
    }
}
