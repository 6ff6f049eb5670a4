//! Jacobi symbols of one number, by Euclid's algorithm and the law of reciprocity.
//!
//! For odd `n`: what is left of `a` modulo `n` has the symbol that `a` has; a factor 2 turns
//! it where `n` is 3 or 5 modulo 8; and the symbols of `a` over `n` and of `n` over `a`
//! differ where both are 3 modulo 4. At the end `n` is the greatest common divisor, and
//! the symbol is 0 where it is not 1.
//!
//! Cost: one division for each quotient, quadratic in all.

use super::division::div_rem;
use super::limbs::trim;
use super::root::shifted_right;
use crate::Path;

/// The symbol of `a` over an odd `n`, both trimmed.
pub(crate) fn jacobi(a: &[u64], n: &[u64], path: Path) -> i8 {
    let mut n = n.to_vec();
    let (_, mut a) = div_rem(a, &n, path);
    let mut symbol = 1;
    while let Some(zeros) = a.iter().position(|&word| word != 0) {
        let twos = 64 * zeros as u64 + u64::from(a[zeros].trailing_zeros());
        a = shifted_right(&a, twos);
        if twos % 2 == 1 && matches!(n[0] % 8, 3 | 5) {
            symbol = -symbol;
        }
        if a[0] % 4 == 3 && n[0] % 4 == 3 {
            symbol = -symbol;
        }
        let (_, rest) = div_rem(&n, &a, path);
        (n, a) = (trim(a), rest);
    }
    if n == [1] { symbol } else { 0 }
}
