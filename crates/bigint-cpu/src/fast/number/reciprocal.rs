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
//! **Fractions** ([`fraction`]) of `x / d` take two such pieces, the second without a remainder, and of the first remainder
//! only the top half counts: of what is cut off there comes less than a unit of `B^-2g`, for `2 g` limbs.
//!
//! **Cost**, in transforms of `n` limbs: five for the last step of a reciprocal of as many, and ten in all; in pieces of
//! half a divisor of `n` limbs four for each, two of `d` and of `v`, and with the reciprocal of one half eleven for a quotient
//! of `n` limbs, where a product has six. A fraction of `n` limbs takes thirteen.

use super::limbs::{
    add_assign, decrement, increment, is_less, is_less_trimmed, shift_left, store, sub_assign,
    trim, trimmed,
};
use super::{Factor, division, long};
use crate::Path;
use crate::memory::{empty, scratch};
use crate::share;
use std::borrow::Cow;

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
    let v = reciprocal(&d[n - h..], path);
    // The product of u and e has n + 5 limbs at most.
    let u = Factor::modulo(&v, n, n + 6, path, true);
    let mut e = u.product(d, true);
    // u d - B^(n+h); what is below zero is in complement, and one more.
    let one = u.wraps().map_or(n + h, |limbs| (n + h) % limbs);
    sub_assign(&mut e[one..], &[1]);
    let is_too_large = e[e.len() - 1] >> 63 == 0;
    let e = &e[n - h..n + 2];
    // u e / B^2h = (u (e / B^(n-h))) / B^(3h-n), but for the last place.
    let correction = match is_too_large {
        true => u.product(e, true),
        false => {
            let mut size = scratch(e.len());
            long::complement(&mut size, e);
            u.product(&size, true)
        }
    };
    let (low, high) = correction[3 * h - n..2 * h + 3].split_at(n - h);
    let mut corrected = scratch(n + 1);
    let (below, above) = corrected.split_at_mut(n - h);
    share::copy(above, &v);
    if is_too_large {
        // -low is its complement and one.
        long::complement(below, low);
        if !increment(below) {
            decrement(above);
        }
        sub_assign(above, high);
    } else {
        share::copy(below, low);
        add_assign(above, high);
    }
    corrected
}

/// The highest limbs of the fraction of `x / d`, as many as `r` has: off by less than 2 of the last place, modulo 1. `d` is not
/// zero and has no zeros on top.
pub(crate) fn fraction(r: &mut [u64], x: &[u64], d: &[u64], path: Path) {
    let (k, m) = (r.len(), d.len());
    // At least a limb more than are wanted.
    let g = k / 2 + 1;
    if m < g + 2 || g < SHORT || !is_less_trimmed(trimmed(x), d) {
        let mut dividend = scratch(k + x.len());
        dividend[k..].copy_from_slice(x);
        let (quotient, _) = division::div_rem(trimmed(&dividend), d, path);
        r.fill(0);
        return store(r, &quotient);
    }
    let x = match x.get(..m) {
        Some(x) => Cow::Borrowed(x),
        None => {
            let mut padded = scratch(m);
            share::copy(&mut padded[..x.len()], x);
            Cow::Owned(padded)
        }
    };
    // Products of x and of d are shifted by as many bits, so that only what meets the reciprocal is.
    let (c, shift) = (m - g - 2, d[m - 1].leading_zeros());
    let top = |of: &[u64]| {
        let mut top = scratch(g + 1);
        long::shifted(&mut top, of, shift);
        top
    };
    let v = reciprocal(&top(&d[c..]), path);
    let v = Factor::modulo(&v, g + 1, 2 * g + 3, path, true);
    let mut upper = v.product(&top(&x[c..]), true);
    let upper = &mut upper[g + 2..2 * g + 3];
    let mut rest = rest_of_fraction(&x, d, upper, c, path);
    while rest[g + 3] >> 63 == 1 {
        long::add_assign(&mut rest, &d[c..]);
        decrement(upper);
    }
    while rest[g + 2..] != [0; 2] || !is_less(&rest[..g + 2], &d[c..]) {
        long::sub_assign(&mut rest, &d[c..]);
        increment(upper);
    }
    let mut lower = v.product(&top(&rest[..g + 2]), true);
    let lower = &mut lower[g + 2..2 * g + 3];
    // What is a power of B by rounding is just below it.
    if upper[g] > 0 {
        upper.fill(u64::MAX);
        lower.fill(u64::MAX);
    } else if lower[g] > 0 {
        lower.fill(u64::MAX);
    }
    let (below, above) = r.split_at_mut(k - g);
    share::copy(below, &lower[2 * g - k..g]);
    share::copy(above, &upper[..g]);
}

/// `x B^g - q d` from limb `c` on, to a unit or two of it, in `g + 4` limbs and in two's complement, for `x` as long as `d` and `q` of
/// `g + 1` limbs, for which it is at most a few times `d` in size.
fn rest_of_fraction(x: &[u64], d: &[u64], q: &[u64], c: usize, path: Path) -> Vec<u64> {
    let (m, g) = (d.len(), q.len() - 1);
    let factor = Factor::modulo(d, g + 1, m + 2, path, true);
    let product = factor.product(q, true);
    let mut rest = scratch(g + 4);
    // Limbs g .. m + 2 of x B^g.
    let from = c.max(g);
    share::copy(&mut rest[from - c..], &x[from - g..m + 2 - g]);
    if let Some(wraps) = factor.wraps() {
        // What is above limb N is added to the lowest limbs, where x B^g has zeros.
        let high = &x[(wraps - g).min(m)..];
        if let Some(high) = high.get(c..) {
            share::copy(&mut rest[..high.len()], high);
        }
    }
    long::sub_assign(&mut rest, &product[c..m + 2]);
    rest
}

/// The product `a b`, without zeros at its end, on all threads where it is long.
pub(crate) fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut r = scratch(a.len() + b.len());
    super::mul(&mut r, a, b, Path::best(), true);
    trim(r)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Random, adversaries, big};
    use super::*;
    use num_bigint::BigUint;

    /// Checks the fraction of `x / d` to so many limbs.
    fn check(x: &BigUint, d: &BigUint, k: usize) {
        let mut r = vec![7; k];
        let (x, d) = (x.to_u64_digits(), d.to_u64_digits());
        fraction(&mut r, &x, &d, Path::best());
        let one = BigUint::from(1u8) << (64 * k);
        let exact = (((big(&x) % big(&d)) << (64 * k)) + big(&d)) / big(&d);
        // Exact is the next above; modulo 1.
        let off = (&one + exact - big(&r)) % &one;
        let near = BigUint::from(2u8);
        assert!(
            off <= near || &one - &off <= BigUint::from(1u8),
            "{k}: {x:x?} / {d:x?}: {off}"
        );
    }

    #[test]
    fn fractions_are_within_a_unit() {
        let mut random = Random(41);
        for (m, k) in [
            (700, 700),
            (701, 702),
            (800, 801),
            (1000, 1003),
            (1500, 1100),
            (900, 1600),
            (700, 500),
        ] {
            for mut d in adversaries(m, &mut random) {
                d[m - 1] |= 1 << (random.next() % 64);
                let d = big(&d);
                let g = k / 2 + 1;
                // Numerators whose quotients are beside a boundary of the pieces, the ends, and any.
                let upper = big(&random.limbs(g)) * &d;
                let boundary: BigUint =
                    (upper + (BigUint::from(1u8) << (64 * g)) - 1u8) >> (64 * g);
                let any = big(&random.limbs(m)) % &d;
                let short = &any >> (64 * 31 + 5);
                let one = BigUint::from(1u8);
                for x in [
                    BigUint::ZERO,
                    one.clone(),
                    &d - 1u8,
                    &d >> 1,
                    boundary.clone(),
                    if boundary == BigUint::ZERO {
                        one
                    } else {
                        boundary - 1u8
                    },
                    any,
                    short,
                ] {
                    check(&(x % &d), &d, k);
                }
                // What is not less than the divisor is taken modulo it.
                check(&(&d * 3u8 + 5u8), &d, k);
            }
        }
    }
}
