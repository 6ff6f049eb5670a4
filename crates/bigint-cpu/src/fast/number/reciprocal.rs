//! Division by a product with the reciprocal of the divisor.
//!
//! Let `B = 2^64`, let `d` be a divisor of `m` limbs, and `v` an approximation of
//! `B^(n+m) / d`. For `x < d B^n`,
//!
//! ```text
//! q' = floor(floor(x / B^(m-1)) v / B^(n+1)),     r' = x - q' d
//! ```
//!
//! differs from the quotient by a few units: at most 2 from the truncations, and as many as `v`
//! is off. The remainder is then corrected by `d` until it is in `[0, d)`. So the result is
//! right whatever `v` is, and the error of `v` only decides how many corrections there are.
//!
//! **Newton's method.** `d` is extended by zeros and shifted so that `B^n / 2 <= d < B^n`, and
//! `v` approximates `B^2n / d`. It is computed from a reciprocal `u` of the top `h` limbs of
//! `d`, where `2 h > n`. With `e = B^(n+h) - u d`:
//!
//! ```text
//! v = u B^(n-h) + u e / B^(2h)
//! ```
//!
//! A relative error of `c B^-h` in `u` becomes `c^2 B^-2h <= c^2 B^(-n-1)`, which is negligible
//! beside the truncations: these are a few units of the last place. As `e` is below a few times `B^n`, the product
//! `u d` may [wrap](super::Factor::modulo) above limb `n + 2`; that `e` is off by one there is negligible, too.
//!
//! **In pieces** ([`Divisor`]). For quotients of at most `g` limbs the reciprocal of the top `g + 1` limbs of `d` is enough: `q'`
//! is off by one at most, as what `d` and `v` lack is worth `B^(1-g)` and less of it. Of `r'`, which is below `2 d` in size, a product
//! modulo `B^N - 1`, `N > m + 1`, tells everything.
//!
//! **Cost**, in transforms of `n` limbs: five for the last step of a reciprocal of as many, and ten in all; in pieces of
//! half a divisor of `n` limbs four for each, two of `d` and of `v`, and with the reciprocal of one half eleven for a quotient
//! of `n` limbs, where a product has six.

use super::limbs::{
    add_assign, decrement, increment, is_less, is_less_trimmed, shift_left, sub_assign, trim,
    trimmed,
};
use super::{Factor, division};
use crate::Path;
use crate::memory::{empty, scratch};

/// The limbs of the reciprocals that are divided for.
const SHORT: usize = 300;

/// The reciprocal of a divisor.
pub(crate) struct Reciprocal {
    /// The limbs of `B^point / d`, within a few units.
    pub(crate) limbs: Vec<u64>,
    pub(crate) point: usize,
}

impl Reciprocal {
    /// The reciprocal of a divisor, for quotients of `n` limbs. The divisor is not zero, and
    /// has at most `n` limbs and no zeros at its end.
    pub(crate) fn new(d: &[u64], n: usize) -> Self {
        let shift = d.last().map_or(0, |top| top.leading_zeros());
        let mut shifted = scratch(n);
        shift_left(&mut shifted[n - d.len()..], d, shift);
        let v = reciprocal(&shifted, Path::best());
        drop(shifted);
        let mut limbs = scratch(v.len() + 1);
        shift_left(&mut limbs, &v, shift);
        Reciprocal {
            limbs: trim(limbs),
            point: n + d.len(),
        }
    }

    /// The quotient and the remainder of `x` by `d`, without zeros at their ends. The quotient
    /// has at most `n` limbs. `d` and `n` are those of [`Reciprocal::new`].
    pub(crate) fn divide(&self, x: &[u64], d: &[u64]) -> (Vec<u64>, Vec<u64>) {
        // The limbs that are cut off count for less than one.
        let cut = d.len() - 1;
        let estimate = product(x.get(cut..).unwrap_or(&[]), &self.limbs);
        let estimate = estimate.get(self.point - cut..).unwrap_or(&[]);
        let mut quotient = empty(estimate.len() + 1);
        quotient.extend_from_slice(estimate);
        let estimate = product(&quotient, d);
        let length = x.len().max(estimate.len()).max(d.len()) + 1;
        let mut remainder = empty(length);
        remainder.extend_from_slice(x);
        remainder.resize(length, 0);
        quotient.push(0);
        // A negative remainder is in two's complement, and its top limb has the sign.
        sub_assign(&mut remainder, &estimate);
        while remainder[length - 1] >> 63 == 1 {
            add_assign(&mut remainder, d);
            decrement(&mut quotient);
        }
        while !is_less_trimmed(trimmed(&remainder), d) {
            sub_assign(&mut remainder, d);
            increment(&mut quotient);
        }
        (trim(quotient), trim(remainder))
    }
}

/// A divisor whose top bit is set, for many quotients of at most `g` limbs.
pub(crate) struct Divisor<'a> {
    limbs: &'a [u64],
    g: usize,
    /// The divisor, and the reciprocal of its top `g + 1` limbs, as factors.
    factor: Factor,
    reciprocal: Factor,
}

impl<'a> Divisor<'a> {
    pub(crate) fn new(d: &'a [u64], g: usize, path: Path) -> Self {
        let (m, kept) = (d.len(), d.len().min(g + 1));
        let mut top = scratch(g + 1);
        top[g + 1 - kept..].copy_from_slice(&d[m - kept..]);
        let v = reciprocal(&top, path);
        Divisor {
            limbs: d,
            g,
            factor: Factor::modulo(d, g + 1, m + 2, path, true),
            reciprocal: Factor::modulo(&v, g + 1, 2 * g + 3, path, true),
        }
    }

    /// Stores the quotient of `x` in `q`, and the remainder in the lower `m` limbs of `x`, whose upper `m` limbs are less
    /// than the divisor.
    pub(crate) fn divide(&self, q: &mut [u64], x: &mut [u64]) {
        let (m, k) = (self.limbs.len(), q.len());
        let estimate = self.reciprocal.product(&x[m - 1..], true);
        let mut quotient = empty(k + 1);
        quotient.extend_from_slice(&estimate[self.g + 2..][..k + 1]);
        drop(estimate);
        // In two's complement.
        let mut rest = self.rest(x, &quotient);
        while rest[m + 1] >> 63 == 1 {
            add_assign(&mut rest, self.limbs);
            decrement(&mut quotient);
        }
        while rest[m] != 0 || !is_less(&rest[..m], self.limbs) {
            sub_assign(&mut rest, self.limbs);
            increment(&mut quotient);
        }
        q.copy_from_slice(&quotient[..k]);
        x[..m].copy_from_slice(&rest[..m]);
    }

    /// `x - q d` in `m + 2` limbs, which is below `B^(m+1)` in size.
    fn rest(&self, x: &[u64], q: &[u64]) -> Vec<u64> {
        let width = self.limbs.len() + 2;
        let product = self.factor.product(q, true);
        let kept = self.factor.wraps().unwrap_or(width);
        let (low, high) = x.split_at(kept.min(x.len()));
        let mut rest = empty(kept);
        rest.extend_from_slice(low);
        rest.resize(kept, 0);
        if self.factor.wraps().is_none() {
            sub_assign(&mut rest, &product[..kept]);
            return rest;
        }
        // B^N is 1.
        if add_assign(&mut rest, high) {
            increment(&mut rest);
        }
        if sub_assign(&mut rest, &product) {
            decrement(&mut rest);
        }
        if rest[kept - 1] >> 63 == 1 {
            increment(&mut rest);
        }
        rest.truncate(width);
        rest
    }
}

/// An approximation of `B^2n / d` of `n + 1` limbs, within a few units, for `d`
/// of `n` limbs with its top bit set.
fn reciprocal(d: &[u64], path: Path) -> Vec<u64> {
    let n = d.len();
    if n <= SHORT {
        // floor((B^2n - 1) / d)
        let mut ones = vec![u64::MAX; 2 * n];
        let mut v = vec![0; n + 1];
        v[n] = division::divide(&mut v[..n], &mut ones, d, path).into();
        return v;
    }
    let h = n / 2 + 1;
    let mut v = reciprocal(&d[n - h..], path);
    // The product of u and e has n + 5 limbs at most.
    let u = Factor::modulo(&v, n, n + 6, path, true);
    let mut e = u.product(d, true);
    // u d - B^(n+h); what is below zero is in complement, and one more.
    let one = u.wraps().map_or(n + h, |limbs| (n + h) % limbs);
    sub_assign(&mut e[one..], &[1]);
    let is_too_large = e[e.len() - 1] >> 63 == 0;
    let e = &mut e[n - h..n + 2];
    if !is_too_large {
        e.iter_mut().for_each(|limb| *limb = !*limb);
    }
    // u e / B^2h = (u (e / B^(n-h))) / B^(3h-n), but for the last place.
    let correction = u.product(e, true);
    let correction = &correction[3 * h - n..2 * h + 3];
    let mut shifted = empty(n + 1);
    shifted.resize(n - h, 0);
    shifted.append(&mut v);
    if is_too_large {
        sub_assign(&mut shifted, correction);
    } else {
        add_assign(&mut shifted, correction);
    }
    shifted
}

/// The product `a b`, without zeros at its end, on all threads where it is long.
pub(crate) fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut r = scratch(a.len() + b.len());
    super::mul(&mut r, a, b, Path::best(), true);
    trim(r)
}
