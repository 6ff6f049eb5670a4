//! Square roots, rounded down, and their remainders: `a = root^2 + remainder`,
//! `remainder <= 2 root`.
//!
//! The operand has any width. **Scratch**: that of a [division](super::div_rem).

use bigint_core::{LIMB_BITS, Limb};

use super::div_rem::divide;
use super::{add, compare, copy, square, sub};
use crate::fast::number::limbs::trimmed;

/// Computes the root by Newton's step `x <- floor((x + floor(a / x)) / 2)`, from above until `x` no
/// longer decreases. The computation of the root's limbs by rows gives the same result.
///
/// ```
/// let (mut root, mut rest) = ([0], [0]);
/// bigint_cpu::reference::isqrt::school(&mut root, &mut rest, &[1234]);
/// assert_eq!((root, rest), ([35], [9]));
/// ```
pub fn school(root: &mut [Limb], remainder: &mut [Limb], a: &[Limb]) {
    let a = trimmed(a);
    // This is a power of two above the root.
    let mut x = vec![0; a.len() / 2 + 1];
    x[a.len() / 2] = match a.len() % 2 {
        0 => 1,
        _ => 1 << (LIMB_BITS / 2),
    };
    while let Some((quotient, _)) = divide(a, &x) {
        let mut next = vec![0; x.len() + 1];
        add::ripple(&mut next, &x, &quotient);
        for i in 0..next.len() {
            next[i] = next[i] >> 1 | next.get(i + 1).map_or(0, |above| above << (LIMB_BITS - 1));
        }
        if compare::order(&next, &x).is_ge() {
            break;
        }
        x = trimmed(&next).to_vec();
    }
    let mut rest = a.to_vec();
    let mut squared = vec![0; a.len()];
    if a.is_empty() {
        x.clear();
    }
    square::school(&mut squared, &x);
    sub::ripple(&mut rest, a, &squared);
    copy(root, &x);
    copy(remainder, &rest);
}
