//! Differences modulo `m`: `r = (a - b) mod m`, cut or extended to the length of `r`.

use bigint_core::Limb;

use super::limb;
use crate::mask;

/// Computes the difference, and adds `m` if it is negative. No branch depends on limbs. Both
/// operands are below `m`.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::mod_sub::scan(&mut r, &[5], &[6], &[7]);
/// assert_eq!(r, [6]);
/// ```
pub fn scan(r: &mut [Limb], a: &[Limb], b: &[Limb], m: &[Limb]) {
    let difference = |j, borrow| limb(a, j).borrowing_sub(limb(b, j), borrow);
    let (mut carry, mut borrow) = (false, false);
    for j in 0..m.len() {
        (_, borrow) = difference(j, borrow);
    }
    let mask = mask::of(borrow) as Limb;
    borrow = false;
    for (j, r) in r.iter_mut().enumerate() {
        let of_difference;
        (of_difference, borrow) = difference(j, borrow);
        (*r, carry) = of_difference.carrying_add(limb(m, j) & mask, carry);
        if j >= m.len() {
            *r = 0;
        }
    }
}
