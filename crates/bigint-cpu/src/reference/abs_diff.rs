//! The absolute difference of two numbers, modulo `2^(32 w)`, `w = r.len()`.
//!
//! Operands have any widths. **Scratch**: none.

use bigint_core::Limb;

use super::compare::order;
use super::sub;

/// Makes a [comparison](super::compare) and subtracts the lesser number from the greater.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::abs_diff::scan(&mut r, &[7], &[9]);
/// assert_eq!(r, [2]);
/// ```
pub fn scan(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    let (greater, less) = if order(a, b).is_lt() { (b, a) } else { (a, b) };
    sub::ripple(r, greater, less);
}
