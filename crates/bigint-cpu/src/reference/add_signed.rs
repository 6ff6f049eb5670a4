//! The sum of two signed numbers, as its absolute value modulo `2^(32 w)`, `w = r.len()`, and its
//! sign.
//!
//! Operands have any widths. **Scratch**: none.

use std::cmp::Ordering;

use bigint_core::Limb;

use super::compare::order;
use super::{add, limb, set, sub};

/// Adds the absolute values if the signs agree. If not, it makes a [comparison](super::compare) and
/// subtracts the lesser absolute value from the greater, whose sign the sum has.
///
/// ```
/// // 7 - 9
/// let (mut r, mut negative) = ([0], [0]);
/// bigint_cpu::reference::add_signed::scan(&mut r, &mut negative, &[7], &[9], &[0b10]);
/// assert_eq!((r, negative), ([2], [1]));
/// ```
pub fn scan(r: &mut [Limb], negative: &mut [Limb], a: &[Limb], b: &[Limb], signs: &[Limb]) {
    let [first, second] = signs_of(signs);
    let sign = if first == second {
        add::ripple(r, a, b);
        first
    } else {
        match order(a, b) {
            Ordering::Less => {
                sub::ripple(r, b, a);
                second
            }
            Ordering::Equal => {
                r.fill(0);
                0
            }
            Ordering::Greater => {
                sub::ripple(r, a, b);
                first
            }
        }
    };
    set(negative, sign);
}

/// The sign of each operand.
pub(crate) fn signs_of(signs: &[Limb]) -> [Limb; 2] {
    [0, 1].map(|bit| limb(signs, 0) >> bit & 1)
}
