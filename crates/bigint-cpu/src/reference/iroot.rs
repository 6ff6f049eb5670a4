//! Roots of any degree, rounded down, and their remainders: `a = root^k + remainder`, below
//! `(root + 1)^k`.
//!
//! Operands have any widths. **Scratch**: some powers as long as `a`.

use bigint_core::{LIMB_BITS, Limb};

use super::{compare, copy, mul, sub};
use crate::fast::number::limbs::trimmed;

/// Computes the root bit by bit from the top. If `k` is zero, returns 1 and sets both results to
/// zero.
///
/// ```
/// let (mut root, mut rest) = ([0], [0]);
/// assert_eq!(bigint_cpu::reference::iroot::bitwise(&mut root, &mut rest, &[30], &[3]), 0);
/// assert_eq!((root, rest), ([3], [3]));
/// ```
pub fn bitwise(root: &mut [Limb], remainder: &mut [Limb], a: &[Limb], k: &[Limb]) -> Limb {
    let (a, k) = (trimmed(a), trimmed(k));
    root.fill(0);
    remainder.fill(0);
    let Some(top) = a.last() else {
        return k.is_empty().into();
    };
    let bits = LIMB_BITS * a.len() - top.leading_zeros() as usize;
    let degree = match k {
        [] => return 1,
        // All degrees from the length of the number on give the same root.
        [k] => (*k as usize).min(bits),
        _ => bits,
    };
    let mut x = vec![0; a.len()];
    let mut power = Vec::new();
    for bit in (0..=(bits - 1) / degree).rev() {
        x[bit / LIMB_BITS] |= 1 << (bit % LIMB_BITS);
        let larger = self::power(&x, degree, a);
        if larger.is_some() {
            power = larger.unwrap_or_default();
        } else {
            x[bit / LIMB_BITS] &= !(1 << (bit % LIMB_BITS));
        }
    }
    let mut rest = vec![0; a.len()];
    sub::ripple(&mut rest, a, &power);
    copy(root, &x);
    copy(remainder, &rest);
    0
}

/// The power `x^degree`, or `None` if it is greater than `most`.
fn power(x: &[Limb], degree: usize, most: &[Limb]) -> Option<Vec<Limb>> {
    let mut power = vec![1];
    for _ in 0..degree {
        let mut next = vec![0; power.len() + x.len()];
        mul::comba(&mut next, &power, x);
        if compare::order(&next, most).is_gt() {
            return None;
        }
        power = trimmed(&next).to_vec();
    }
    Some(power)
}
