//! The number of zeros below the lowest 1: the greatest `k` for which `2^k` divides `a`. For 0 it
//! is the width of `a` in bits.
//!
//! The operand has any width. **Scratch**: none.

use bigint_core::{LIMB_BITS, Limb};

use super::set_count;

/// Looks for the lowest limb that is not zero, from below.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::trailing_zeros::scan(&mut r, &[0, 4, 0]);
/// assert_eq!(r, [34]);
/// ```
pub fn scan(r: &mut [Limb], a: &[Limb]) {
    let lowest = a.iter().position(|&limb| limb != 0);
    set_count(
        r,
        lowest.map_or(LIMB_BITS * a.len(), |i| {
            i * LIMB_BITS + a[i].trailing_zeros() as usize
        }),
    );
}
