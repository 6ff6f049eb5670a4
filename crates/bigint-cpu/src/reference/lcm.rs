//! Least common multiples; 0 where an operand is 0.
//!
//! Operands of any widths. Scratch: what [divisors](super::gcd) take.

use bigint_core::Limb;

use super::div_rem::divide;
use super::{gcd, mul};

/// `a / g * b`, `g` the greatest common divisor.
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
