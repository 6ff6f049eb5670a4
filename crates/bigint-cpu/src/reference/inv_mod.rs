//! Modular inverses: `r a = 1` modulo `m`, `0 <= r < m`.
//!
//! Operands have any widths. **Scratch**: that of a [division](super::div_rem).

use bigint_core::Limb;

use super::div_rem::divide;
use super::{add, copy, mul, sub};
use crate::fast::number::limbs::trimmed;

/// Computes the inverse by Euclid's algorithm with the cofactor of `a`, and a division for each
/// quotient. If there is no inverse, returns 1 and sets `r` to zero.
///
/// If `x = u a` and `y = v a` modulo `m`, the remainder of `x` by `y` with the quotient `q` is
/// `(u - q v) a`. The signs of cofactors alternate, so their magnitudes are added.
///
/// ```
/// let mut r = [0];
/// assert_eq!(bigint_cpu::reference::inv_mod::lehmer(&mut r, &[3], &[7]), 0);
/// assert_eq!(r, [5]);
/// assert_eq!(bigint_cpu::reference::inv_mod::lehmer(&mut r, &[3], &[6]), 1);
/// ```
pub fn lehmer(r: &mut [Limb], a: &[Limb], m: &[Limb]) -> Limb {
    let inverse = inverse(a, m);
    copy(r, inverse.as_deref().unwrap_or(&[]));
    inverse.is_none().into()
}

fn inverse(a: &[Limb], m: &[Limb]) -> Option<Vec<Limb>> {
    let (_, remainder) = divide(a, m)?;
    let (mut x, mut y) = (m.to_vec(), remainder);
    let (mut of_x, mut of_y) = (vec![0; m.len() + 1], vec![0; m.len() + 1]);
    of_y[0] = 1;
    let mut is_negative = true;
    while let Some((quotient, remainder)) = divide(&x, &y) {
        let (mut product, mut sum) = (vec![0; m.len() + 1], vec![0; m.len() + 1]);
        mul::comba(&mut product, &quotient, &of_y);
        add::ripple(&mut sum, &of_x, &product);
        (x, y) = (y, remainder);
        (of_x, of_y) = (of_y, sum);
        is_negative = !is_negative;
    }
    if trimmed(&x) != [1] {
        return None;
    }
    let (_, mut inverse) = divide(&of_x, m)?;
    if is_negative && !trimmed(&inverse).is_empty() {
        let cofactor = inverse.clone();
        inverse.resize(m.len(), 0);
        sub::ripple(&mut inverse, m, &cofactor);
    }
    Some(inverse)
}
