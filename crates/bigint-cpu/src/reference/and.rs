//! Conjunction, bit by bit: `r[i] = a[i] & b[i]`.
//!
//! Operands have any widths. **Scratch**: none.

use bigint_core::Limb;

use super::limb;

/// Computes limb after limb.
///
/// ```
/// let mut r = [0; 2];
/// bigint_cpu::reference::and::limbwise(&mut r, &[0b1100, 7], &[0b1010]);
/// assert_eq!(r, [0b1000, 0]);
/// ```
pub fn limbwise(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    for (i, r) in r.iter_mut().enumerate() {
        *r = limb(a, i) & limb(b, i);
    }
}
