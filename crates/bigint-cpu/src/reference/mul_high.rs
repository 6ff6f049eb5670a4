//! High halves of products: `r = floor(a b / 2^(32 h)) mod 2^(32 w)`, where `w = r.len()` and `h`
//! is the number of limbs of the longer operand.

use bigint_core::{LIMB_BITS, Limb};

/// Computes by columns [Honda 2015]. The columns below the half are summed for their carries, and
/// not stored.
///
/// **Bounds** and **cost**: those of the [whole product](super::mul::comba).
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::mul_high::comba(&mut r, &[u32::MAX], &[u32::MAX]);
/// assert_eq!(r, [u32::MAX - 1]);
/// ```
pub fn comba(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    let half = a.len().max(b.len());
    let mut column = 0_u128;
    for k in 0..half + r.len() {
        let first = (k + 1).saturating_sub(b.len());
        let end = a.len().min(k + 1);
        for i in first..end {
            column += u128::from(u64::from(a[i]) * u64::from(b[k - i]));
        }
        if k >= half {
            r[k - half] = column as Limb;
        }
        column >>= LIMB_BITS;
    }
}
