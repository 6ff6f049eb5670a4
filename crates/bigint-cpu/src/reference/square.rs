//! Squares: `r = a^2 mod 2^(32 w)`, `w = r.len()`, each two limbs multiplied once.

use bigint_core::{LIMB_BITS, Limb};

use super::limb;

/// By columns (Honda), of which the products of two different limbs are doubled.
///
/// With `X` the sum of `a[i] a[j] B^(i+j)` over `i < j`, `B` = 2^32, `a^2` is `2 X` and the
/// squares of the limbs, two limbs each, which lie side by side. A column of `X` has at
/// most 2^25 products below 2^64. Cost: `n (n + 1) / 2` multiply-adds; no scratch.
///
/// ```
/// let mut r = [0; 2];
/// bigint_cpu::reference::square::comba(&mut r, &[u32::MAX]);
/// assert_eq!(r, [1, u32::MAX - 1]);
/// ```
pub fn comba(r: &mut [Limb], a: &[Limb]) {
    let (mut column, mut below, mut carry) = (0_u128, 0, false);
    for (k, r) in r.iter_mut().enumerate() {
        for i in (k + 1).saturating_sub(a.len())..k.div_ceil(2) {
            column += u128::from(u64::from(a[i]) * u64::from(a[k - i]));
        }
        let half = column as Limb;
        column >>= LIMB_BITS;
        let doubled = half << 1 | below >> (LIMB_BITS - 1);
        below = half;
        let root = u64::from(limb(a, k / 2));
        let square = (root * root) >> (LIMB_BITS * (k % 2));
        (*r, carry) = doubled.carrying_add(square as Limb, carry);
    }
}
