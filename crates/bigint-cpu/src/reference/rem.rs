//! Remainders, at least 0 and less than the divisor: what [division](super::div_rem) gives
//! beside the quotient.

use bigint_core::Limb;

use super::div_rem;

/// By rows ([Knuth 1997]); returns 1, and zero, where `b` is zero.
///
/// ```
/// let mut r = [0];
/// assert_eq!(bigint_cpu::reference::rem::school(&mut r, &[7], &[4]), 0);
/// assert_eq!(r, [3]);
/// ```
pub fn school(r: &mut [Limb], a: &[Limb], b: &[Limb]) -> Limb {
    div_rem::school(&mut [], r, a, b)
}
