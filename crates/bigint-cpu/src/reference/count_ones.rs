//! The number of ones among the bits of `a`, its population count.
//!
//! The operand has any width. **Scratch**: none.

use bigint_core::Limb;

use super::set;

/// Counts limb after limb.
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
