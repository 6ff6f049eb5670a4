//! The sum of two signed numbers, as absolute value modulo `2^(32 w)`, `w = r.len()`, and
//! sign.
//!
//! Operands of any widths; no scratch.

use std::cmp::Ordering;

use bigint_core::Limb;

use super::compare::order;
use super::{add, limb, set, sub};

/// An addition where signs agree; else a [comparison](super::compare) and a subtraction of
/// the less from the greater, whose sign it is.
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
