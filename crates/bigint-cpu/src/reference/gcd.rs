//! Greatest common divisors; 0 of two zeros.
//!
//! Operands of any widths. Scratch: what [division](super::div_rem) takes.

use bigint_core::Limb;

use super::copy;
use super::div_rem::divide;
use crate::fast::number::limbs::trimmed;

/// Euclid's algorithm, a division for each quotient: what Lehmer's steps amount to.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::gcd::lehmer(&mut r, &[34], &[51]);
/// assert_eq!(r, [17]);
/// ```
pub fn lehmer(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    copy(r, &divisor(a, b));
}

/// The greatest common divisor, without zeros on top.
pub fn divisor(a: &[Limb], b: &[Limb]) -> Vec<Limb> {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    while let Some((_, remainder)) = divide(&a, &b) {
        (a, b) = (b, remainder);
    }
    trimmed(&a).to_vec()
}
