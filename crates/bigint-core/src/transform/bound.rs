//! How far a product's coefficients can be from integers before they are rounded: the
//! proof that products by the transform are exact.
//!
//! `u` = 2^-53; every operation rounds to nearest. What is below 2^-1022 on the way adds
//! less than 2^-1000 to any error, which the slack at the end is much greater than. `|.|`
//! of a complex number, `||.||` of a vector is the square root of the sum of squares.
//! A stored root differs from the exact one by at most `B = sqrt(2) (2^-54 + 2^-60)`
//! ([`root`](super::root)).
//!
//! **A butterfly forward.** `p = a + w b` takes, in each component, two fused
//! multiply-adds; then `q = 2 a - p` takes one. The first of the two rounds (a component of)
//! `a + re(w) b`, the second `p`: together they are off by at most
//! `u (|a + re(w) b| + |p|)` =: `e`; and `q` by `e`, the other way, and `u |q|`. With
//! `N = ||(a, b)||`, the pair `(p, q)` has norm `sqrt(2) N`; `|a + re(w) b| <= sqrt(2) N`,
//! and `sqrt(2) |p| + |q| <= sqrt(3) sqrt(2) N`. So the pair is off by at most
//!
//! ```text
//! sqrt(2) e + u |q|  <=  u (2 + sqrt(6)) N,
//! ```
//!
//! which is `(2 + sqrt(6)) / sqrt(2) u` of its norm. The root's own error moves `p` and `q`
//! by `B |b|`, which is at most `B` of the norm. Together, with what is of second order:
//! `f = ((2 + sqrt(6)) / sqrt(2) u + B) (1 + 2^-40)`.
//! (The first level's operands are real and its root is `(1 + i) / sqrt(2)`: its product is
//! rounded once, by `u |b|`, which moves `p` and `q` by as much in both components, and each
//! sum once: `sqrt(2) u |b| + u ||(p, q)||` at most, which is less. Of a transform in parts
//! each has one of `p` and `q`, which then is by two fused multiply-adds as well: together
//! they are off by at most `2 sqrt(2) u N`.)
//!
//! **Forward.** A level multiplies norms by `sqrt(2)` and is otherwise unitary, so after
//! `l` levels the vector is off by at most `F = (1 + f)^l - 1` of its norm, which is
//! `2^(l/2)` that of the digits.
//!
//! **Products modulo `x^4 - z`.** Coefficient `k` is a sum of `a_i b_j` with `i + j = k` and
//! `z` times one with `i + j = k + 4`. By Cauchy and Schwarz, what is summed is at most
//! `|a| |b|`, the norms of the four coefficients of each. A product is added by two
//! operations in each component, of which the partial sums are no greater than the sum of
//! the terms' sizes: `m` products in a chain are off by `2 m u` of that, and multiplying by
//! `z` and adding by `2 u`, and `B` for the error of `z`. In the worst of the four
//! coefficients there are 3 products in one chain and the multiplication by `z`, or 4 in one
//! chain: at most `8 u + B` of `|a| |b|`, with what is of second order
//! `g = (8 u + B) (1 + 2^-40)`. (A square has each product of two different coefficients once, one of
//! them doubled, which is exact: chains are shorter, and sizes sum to the same.) Over all `2^l` leaves, `sum |a| |b|` is at most the product of
//! the norms of both vectors, `2^l ||a|| ||b||` of the digits.
//!
//! **Back.** A coefficient of the result is `2^-l` times the sum of one value of each leaf,
//! times roots. Let `s` of a value on the way be the sum of the sizes of the leaves' values
//! that it is made of. A butterfly's sums are rounded by at most `3 u s` (as above, with
//! `|a| + |b| <= s`), and a root that is not 1 or `i` adds `B s`; a multiplication by a root,
//! once for each value and pass, is off by `(2 u + B) s`. So after `l` levels and `P` passes
//! the result is off by at most `G = (1 + h)^l (1 + k)^P - 1` of `s`, where
//! `h = (3 u + B) (1 + 2^-40)` and `k = (2 u + B) (1 + 2^-40)`.
//!
//! Of a block's products more is known: where a pass begins its way back it has two levels of
//! sums without roots, each off by `u s`, or one where it has one; and the first level forward is
//! off by `2 u + B` of its norm. [`Plan::error_bound`] counts so.
//!
//! **Together**, a coefficient is off by at most
//!
//! ```text
//! ((1 + F)^2 (1 + g) (1 + G) - 1) ||a|| ||b||.
//! ```
//!
//! The last step scales by a power of two and adds `3 2^51` with one rounding, which is to
//! the nearest integer as long as coefficients are below 2^51. They are at most
//! `||a|| ||b||` < 2^45 here. So the product is exact for every operand if the bound is
//! below 1/2.

use super::{DIGIT_BITS, Plan};

impl Plan {
    /// The greatest distance of a coefficient from its integer, of the products of a block.
    ///
    /// ```
    /// use bigint_core::transform::Plan;
    /// assert!(Plan::of(512).error_bound() < 0.49);
    /// ```
    pub fn error_bound(&self) -> f64 {
        let length = u64::from(self.length());
        let levels = length.trailing_zeros() - 2;
        let first = (2.0 * U + stored()) * SLACK;
        let forth = both(first, forward(levels - 1));
        let of_passes =
            [self.parts, self.first, self.middle, self.last / 4].map(u32::trailing_zeros);
        let sums = of_passes.map(|levels| levels.min(2)).iter().sum();
        let back = both(
            both(
                power(U * SLACK, sums),
                power((3.0 * U + stored()) * SLACK, levels - sums),
            ),
            power((2.0 * U + stored()) * SLACK, self.passes()),
        );
        let relative = both(both(power(forth, 2), products()), back);
        relative * norms(length, DIGIT_BITS, self.is_balanced) * SLACK
    }
}

/// The greatest distance of a coefficient from its integer, for operands of `length`
/// digits of `digit_bits` bits, transforms of `length`, a power of two from 8 on, and so
/// many passes on the way back.
///
/// Balanced digits are at most `2^(digit_bits - 1)` in size, but for the top one, which is
/// at most `2^digit_bits`; the others are below `2^digit_bits`.
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

/// `u`.
pub(super) const U: f64 = 1.0 / (1_u64 << 53) as f64;

/// Evaluated with a few hundred roundings: the slack is far greater than they are.
const SLACK: f64 = 1.0 + 1.0 / (1_u64 << 40) as f64;

// Not below the exact values.
const SQRT_2: f64 = 1.414_213_562_374;
const SQRT_6: f64 = 2.449_489_742_784;

/// `B`.
pub(super) const fn stored() -> f64 {
    SQRT_2 * (U / 2.0 + U / 128.0)
}

/// `F`, after so many levels.
pub(super) fn forward(levels: u32) -> f64 {
    power(
        ((2.0 + SQRT_6) / SQRT_2 * U + stored()) * SLACK * SLACK,
        levels,
    )
}

/// `g`.
pub(super) fn products() -> f64 {
    (8.0 * U + stored()) * SLACK
}

/// `(1 + x)^n - 1`, of small `x`: the powers of `1 + x` would round `x` away.
pub(super) fn power(x: f64, n: u32) -> f64 {
    (0..n).fold(0.0, |sum, _| both(sum, x))
}

/// `(1 + x) (1 + y) - 1`.
pub(super) fn both(x: f64, y: f64) -> f64 {
    x + y + x * y
}

/// `||a|| ||b||` of digits as great as they can be.
pub(super) fn norms(length: u64, digit_bits: u32, is_balanced: bool) -> f64 {
    let squared = |bits: u32| (1_u64 << (2 * bits)) as f64;
    match is_balanced {
        true => (length - 1) as f64 * squared(digit_bits - 1) + squared(digit_bits),
        false => length as f64 * squared(digit_bits),
    }
}

/// The widest digits, in bits, of which products of `length` digits are proved exact.
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

    /// Lengths from 2^9 to 2^30: balanced digits, and others. The same table stands in
    /// docs/transforms.md.
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
