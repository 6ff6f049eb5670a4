//! The number with given digits to base `10^9`, the lowest first. A digit may be any limb.
//!
//! Operand and result have any widths. **Scratch**: none.

use super::to_decimal::BASE;
use bigint_core::{LIMB_BITS, Limb};

/// Sets `r` to `r 10^9 + digit` for every digit, from the highest on.
///
/// ```
/// let mut r = [7; 3];
/// bigint_cpu::reference::from_decimal::school(&mut r, &[294_967_298, 4, 0]);
/// assert_eq!(r, [2, 1, 0]);
/// ```
pub fn school(r: &mut [Limb], a: &[Limb]) {
    r.fill(0);
    for &digit in a.iter().rev() {
        let mut carry = u64::from(digit);
        for limb in &mut *r {
            let sum = u64::from(*limb) * BASE + carry;
            (*limb, carry) = (sum as Limb, sum >> LIMB_BITS);
        }
    }
}
