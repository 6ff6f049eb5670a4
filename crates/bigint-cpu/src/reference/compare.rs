//! Comparison: `r` is 0, 1 or 2 if `a` is less than, equal to or greater than `b`.
//!
//! The highest limbs that differ decide. Operands have any widths. **Scratch**: none.

use bigint_core::Limb;

use std::cmp::Ordering;

use super::{limb, set};

/// Compares limb after limb, from the top.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::compare::scan(&mut r, &[7, 1], &[8]);
/// assert_eq!(r, [2]);
/// ```
pub fn scan(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    set(
        r,
        match order(a, b) {
            Ordering::Less => 0,
            Ordering::Equal => 1,
            Ordering::Greater => 2,
        },
    );
}

/// The order of `a` and `b`.
pub fn order(a: &[Limb], b: &[Limb]) -> Ordering {
    let limbs = (0..a.len().max(b.len())).rev();
    limbs
        .map(|i| limb(a, i).cmp(&limb(b, i)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}
