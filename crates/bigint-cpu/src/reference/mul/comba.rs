//! Multiplication by columns [Honda 2015].
//!
//! Column `k` is the sum of all `a[i] b[j]` with `i + j = k`, and each limb of the result is
//! written once. A column of at most 2^28 products below 2^64, together with the carry of the
//! columns below, stays below 2^93, so three words hold it. **Cost**: `n m` multiply-adds.
//! **Scratch**: none. Operands have any widths.

use bigint_core::{LIMB_BITS, Limb};

/// Computes `r = (a * b) mod 2^(32 w)`, column by column.
///
/// ```
/// let mut r = [0; 2];
/// bigint_cpu::reference::mul::comba(&mut r, &[u32::MAX], &[u32::MAX]);
/// assert_eq!(r, [1, u32::MAX - 1]);
/// ```
pub fn comba(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    let mut column = 0_u128;
    for (k, r) in r.iter_mut().enumerate() {
        let first = (k + 1).saturating_sub(b.len());
        let end = a.len().min(k + 1);
        for i in first..end {
            column += u128::from(u64::from(a[i]) * u64::from(b[k - i]));
        }
        *r = column as Limb;
        column >>= LIMB_BITS;
    }
}
