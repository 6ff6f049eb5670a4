//! A product and a sum: `r = (a b + c) mod 2^(32 w)`, `w = r.len()`.

use bigint_core::{LIMB_BITS, Limb};

use super::limb;

/// Computes by columns [Honda 2015]. A limb of `c` is one more term of its column.
///
/// **Bounds** and **cost**: those of the [product](super::mul::comba).
///
/// ```
/// let mut r = [0; 2];
/// bigint_cpu::reference::mul_add::comba(&mut r, &[u32::MAX], &[u32::MAX], &[u32::MAX]);
/// assert_eq!(r, [0, u32::MAX]);
/// ```
pub fn comba(r: &mut [Limb], a: &[Limb], b: &[Limb], c: &[Limb]) {
    let mut column = 0_u128;
    for (k, r) in r.iter_mut().enumerate() {
        let first = (k + 1).saturating_sub(b.len());
        let end = a.len().min(k + 1);
        for i in first..end {
            column += u128::from(u64::from(a[i]) * u64::from(b[k - i]));
        }
        column += u128::from(limb(c, k));
        *r = column as Limb;
        column >>= LIMB_BITS;
    }
}
