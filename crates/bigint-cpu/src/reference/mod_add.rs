//! Sums modulo `m`: `r = (a + b) mod m`, cut or extended to the length of `r`.

use bigint_core::Limb;

use super::limb;
use crate::mask;

/// Computes the sum, and subtracts `m` if it is not below `m`. No branch depends on limbs. Both
/// operands are below `m`.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::mod_add::scan(&mut r, &[5], &[6], &[7]);
/// assert_eq!(r, [4]);
/// ```
pub fn scan(r: &mut [Limb], a: &[Limb], b: &[Limb], m: &[Limb]) {
    let sum = |j, carry| limb(a, j).carrying_add(limb(b, j), carry);
    let (mut carry, mut borrow) = (false, false);
    for (j, m) in m.iter().enumerate() {
        let of_sum;
        (of_sum, carry) = sum(j, carry);
        (_, borrow) = of_sum.borrowing_sub(*m, borrow);
    }
    let mask = !mask::of(borrow & !carry) as Limb;
    (carry, borrow) = (false, false);
    for (j, r) in r.iter_mut().enumerate() {
        let of_sum;
        (of_sum, carry) = sum(j, carry);
        (*r, borrow) = of_sum.borrowing_sub(limb(m, j) & mask, borrow);
        if j >= m.len() {
            *r = 0;
        }
    }
}
