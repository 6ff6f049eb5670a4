//! The length in bits: the least `k` with `a < 2^k`.
//!
//! The operand has any width. **Scratch**: none.

use bigint_core::{LIMB_BITS, Limb};

use super::set_count;

/// Looks for the highest limb that is not zero, from the top.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::bit_length::scan(&mut r, &[0, 4, 0]);
/// assert_eq!(r, [35]);
/// ```
pub fn scan(r: &mut [Limb], a: &[Limb]) {
    let highest = a.iter().rposition(|&limb| limb != 0);
    set_count(
        r,
        highest.map_or(0, |i| (i + 1) * LIMB_BITS - a[i].leading_zeros() as usize),
    );
}
