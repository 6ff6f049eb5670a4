//! Length in bits: the least `k` with `a < 2^k`.
//!
//! An operand of any width; no scratch.

use bigint_core::{LIMB_BITS, Limb};

use super::set_count;

/// From the highest limb on.
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
