//! Jacobi symbols: the result is 0, 1 or 2 for a symbol of -1, 0 or 1.
//!
//! Operands have any widths. **Scratch**: that of a [division](super::div_rem).

use bigint_core::Limb;

use super::div_rem::divide;
use super::{set, shr};
use crate::fast::number::limbs::trimmed;

/// Computes the symbol by Euclid's algorithm and the law of reciprocity. If `n` is even, returns 1
/// and sets `r` to 0.
///
/// ```
/// let mut r = [0];
/// assert_eq!(bigint_cpu::reference::jacobi::euclid(&mut r, &[2], &[15]), 0);
/// assert_eq!(r, [2]);
/// ```
pub fn euclid(r: &mut [Limb], a: &[Limb], n: &[Limb]) -> Limb {
    let mut n = trimmed(n).to_vec();
    if n.first().is_none_or(|limb| limb.is_multiple_of(2)) {
        set(r, 0);
        return 1;
    }
    let mut symbol = 1_i32;
    let mut a = a.to_vec();
    while let Some((_, rest)) = divide(&a, &n) {
        a = trimmed(&rest).to_vec();
        if a.is_empty() {
            break;
        }
        while a[0].is_multiple_of(2) {
            let even = a.clone();
            shr::limbwise(&mut a, &even, &[1]);
            if matches!(n[0] % 8, 3 | 5) {
                symbol = -symbol;
            }
        }
        if a[0] % 4 == 3 && n[0] % 4 == 3 {
            symbol = -symbol;
        }
        (a, n) = (n, trimmed(&a).to_vec());
    }
    let symbol = if n == [1] { symbol } else { 0 };
    set(r, (symbol + 1) as Limb);
    0
}
