//! Equality: `r` is 1 if `a = b`, and 0 if not.
//!
//! Operands have any widths. **Scratch**: none.

use bigint_core::Limb;

use super::set;

/// Compares limb after limb.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::equal::scan(&mut r, &[7], &[7, 0]);
/// assert_eq!(r, [1]);
/// ```
pub fn scan(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    let common = a.len().min(b.len());
    let above = a[common..].iter().chain(&b[common..]);
    let is_equal = a[..common] == b[..common] && above.copied().all(|limb| limb == 0);
    set(r, Limb::from(is_equal));
}
