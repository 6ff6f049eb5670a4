//! The greatest distance of a product's coefficients from integers before they are rounded: the proof that products
//! by the transform are exact.
//!
//! Let `u` = 2^-53; every operation rounds to nearest. Values below 2^-1022 on the way add less than 2^-1000 to any
//! error, which is far less than the slack at the end. `|.|` is the absolute value of a complex number, `||.||` of a
//! vector the square root of the sum of the squares of its elements' absolute values. A stored root differs from the
//! exact one by at most `B = sqrt(2) (2^-54 + 2^-60)` ([`root`](super::root)).
//!
//! **A butterfly forward.** `p = a + w b` takes two fused multiply-adds in each component; then `q = 2 a - p` takes
//! one. The first one rounds `a + re(w) b`, the second `p`, so that `p` is off by at most
//! `e := u (|a + re(w) b| + |p|)`. `q` is off by the error of `p`, with the opposite sign, and by `u |q|`. With
//! `N = ||(a, b)||`, the pair `(p, q)` has norm `sqrt(2) N`; `|a + re(w) b| <= sqrt(2) N`, and
//! `sqrt(2) |p| + |q| <= sqrt(3) sqrt(2) N`. So the pair is off by at most
//!
//! ```text
//! sqrt(2) e + u |q|  <=  u (2 + sqrt(6)) N,
//! ```
//!
//! which is `(2 + sqrt(6)) / sqrt(2) u` times its norm. The root's own error moves `p` and `q` by `B |b|` each, which
//! together is at most `B` times the norm. The sum, with terms of second order, is
//! `f = ((2 + sqrt(6)) / sqrt(2) u + B) (1 + 2^-40)`.
//!
//! (The first level's operands are real and its root is `(1 + i) / sqrt(2)`. Its product is rounded once, by `u |b|`,
//! which moves `p` and `q` by as much in both components, and each sum is rounded once: the pair is off by at most
//! `sqrt(2) u |b| + u ||(p, q)||`, which is less. In a transform in parts, each part computes one of `p` and `q`, by
//! two fused multiply-adds: together they are off by at most `2 sqrt(2) u N`.)
//!
//! **Forward.** A level multiplies norms by `sqrt(2)` and is otherwise unitary. So after `l` levels the vector is off
//! by at most `F = (1 + f)^l - 1` times its norm, which is `2^(l/2)` times that of the digits.
//!
//! **Products modulo `x^4 - z`.** Coefficient `k` is the sum of the `a_i b_j` with `i + j = k`, and `z` times the sum
//! of those with `i + j = k + 4`. By Cauchy and Schwarz, the sizes of the terms sum to at most `|a| |b|`, the product
//! of the norms of the two vectors of four coefficients. A product is added by two operations in each component,
//! whose partial sums are no greater than the sum of the terms' sizes. So a chain of `m` products is off by `2 m u`
//! times that sum; multiplying by `z` and adding the result is off by `2 u` times it, and the error of `z` by `B`
//! times it. The worst of the four coefficients has 3 products in one chain and the multiplication by `z`, or 4
//! products in one chain: it is off by at most `8 u + B` times `|a| |b|`. With terms of second order this is
//! `g = (8 u + B) (1 + 2^-40)`. (A square computes each product of two different coefficients once, with one factor
//! doubled, which is exact: chains are shorter, and sizes have the same sum.) Over all `2^l` leaves, `sum |a| |b|` is
//! at most the product of the norms of both vectors, which is `2^l ||a|| ||b||` in terms of the digits.
//!
//! **Back.** A coefficient of the result is `2^-l` times a sum of one value of each leaf times a product of roots.
//! For a value on the way, let `s` be the sum of the sizes of the leaves' values of which it is made. The sums of a
//! butterfly are rounded by at most `3 u s` (as above, with `|a| + |b| <= s`), and a root that is not 1 or `i` adds
//! `B s`. Each pass multiplies a value by one more root, which is off by `(2 u + B) s`. So after `l` levels and `P`
//! passes the result is off by at most `G = (1 + h)^l (1 + k)^P - 1` times `s`, where `h = (3 u + B) (1 + 2^-40)` and
//! `k = (2 u + B) (1 + 2^-40)`.
//!
//! **A pass with an odd factor**, of radix `R = q p` with `q` = 4 or 2 and `p` = 3 or 5, multiplies by roots and
//! computes discrete Fourier transforms of `q` and of `p` values. Forward, the first is off by `2 u + B` of the norm,
//! each of the `log2 q` levels of sums by `u`. A transform of `p = 2 h + 1` values `x_k` is computed as
//!
//! ```text
//! s_k = x_k + x_(p-k),  d_k = x_k - x_(p-k)                      k = 1 .. h
//! y_0 = x_0 + s_1 + .. + s_h
//! c_j = x_0 + sum of cos(2 pi j k / p) s_k,  v_j = sum of sin(2 pi j k / p) d_k,  y_j, y_(p-j) = c_j + i v_j, c_j - i v_j
//! ```
//!
//! with constants that are off by `B / sqrt(2)`, in fused operations. It multiplies norms by `sqrt(p)`; errors below are
//! relative to `sqrt(p) ||x||`. Those of the `s_k` and `d_k` are `u`, since these have `sqrt(2)` times the norm of
//! their `x`, and reach the `y` by `sqrt(p/2)` times a unitary map. An error of `c_j` or `v_j` reaches two of the
//! `y`. After `k` terms, `c_j` is at most the norm of its row of coefficients times `||x||`; as the squares of
//! the cosines in a column sum to `p/2`, that step's errors for all `j`, with those of `y_0`, are at most `sqrt(1 + k) u`,
//! and likewise `sqrt(k) u` for the sines. After the last term the values are no longer than the `y` themselves, so that it
//! adds `u` for either, and the last sums add `u`. The constants' errors add at most `2 h / sqrt(p) B / sqrt(2)`, less
//! than `2 B`. Together that is `(4 + sum over k < h of (sqrt(k) + sqrt(k + 1))) u + 2 B`.
//! (The first pass of a transform in one part multiplies real digits, which is off by less.)
//!
//! Back, a transform of `p` values is off by at most `(sqrt(2) + 2 h + 1) u + sqrt(2) B` times the sum `s`: by the errors
//! of the `s_k` and `d_k`, of `h` steps each of `c_j` and `v_j`, whose partial sums are at most `s`, of the last sum and of the
//! constants. That is less than `(p + 2) u + 2 B`. And the factor by which results are scaled, which is not a power
//! of two, is off by `u`.
//!
//! For a block's products the bound is smaller. On the way back a pass begins with two levels of sums without roots
//! (or with one, if it has only one), each off by `u s`. The first level forward is off by `2 u + B` times its norm.
//! [`Plan::error_bound`] takes both into account.
//!
//! **Together**, a coefficient is off by at most
//!
//! ```text
//! ((1 + F)^2 (1 + g) (1 + G) - 1) ||a|| ||b||.
//! ```
//!
//! The last step scales by a power of two and adds `3 2^51` with one rounding, which rounds to the nearest integer as
//! long as coefficients are below 2^51. Here they are at most `||a|| ||b||` < 2^45. So the product is exact for all
//! operands if the bound is below 1/2.

use super::rings::RingPlan;
use super::{DIGIT_BITS, Plan};

impl Plan {
    /// A bound of the distance of a coefficient from its integer, for the products of a block.
    ///
    /// ```
    /// use bigint_core::transform::Plan;
    /// assert!(Plan::of(512).error_bound() < 0.49);
    /// ```
    pub fn error_bound(&self) -> f64 {
        let length = u64::from(self.length());
        let odd = self.odd();
        let levels = (length / u64::from(odd)).trailing_zeros() - 2;
        let [odd_forth, _] = odd_transform(odd);
        let multiplication = (2.0 * U + stored()) * SLACK;
        let forth = match odd {
            1 => both(multiplication, forward(levels - 1)),
            _ => {
                // Parts have a first level above that pass.
                let apart = u32::from(self.parts > 1);
                let sums = self.first.trailing_zeros();
                let pass = both(both(multiplication, power(U * SLACK, sums)), odd_forth);
                let above = power(multiplication, apart);
                both(both(above, pass), forward(levels - apart - sums))
            }
        };
        let back = self.back(self.passes());
        let relative = both(both(power(forth, 2), products()), back);
        relative * norms(length, DIGIT_BITS, self.is_balanced) * SLACK
    }

    /// The relative error `G` of the way back, on which so many passes multiply by roots.
    fn back(&self, passes: u32) -> f64 {
        let levels = (self.length() / self.odd()).trailing_zeros() - 2;
        let of_passes =
            [self.parts, self.first, self.middle, self.last / 4].map(u32::trailing_zeros);
        let sums = of_passes.map(|levels| levels.min(2)).iter().sum();
        let [_, odd_back] = odd_transform(self.odd());
        both(
            both(
                power(U * SLACK, sums),
                power((3.0 * U + stored()) * SLACK, levels - sums),
            ),
            both(power((2.0 * U + stored()) * SLACK, passes), odd_back),
        )
    }
}

impl RingPlan {
    /// A bound of the distance of a coefficient from its integer, for [products in two rings](super::rings), and the most
    /// that a limb takes from the one below it, in parts of `2^32`.
    ///
    /// A polynomial of `2 L` digits of size at most `d` becomes `L` values `u + z v`, whose norm squared is at most
    /// `2 L d d`, or, where `z` is `e(1/6)`, half as much more; making them is off by `2 u` of it. A sum of two products is
    /// off by the errors of both and by `u` of it. A coefficient `im(s) / sqrt(3) +- re(s)` is off by `sqrt(4/3)` times the
    /// error of `s`, by the constant and by one rounding.
    ///
    /// A lower digit is at most 2^15, and an upper one at most 2^15 and what its limb takes from the one below, of whose
    /// two coefficients the upper counts 2^16 times; and the two digits that get `j` or a correction are one more. The top digit of a
    /// number that comes from memory is at most 2^16.
    pub fn error_bound(&self) -> (f64, f64) {
        let plan = self.plan();
        let (length, odd) = (u64::from(plan.length()), plan.odd());
        let levels = (length / u64::from(odd)).trailing_zeros() - 2;
        let multiplication = (2.0 * U + stored()) * SLACK;
        let [odd_forth, _] = odd_transform(odd);
        let forth = match odd {
            1 => forward(levels),
            _ => {
                let sums = plan.first.trailing_zeros();
                let pass = both(both(multiplication, power(U * SLACK, sums)), odd_forth);
                both(pass, forward(levels - sums))
            }
        };
        let forth = both(2.0 * U, forth);
        let relative = both(both(power(forth, 2), products()), plan.back(plan.passes()));
        // Both terms of the sum, and what comes of them.
        let most = |digit: f64| {
            let norms = 1.5 * (2.0 * length as f64 * digit * digit + TWO_16 * TWO_16);
            2.0 * norms * SQRT_4_3
        };
        let half = TWO_16 / 2.0;
        let mut digit = half;
        for _ in 0..64 {
            let taken = most(digit) * (TWO_16 + 1.0) / (TWO_16 * TWO_16) + 1.0;
            digit = half + taken / TWO_16 + 2.0;
        }
        let bound = (both(relative, 4.0 * U + stored())) * most(digit) * SLACK;
        (bound, (digit - half) / TWO_16)
    }
}

/// What two neighbouring digits differ by.
const TWO_16: f64 = (1_u64 << DIGIT_BITS) as f64;

/// Not below the exact value of `sqrt(4/3)`.
const SQRT_4_3: f64 = 1.154_700_538_380;

/// A bound of the distance of a coefficient from its integer. It holds for operands of `length` digits of
/// `digit_bits` bits, for transforms of `length`, a power of two from 8 on, and for `passes` passes on the way back.
///
/// Balanced digits are at most `2^(digit_bits - 1)` in size, except for the top one, which is at most `2^digit_bits`.
/// Digits that are not balanced are below `2^digit_bits`.
///
/// ```
/// use bigint_core::transform::error_bound;
/// assert!(error_bound(1 << 13, 16, true, 4) < 0.15);
/// assert!(error_bound(1 << 13, 16, false, 4) > 0.5);
/// ```
pub fn error_bound(length: u64, digit_bits: u32, is_balanced: bool, passes: u32) -> f64 {
    let levels = length.trailing_zeros() - 2;
    let back = both(
        power((3.0 * U + stored()) * SLACK, levels),
        power((2.0 * U + stored()) * SLACK, passes),
    );
    let relative = both(both(power(forward(levels), 2), products()), back);
    relative * norms(length, digit_bits, is_balanced) * SLACK
}

/// The unit of rounding `u` of the proof.
pub(super) const U: f64 = 1.0 / (1_u64 << 53) as f64;

/// A factor that covers the roundings of the bound's own evaluation: they are a few hundred, and far smaller.
const SLACK: f64 = 1.0 + 1.0 / (1_u64 << 40) as f64;

// These are not below the exact values.
const SQRT_2: f64 = 1.414_213_562_374;
const SQRT_6: f64 = 2.449_489_742_784;

/// The error `B` of a stored root.
pub(super) const fn stored() -> f64 {
    SQRT_2 * (U / 2.0 + U / 128.0)
}

/// The relative error `F` after so many levels forward.
pub(super) fn forward(levels: u32) -> f64 {
    power(forward_by(stored()), levels)
}

/// The relative error of a level forward, by roots that are off by so much.
pub(super) fn forward_by(root: f64) -> f64 {
    ((2.0 + SQRT_6) / SQRT_2 * U + root) * SLACK * SLACK
}

/// The relative error `g` of products modulo `x^4 - z`.
pub(super) fn products() -> f64 {
    (8.0 * U + stored()) * SLACK
}

/// The relative errors of a discrete Fourier transform of `p` = 3, 5 or 9 values: forward, and back with that of the
/// factor that scales results. There are none where `p` is 1. One of 9 values is two of 3, with roots between them.
pub(super) fn odd_transform(p: u32) -> [f64; 2] {
    if p == 9 {
        let roots = (2.0 * U + stored()) * SLACK;
        return odd_transform(3).map(|threes| both(power(threes, 2), roots));
    }
    // 4 + 1 + sqrt(2) where `h` is 2, not below the exact value.
    let forward = match p {
        1 => return [0.0; 2],
        3 => 4.0,
        _ => 6.415,
    };
    let of = |roundings: f64| (roundings * U + 2.0 * stored()) * SLACK;
    [of(forward), both(of(f64::from(p + 2)), U)]
}

/// `(1 + x)^n - 1` for small `x`. It is computed without `1 + x`, which would round `x` away.
pub(super) fn power(x: f64, n: u32) -> f64 {
    (0..n).fold(0.0, |sum, _| both(sum, x))
}

/// `(1 + x) (1 + y) - 1`.
pub(super) fn both(x: f64, y: f64) -> f64 {
    x + y + x * y
}

/// The norms' product `||a|| ||b||`, for the greatest digits.
pub(super) fn norms(length: u64, digit_bits: u32, is_balanced: bool) -> f64 {
    let squared = |bits: u32| (1_u64 << (2 * bits)) as f64;
    match is_balanced {
        true => (length - 1) as f64 * squared(digit_bits - 1) + squared(digit_bits),
        false => length as f64 * squared(digit_bits),
    }
}

/// The widest digits, in bits, for which products of `length` digits are proved exact.
///
/// ```
/// use bigint_core::transform::widest_digit;
/// assert_eq!(widest_digit(1 << 13, true, 4), 16);
/// ```
pub fn widest_digit(length: u64, is_balanced: bool, passes: u32) -> u32 {
    let mut bits = 2;
    while error_bound(length, bits + 1, is_balanced, passes) < 0.5 {
        bits += 1;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::super::LANES;
    use super::*;

    #[test]
    fn every_plan_is_exact_by_proof() {
        for lanes in LANES {
            let plan = Plan::of(lanes);
            let bound = plan.error_bound();
            assert!(bound < 0.5, "{lanes} lanes: {bound}");
        }
    }

    /// The widest digits for lengths from 2^9 to 2^30, balanced and not. The same table stands in docs/transforms.md.
    #[test]
    fn digits_get_narrower_by_half_a_bit_and_a_little_as_lengths_double() {
        let widest =
            |is_balanced| move |log: u32| widest_digit(1 << log, is_balanced, log.div_ceil(3));
        let balanced = core::array::from_fn::<_, 22, _>(|i| widest(true)(i as u32 + 9));
        let plain = core::array::from_fn::<_, 22, _>(|i| widest(false)(i as u32 + 9));
        assert_eq!(
            balanced,
            [
                19, 18, 18, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 11, 11, 10, 10, 9, 9, 8, 8, 7
            ]
        );
        assert_eq!(plain, balanced.map(|bits| bits - 1));
    }
}
