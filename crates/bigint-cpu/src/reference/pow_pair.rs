//! Products of two powers modulo an odd `m`: `r = a0^e0 a1^e1 mod m`, cut or extended to the length
//! of `r`. The bases are the lower and the upper half of `a`, and the exponents those of `e`. If
//! the number of limbs is odd, the lower half has one more.
//!
//! An example is 2^3 3^2 modulo 7: 8 * 9 = 72, which is 2.

use bigint_core::Limb;

use super::montgomery::Odd;
use super::{copy, pow_mod};
use crate::memory;

/// Computes two powers by windows, in constant time.
///
/// **Cost**: that of two powers.
///
/// ```
/// let mut r = [0];
/// bigint_cpu::reference::pow_pair::window(&mut r, &[2, 3], &[3, 2], &[7]);
/// assert_eq!(r, [72 % 7]);
/// ```
pub fn window(r: &mut [Limb], a: &[Limb], e: &[Limb], m: &[Limb]) {
    product(r, a, e, m, pow_mod::window);
}

/// Computes two powers by windows, in time that depends on the exponents.
pub fn window_vartime(r: &mut [Limb], a: &[Limb], e: &[Limb], m: &[Limb]) {
    product(r, a, e, m, pow_mod::window_vartime);
}

/// Computes two powers in residue number systems. A device has one chain for both.
pub fn rns(r: &mut [Limb], a: &[Limb], e: &[Limb], m: &[Limb]) {
    product(r, a, e, m, pow_mod::rns);
}

fn product<F>(r: &mut [Limb], a: &[Limb], e: &[Limb], m: &[Limb], power: F)
where
    F: Fn(&mut [Limb], &[Limb], &[Limb], &[Limb]) -> Limb,
{
    let (a0, a1) = a.split_at(a.len().div_ceil(2));
    let (e0, e1) = e.split_at(e.len().div_ceil(2));
    let [x, y] = [(a0, e0), (a1, e1)].map(|(a, e)| {
        let mut x = memory::scratch(m.len());
        power(&mut x, a, e, m);
        x
    });
    let odd = Odd::new(m);
    copy(
        r,
        &odd.product(&odd.product(&x, &y), &odd.square_of_radix(&odd.one())),
    );
}
