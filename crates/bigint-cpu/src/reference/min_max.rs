//! Two numbers in order: `r` is the lesser and `s` the greater, each modulo `2^(32 w)` with its own
//! length `w`.
//!
//! Operands have any widths. **Scratch**: none.

use bigint_core::Limb;

use super::compare::order;
use super::copy;

/// Makes a [comparison](super::compare) and copies both numbers.
///
/// ```
/// let (mut r, mut s) = ([0], [0]);
/// bigint_cpu::reference::min_max::scan(&mut r, &mut s, &[8], &[7]);
/// assert_eq!((r, s), ([7], [8]));
/// ```
pub fn scan(r: &mut [Limb], s: &mut [Limb], a: &[Limb], b: &[Limb]) {
    let (least, greatest) = if order(a, b).is_gt() { (b, a) } else { (a, b) };
    copy(r, least);
    copy(s, greatest);
}
