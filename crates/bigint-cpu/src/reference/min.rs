//! The lesser of two numbers, modulo `2^(32 w)`, `w = r.len()`.
//!
//! Operands have any widths. **Scratch**: none.

use bigint_core::Limb;

use super::compare::order;
use super::copy;

/// Makes a [comparison](super::compare) and copies the lesser number.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::min::scan(&mut r, &[7], &[8]);
/// assert_eq!(r, [7]);
/// ```
pub fn scan(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    copy(r, if order(a, b).is_gt() { b } else { a });
}
