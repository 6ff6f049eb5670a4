//! Selection: `r = a` if `mask` is not zero, and `r = b` if it is, modulo `2^(32 w)`,
//! `w = r.len()`.
//!
//! Operands have any widths. **Scratch**: none.

use bigint_core::Limb;

use super::copy;

/// Copies one of the numbers.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::select::limbwise(&mut r, &[7], &[8], &[0, 1]);
/// assert_eq!(r, [7]);
/// ```
pub fn limbwise(r: &mut [Limb], a: &[Limb], b: &[Limb], mask: &[Limb]) {
    copy(
        r,
        if mask.iter().any(|&limb| limb != 0) {
            a
        } else {
            b
        },
    );
}
