//! Least common multiples. They are 0 if an operand is 0.
//!
//! Operands have any widths. **Scratch**: that of [common divisors](super::gcd).

use bigint_core::Limb;

use super::div_rem::divide;
use super::{gcd, mul};

/// Computes `a / g * b`, where `g` is the greatest common divisor.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::lcm::lehmer(&mut r, &[6], &[4]);
/// assert_eq!(r, [12]);
/// ```
pub fn lehmer(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    let (quotient, _) = divide(a, &gcd::divisor(a, b)).unwrap_or_default();
    mul::comba(r, &quotient, b);
}
