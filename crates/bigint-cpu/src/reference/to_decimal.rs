//! The digits of a number to base `10^9`, the lowest first.
//!
//! The operand has any width. **Scratch**: a copy of it.

use super::word;
use crate::fast::number::limbs::trimmed;
use bigint_core::Limb;

/// The base.
pub(crate) const BASE: u64 = 1_000_000_000;

/// Divides `a` by the base for each limb of `r`, which is set to the remainder.
///
/// ```
/// let mut r = [7; 3];
/// bigint_cpu::reference::to_decimal::school(&mut r, &[2, 1]);
/// assert_eq!(r, [294_967_298, 4, 0]);
/// ```
pub fn school(r: &mut [Limb], a: &[Limb]) {
    let mut rest = trimmed(a).to_vec();
    for digit in r {
        let mut above = 0;
        for limb in rest.iter_mut().rev() {
            let both = word(above, *limb);
            (*limb, above) = ((both / BASE) as Limb, (both % BASE) as Limb);
        }
        *digit = above;
        rest.truncate(trimmed(&rest).len());
    }
}
