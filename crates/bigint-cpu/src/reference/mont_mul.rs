//! Montgomery's product: `r = a b / 2^(32 n) mod m`, `n = m.len()`, cut or extended to the
//! length of `r`.

use bigint_core::Limb;

use super::copy;
use super::montgomery::Odd;

/// Multiplies by rows, as [`Odd::product`] describes. `m` is odd, and both operands are below it.
///
/// ```
/// let mut r = [0];
/// // 2^32 is 4 modulo 7, and 6 / 4 = 5, as 5 * 4 = 20.
/// bigint_cpu::reference::mont_mul::cios(&mut r, &[2], &[3], &[7]);
/// assert_eq!(r, [5]);
/// ```
pub fn cios(r: &mut [Limb], a: &[Limb], b: &[Limb], m: &[Limb]) {
    copy(r, &Odd::new(m).product(a, b));
}
