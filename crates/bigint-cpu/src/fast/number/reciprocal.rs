//! Division by multiplication with the divisor's reciprocal.
//!
//! Let `B = 2^64`, `d` a divisor of `m` limbs and `v` an approximation of
//! `B^(n+m) / d`. For `x < d B^n`,
//!
//! ```text
//! q' = floor(floor(x / B^(m-1)) v / B^(n+1)),     r' = x - q' d
//! ```
//!
//! differs from the quotient by a few units: 2 from the truncations and as many
//! as `v` is off. The remainder is then corrected by `d` until it lies in
//! `[0, d)`, so the result is right whatever `v` is; the error of `v` only
//! decides how many corrections there are.
//!
//! **Newton**, for `d` extended by zeros and shifted so that `B^n / 2 <= d < B^n`, and
//! `v` near `B^2n / d`. From a reciprocal `u` of the top `h` limbs of `d`,
//! `2 h > n`, with `e = B^(n+h) - u d`:
//!
//! ```text
//! v = u B^(n-h) + u e / B^(2h)
//! ```
//!
//! A relative error of `c B^-h` in `u` leaves `c^2 B^-2h <= c^2 B^(-n-1)`,
//! which is nothing against the truncations: a few units of the last place.
//! **Cost**: two products of `n/2` by `n` limbs at the top, `O(M(n))` in all.

use super::limbs::{
    add_assign, decrement, increment, is_less_trimmed, shift_left, sub_assign, trim, trimmed,
};
use crate::Path;
use crate::memory::{empty, scratch};

/// A divisor's reciprocal.
pub(crate) struct Reciprocal {
    /// `B^point / d`, within a few units.
    pub(crate) limbs: Vec<u64>,
    pub(crate) point: usize,
}

impl Reciprocal {
    /// The reciprocal of a divisor that is not zero, trimmed, and of at most `n` limbs: for
    /// quotients of `n` limbs.
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

    /// `(x / d, x mod d)`, trimmed, where the quotient has at most `n` limbs; `d` and `n`
    /// as they were given to [`Reciprocal::new`].
    pub(crate) fn divide(&self, x: &[u64], d: &[u64]) -> (Vec<u64>, Vec<u64>) {
        // What is cut off counts for less than one.
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
        // In two's complement while negative: the top limb has the sign.
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
    // e = B^(n+h) - u d, with its sign; below B^n times a few.
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

/// `x <- B^len - x` (0 for 0).
fn negate(x: &mut [u64]) {
    for limb in x.iter_mut() {
        *limb = !*limb;
    }
    increment(x);
}

/// `a b`, trimmed, on the threads there are.
pub(crate) fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut r = scratch(a.len() + b.len());
    let threads = crate::threads() > 1;
    super::mul(&mut r, a, b, Path::best(), threads);
    trim(r)
}
