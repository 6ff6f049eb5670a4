//! Two numbers in order: `r` the lesser, `s` the greater, modulo `2^(32 w)`, `w` their own
//! lengths.
//!
//! Operands of any widths; no scratch.

use bigint_core::Limb;

use super::compare::order;
use super::copy;

/// A [comparison](super::compare) and two copies.
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
