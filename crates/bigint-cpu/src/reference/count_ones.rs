//! Ones among the bits: the population count of `a`.
//!
//! An operand of any width; no scratch.

use bigint_core::Limb;

use super::set;

/// Limb after limb.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::count_ones::scan(&mut r, &[5, 4, 0]);
/// assert_eq!(r, [3]);
/// ```
#[inline]
pub fn scan(r: &mut [Limb], a: &[Limb]) {
    set(r, a.iter().map(|limb| limb.count_ones()).sum());
}
