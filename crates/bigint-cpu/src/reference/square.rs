//! Squares: `r = a^2 mod 2^(32 w)`, `w = r.len()`, where every two limbs are multiplied once.

use bigint_core::{LIMB_BITS, Limb};

use super::limb;

/// Squares by rows, in which the products of two different limbs are doubled.
///
/// If `X` is the sum of `a[i] a[j] B^(i+j)` over `i < j`, `B` = 2^32, then `a^2` is the sum of
/// `2 X` and the squares of the limbs, which are two limbs each and lie side by side. **Cost**:
/// `n (n + 1) / 2` multiply-adds. **Scratch**: none.
///
/// ```
/// let mut r = [0; 2];
/// bigint_cpu::reference::square::school(&mut r, &[u32::MAX]);
/// assert_eq!(r, [1, u32::MAX - 1]);
/// ```
pub fn school(r: &mut [Limb], a: &[Limb]) {
    r.fill(0);
    for (i, x) in a.iter().enumerate() {
        let mut carry = 0;
        for (y, r) in a.iter().skip(i + 1).zip(r.iter_mut().skip(2 * i + 1)) {
            let sum = u64::from(*x) * u64::from(*y) + u64::from(*r) + carry;
            *r = sum as Limb;
            carry = sum >> LIMB_BITS;
        }
        if let Some(r) = r.get_mut(i + a.len()) {
            *r = carry as Limb;
        }
    }
    let (mut below, mut carry) = (0, false);
    for (k, r) in r.iter_mut().enumerate() {
        let doubled = *r << 1 | below >> (LIMB_BITS - 1);
        below = *r;
        let root = u64::from(limb(a, k / 2));
        let square = (root * root) >> (LIMB_BITS * (k % 2));
        (*r, carry) = doubled.carrying_add(square as Limb, carry);
    }
}
