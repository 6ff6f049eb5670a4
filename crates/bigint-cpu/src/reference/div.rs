//! Quotients, rounded down: the first result of a [division](super::div_rem).

use bigint_core::Limb;

use super::div_rem;

/// Divides by rows ([Knuth 1997]). If `b` is zero, returns 1 and sets `q` to zero.
///
/// ```
/// let mut q = [0];
/// assert_eq!(bigint_cpu::reference::div::school(&mut q, &[7], &[2]), 0);
/// assert_eq!(q, [3]);
/// ```
pub fn school(q: &mut [Limb], a: &[Limb], b: &[Limb]) -> Limb {
    div_rem::school(q, &mut [], a, b)
}
