//! Remainders, at least 0 and less than the divisor: the second result of a
//! [division](super::div_rem).

use bigint_core::Limb;

use super::div_rem;

/// Divides by rows ([Knuth 1997]). If `b` is zero, returns 1 and sets `r` to zero.
///
/// ```
/// let mut r = [0];
/// assert_eq!(bigint_cpu::reference::rem::school(&mut r, &[7], &[4]), 0);
/// assert_eq!(r, [3]);
/// ```
pub fn school(r: &mut [Limb], a: &[Limb], b: &[Limb]) -> Limb {
    div_rem::school(&mut [], r, a, b)
}
