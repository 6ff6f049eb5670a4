//! Division with quotient and remainder: `a = q b + r` with `0 <= r < b`, both cut or extended to
//! the lengths of their results.
//!
//! Operands have any widths. **Scratch**: copies of both.

use bigint_core::{LIMB_BITS, Limb};

use super::{copy, word};
use crate::fast::number::limbs::trimmed;
use crate::memory::scratch;

/// Divides by rows ([Knuth 1997], algorithm D). If `b` is zero, returns 1 and sets both results to
/// zero.
///
/// ```
/// let (mut q, mut r) = ([0], [0]);
/// assert_eq!(bigint_cpu::reference::div_rem::school(&mut q, &mut r, &[123], &[7]), 0);
/// assert_eq!((q, r), ([17], [4]));
/// assert_eq!(bigint_cpu::reference::div_rem::school(&mut q, &mut r, &[123], &[0]), 1);
/// assert_eq!((q, r), ([0], [0]));
/// ```
pub fn school(q: &mut [Limb], r: &mut [Limb], a: &[Limb], b: &[Limb]) -> Limb {
    let values = divide(a, b);
    let flag = Limb::from(values.is_none());
    let (quotient, remainder) = values.unwrap_or_default();
    copy(q, &quotient);
    copy(r, &remainder);
    flag
}

/// The quotient and the remainder, or `None` if `b` is zero.
///
/// `v` is the divisor, shifted so that its top bit is set, and `u` the remainder so far, which
/// begins as the dividend. With the two top limbs of `u` and the top limb of `v`,
///
/// ```text
/// q' = min(floor((u[j+m] B + u[j+m-1]) / v[m-1]), B - 1)
/// ```
///
/// is the limb of the quotient, or up to 2 more. As long as it is more, the remainder is negative.
pub fn divide(a: &[Limb], b: &[Limb]) -> Option<(Vec<Limb>, Vec<Limb>)> {
    let b = trimmed(b);
    let (&top, m) = (b.last()?, b.len());
    if a.len() < m {
        return Some((Vec::new(), a.to_vec()));
    }
    let bits = top.leading_zeros();
    let (mut u, mut v) = (scratch(a.len() + 1), scratch(m + 1));
    shift_left(&mut u, a, bits);
    shift_left(&mut v, b, bits);
    let top = u64::from(v[m - 1]);
    let mut quotient = scratch(a.len() - m + 1);
    for (j, quotient) in quotient.iter_mut().enumerate().rev() {
        let u = &mut u[j..=j + m];
        let mut q = (word(u[m], u[m - 1]) / top).min(Limb::MAX.into());
        let mut borrow = 0;
        for (u, &v) in u.iter_mut().zip(&v) {
            let difference = i128::from(*u) - i128::from(q * u64::from(v)) + borrow;
            *u = difference as Limb;
            borrow = difference >> LIMB_BITS;
        }
        while borrow < 0 {
            q -= 1;
            let mut carry = false;
            for (u, &v) in u.iter_mut().zip(&v) {
                (*u, carry) = u.carrying_add(v, carry);
            }
            borrow += i128::from(carry);
        }
        *quotient = q as Limb;
    }
    for i in 0..m {
        u[i] = (word(u[i + 1], u[i]) >> bits) as Limb;
    }
    u.truncate(m);
    Some((quotient, u))
}

/// Computes `r = x 2^bits`, which is a limb longer, for fewer bits than a limb has.
fn shift_left(r: &mut [Limb], x: &[Limb], bits: u32) {
    let mut below = 0;
    for (r, &limb) in r.iter_mut().zip(x.iter().chain(&[0])) {
        *r = (word(limb, below) << bits >> LIMB_BITS) as Limb;
        below = limb;
    }
}
