//! Greatest common divisors. That of two zeros is 0.
//!
//! Operands have any widths. **Scratch**: that of a [division](super::div_rem).

use bigint_core::Limb;

use super::copy;
use super::div_rem::divide;
use crate::fast::number::limbs::trimmed;

/// Computes the divisor by Euclid's algorithm, with a division for each quotient. Lehmer's steps
/// give the same result.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::gcd::lehmer(&mut r, &[34], &[51]);
/// assert_eq!(r, [17]);
/// ```
pub fn lehmer(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    copy(r, &divisor(a, b));
}

/// The greatest common divisor, without zeros at its end.
pub fn divisor(a: &[Limb], b: &[Limb]) -> Vec<Limb> {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    while let Some((_, remainder)) = divide(&a, &b) {
        (a, b) = (b, remainder);
    }
    trimmed(&a).to_vec()
}
