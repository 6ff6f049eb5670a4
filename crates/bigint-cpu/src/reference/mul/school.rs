//! Multiplication by rows [Langer 2015], [Carlessi and Kashani 2013].
//!
//! In `a b = sum_j (a b[j]) 2^(32 j)` one limb of `b` is multiplied by all of `a`, and the row is
//! added to the result at limb `j`. With every limb below `B = 2^32`, the step
//! `a[i] b[j] + r[i + j] + carry <= (B - 1)^2 + 2 (B - 1) = B^2 - 1` fits 64 bits. **Cost**: `n m`
//! multiply-adds. **Scratch**: none. Operands have any widths.

use bigint_core::{LIMB_BITS, Limb};

/// Computes `r = (a * b) mod 2^(32 w)`, with one row for each limb of `b`.
///
/// ```
/// let mut r = [0; 2];
/// bigint_cpu::reference::mul::school(&mut r, &[u32::MAX], &[u32::MAX]);
/// assert_eq!(r, [1, u32::MAX - 1]);
/// ```
pub fn school(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    r.fill(0);
    for (j, &b) in b.iter().enumerate().take(r.len()) {
        let r = &mut r[j..];
        let mut carry = 0_u64;
        let mut i = 0;
        while i < r.len() && i < a.len() {
            let step = u64::from(a[i]) * u64::from(b) + u64::from(r[i]) + carry;
            r[i] = step as Limb;
            carry = step >> LIMB_BITS;
            i += 1;
        }
        // Nothing has been written to this limb yet: every earlier row ended below it.
        if i < r.len() {
            r[i] = carry as Limb;
        }
    }
}
