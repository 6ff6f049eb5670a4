//! Powers modulo `m`: `r = a^e mod m`, cut or extended to the length of `r`. `0^0` is 1.
//!
//! Powers modulo odd numbers are computed by windows in Montgomery's form. An even `m` is `2^k m'`
//! with an odd `m'`. If `x` is the power modulo `m'` and `y` the power modulo `2^k`,
//!
//! ```text
//! x + m' ((y - x) / m' mod 2^k)
//! ```
//!
//! is `x` modulo `m'`, `y` modulo `2^k`, and below `m`. An example is 3^3 modulo 12 = 4 * 3: `x` =
//! 0, `y` = 27 mod 4 = 3, 1/3 mod 4 = 3, and 0 + 3 (3 * 3 mod 4) = 3.

use bigint_core::kernel::power_window;
use bigint_core::{LIMB_BITS, Limb};

use super::montgomery::{self, Odd};
use super::residue_systems::ResidueSystems;
use super::{copy, limb, mod_add, mul, mul_add, shr, sub, word};
use crate::mask::{self, Masked};
use crate::memory;

/// Computes the power by windows of the exponent, in constant time if `m` is odd: every window
/// takes the same number of squares, and a product by an entry of a table, which is read whole.
/// Returns 1 if `m` is zero, for which there is no power, and 0 if not.
///
/// **Cost**: `32 n (1 + 1 / w)` Montgomery products for an exponent of `n` limbs and windows of `w`
/// bits.
///
/// ```
/// let mut r = [0];
/// assert_eq!(bigint_cpu::reference::pow_mod::window(&mut r, &[3], &[4], &[7]), 0);
/// assert_eq!(r, [81 % 7]);
/// ```
pub fn window(r: &mut [Limb], a: &[Limb], e: &[Limb], m: &[Limb]) -> Limb {
    of_any(r, a, e, m, |odd| of_odd::<true>(a, e, odd))
}

/// Computes the power by windows of the exponent, in time that depends on it: zeros at its top cost
/// nothing, and windows that are zero take no product.
pub fn window_vartime(r: &mut [Limb], a: &[Limb], e: &[Limb], m: &[Limb]) -> Limb {
    of_any(r, a, e, m, |odd| of_odd::<false>(a, e, odd))
}

/// Computes the power in residue number systems, which take constant time on a device. If these do
/// not take `m`, or `a` is wider, it is computed by windows alone.
pub fn rns(r: &mut [Limb], a: &[Limb], e: &[Limb], m: &[Limb]) -> Limb {
    let systems = match a.len() <= m.len() {
        true => ResidueSystems::new(m),
        false => None,
    };
    let Some(systems) = systems else {
        return window(r, a, e, m);
    };
    let radix = systems.radix();
    let form = |x: &[Limb]| systems.product(&systems.residues(x), &radix);
    let product = |x: &[u64], y: &[u64]| systems.product(x, y);
    let power = by_windows::<true, _>(e, form(&[1]), &form(a), product);
    systems.retrieve(r, &product(&power, &systems.residues(&[1])));
    0
}

/// The power modulo any `m`, computed from `power`, the power modulo the odd part of `m`. That has
/// as many limbs as `m`.
pub(crate) fn of_any(
    r: &mut [Limb],
    a: &[Limb],
    e: &[Limb],
    m: &[Limb],
    power: impl FnOnce(&[Limb]) -> Vec<Limb>,
) -> Limb {
    let Some(zeros) = m.iter().position(|&limb| limb != 0) else {
        copy(r, &[]);
        return 1;
    };
    let zeros = LIMB_BITS * zeros + m[zeros].trailing_zeros() as usize;
    if zeros == 0 {
        copy(r, &power(m));
        return 0;
    }
    let mut odd = memory::scratch(m.len());
    shr::limbwise(&mut odd, m, &[zeros as Limb]);
    let x = power(&odd);
    let n = zeros.div_ceil(LIMB_BITS);
    let mut quotient = low_product(&difference(&low_power(a, e, n), &x), &low_inverse(&odd, n));
    quotient[n - 1] &= Limb::MAX >> (LIMB_BITS * n - zeros);
    mul_add::comba(r, &odd, &quotient, &x);
    0
}

/// The power `a^e mod B^n`, computed bit after bit.
fn low_power(a: &[Limb], e: &[Limb], n: usize) -> Vec<Limb> {
    let mut power = memory::scratch(n);
    power[0] = 1;
    for bit in (0..LIMB_BITS * e.len()).rev() {
        power = low_product(&power, &power);
        if e[bit / LIMB_BITS] >> (bit % LIMB_BITS) & 1 == 1 {
            power = low_product(&power, a);
        }
    }
    power
}

/// The inverse `1 / m mod B^n` of an odd `m`, by Newton's step `x (2 - m x)`.
fn low_inverse(m: &[Limb], n: usize) -> Vec<Limb> {
    let mut inverse = memory::scratch(n);
    inverse[0] = montgomery::inverse(m[0]);
    let mut right = 1;
    while right < n {
        let product = low_product(&inverse, m);
        let two = [&[2][..], &vec![0; n - 1]].concat();
        inverse = low_product(&inverse, &difference(&two, &product));
        right *= 2;
    }
    inverse
}

/// The product `a b`, cut to the length of `a`.
fn low_product(a: &[Limb], b: &[Limb]) -> Vec<Limb> {
    let mut product = memory::scratch(a.len());
    mul::comba(&mut product, a, b);
    product
}

/// The difference `a - b`, cut to the length of `a`.
fn difference(a: &[Limb], b: &[Limb]) -> Vec<Limb> {
    let mut difference = memory::scratch(a.len());
    sub::ripple(&mut difference, a, b);
    difference
}

/// The bits of the widest windows that are worth their table.
pub(crate) const WIDEST_WINDOW: usize = 5;

/// The power `a^e` modulo an odd number, in constant time if `SCAN`.
fn of_odd<const SCAN: bool>(a: &[Limb], e: &[Limb], m: &[Limb]) -> Vec<Limb> {
    let odd = Odd::new(m);
    let n = m.len();
    let one = odd.one();
    let square_of_radix = odd.square_of_radix(&one);

    // This takes in `a` from the top, `n` limbs at a time, in Montgomery's form.
    let mut base = memory::scratch(n);
    for chunk in a.chunks(n).rev() {
        let above = odd.product(&base, &square_of_radix);
        let own = odd.product(chunk, &square_of_radix);
        mod_add::scan(&mut base, &above, &own, m);
    }

    odd.retrieve(&by_windows::<SCAN, _>(e, one, &base, |x, y| {
        odd.product(x, y)
    }))
}

/// The power `base^e` by windows, computed from the forms of 1 and of the base and from the product
/// of forms, in constant time if `SCAN`.
pub(crate) fn by_windows<const SCAN: bool, W: Masked>(
    e: &[Limb],
    one: Vec<W>,
    base: &[W],
    product: impl Fn(&[W], &[W]) -> Vec<W>,
) -> Vec<W> {
    let window = power_window(e.len(), WIDEST_WINDOW);
    let n = one.len();
    let mut table = vec![one];
    for k in 1..1 << window {
        table.push(product(&table[k - 1], base));
    }
    let mut power = table[0].clone();
    let mut is_begun = false;
    for k in (0..(LIMB_BITS * e.len()).div_ceil(window)).rev() {
        let digit = digit(e, k * window, window);
        if is_begun {
            for _ in 0..window {
                power = product(&power, &power);
            }
        }
        if SCAN || digit != 0 {
            is_begun = true;
            let table = table.iter().map(Vec::as_slice);
            power = product(&power, &entry::<SCAN, W>(table, n, digit));
        }
    }
    power
}

/// Bits `at .. at + window` of the exponent.
pub(crate) fn digit(e: &[Limb], at: usize, window: usize) -> usize {
    let (i, bit) = (at / LIMB_BITS, at % LIMB_BITS);
    (word(limb(e, i + 1), limb(e, i)) >> bit) as usize & ((1 << window) - 1)
}

/// Entry `i` of a table of numbers of `n` words. If `SCAN`, all entries are read.
pub(crate) fn entry<'a, const SCAN: bool, W: Masked + 'a>(
    mut table: impl Iterator<Item = &'a [W]>,
    n: usize,
    i: usize,
) -> Vec<W> {
    let mut chosen = memory::scratch(n);
    if !SCAN {
        chosen.copy_from_slice(table.nth(i).expect("the digit of a window has its entry"));
        return chosen;
    }
    for (k, entry) in table.enumerate() {
        let mask = mask::of_equal(k, i);
        for (chosen, word) in chosen.iter_mut().zip(entry) {
            *chosen |= word.masked(mask);
        }
    }
    chosen
}
