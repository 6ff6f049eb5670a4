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
//! beside the truncations: these are a few units of the last place. **Cost**: two products of
//! `n/2` by `n` limbs at the top level, and `O(M(n))` in all.

use super::limbs::{
    add_assign, decrement, increment, is_less_trimmed, shift_left, sub_assign, trim, trimmed,
};
use crate::Path;
use crate::memory::{empty, scratch};

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
        let v = reciprocal(&shifted);
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

/// An approximation of `B^2n / d` of `n + 1` limbs, within a few units, for `d`
/// of `n` limbs with its top bit set.
fn reciprocal(d: &[u64]) -> Vec<u64> {
    let n = d.len();
    if n <= 2 {
        return short_reciprocal(d);
    }
    let h = n / 2 + 1;
    let u = reciprocal(&d[n - h..]);
    // e = B^(n+h) - u d, with a sign. It is below a few times B^n.
    let mut e = scratch(n + h + 2);
    let zeros = d.iter().take_while(|&&limb| limb == 0).count();
    let long = &mut e[zeros..n + u.len()];
    super::mul(long, &u, &d[zeros..], Path::best(), true);
    let too_large = e[n + h] != 0 || e[n + h + 1] != 0;
    if too_large {
        e[n + h] -= 1;
    } else {
        negate(&mut e[..n + h]);
    }
    // u e / B^2h = (u (e / B^(n-h))) / B^(3h-n), but for the last place.
    let correction = product(&u, &e[n - h..]);
    let correction = correction.get(3 * h - n..).unwrap_or(&[]);
    let mut v: Vec<u64> = empty(n + 2);
    v.resize(n - h, 0);
    v.extend_from_slice(&u);
    v.resize(n + 2, 0);
    let correction = &correction[..correction.len().min(v.len())];
    if too_large {
        sub_assign(&mut v, correction);
    } else {
        add_assign(&mut v, correction);
    }
    v.truncate(n + 1);
    v
}

/// `floor((B^2n - 1) / d)`, bit by bit, for at most two limbs.
fn short_reciprocal(d: &[u64]) -> Vec<u64> {
    let n = d.len();
    let d = d
        .iter()
        .rev()
        .fold(0u128, |d, &limb| d << 64 | u128::from(limb));
    let mut quotient = vec![0; n + 1];
    let mut remainder = 0u128;
    for bit in (0..128 * n).rev() {
        // remainder < d, so 2 remainder + 1 needs one bit more than d.
        let carry = remainder >> 127 == 1;
        remainder = remainder << 1 | 1;
        if carry || remainder >= d {
            remainder = remainder.wrapping_sub(d);
            // The quotient is below 2 B^n.
            quotient[bit / 64] |= 1 << (bit % 64);
        }
    }
    quotient
}

/// Negates `x`: `x <- B^len - x`, but 0 stays 0.
fn negate(x: &mut [u64]) {
    for limb in x.iter_mut() {
        *limb = !*limb;
    }
    increment(x);
}

/// The product `a b`, without zeros at its end, on all threads where it is long.
pub(crate) fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut r = scratch(a.len() + b.len());
    super::mul(&mut r, a, b, Path::best(), true);
    trim(r)
}
