//! Quotients, rounded down: what [division](super::div_rem) gives first.

use bigint_core::Limb;

use super::div_rem;

/// By rows ([Knuth 1997]); returns 1, and zero, where `b` is zero.
///
/// ```
/// let mut q = [0];
/// assert_eq!(bigint_cpu::reference::div::school(&mut q, &[7], &[2]), 0);
/// assert_eq!(q, [3]);
/// ```
pub fn school(q: &mut [Limb], a: &[Limb], b: &[Limb]) -> Limb {
    div_rem::school(q, &mut [], a, b)
}
