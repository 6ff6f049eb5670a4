//! The greatest distance of a coefficient from its integer before it is rounded: the proof that products on the whole
//! device are exact.
//!
//! Notation, and what a stored root (`B`) and single operations are off by, are as in the [proof](super::super::error_bound) for
//! a block. This one is sharper: each rounding is followed to the coefficient by itself, together with what it is multiplied
//! by, and what sums of digits can be is used at every level. All terms that have one error as a factor are summed. As all
//! relative errors together are below 2^-44, the terms that have two or more of them are less than 2^-40 times that sum.
//!
//! **Norms.** A digit is at most `D = 2^(digit_bits - 1)` in size, the top one `2 D`. Of `L` digits any half has squares that
//! sum to at most `N^2 / 2`, and any quarter to at most `N^2 / 4`, with `N^2 = (L + 12) D^2`. At a level with `n` nodes, the
//! values in one place of all nodes are `sqrt(n)` times a unitary map of the `n` digits that they are made of. So in the `n`
//! polynomials `lo + x^m hi` modulo `x^2m - z` of that level both `||lo||` and `||hi||` are at most `sqrt(n/2) N`, and
//! `||lo||^2 + ||hi||^2` is at most `n N^2`.
//!
//! **Products.** Let `a` and `b` be the values of both operands at such a level. Coefficient `k` of the product is `1/n` times a
//! sum over the nodes, each with a factor on the unit circle, of the `a_i b_j` with `i + j = k` modulo `2 m`, of which some are
//! multiplied by `z`. Where every `hi_i` of `a` is off by `e_i`, it is off by at most `1/n` times the sum of all
//! `|e_i| |b_j|`. These `b_j` are made of half of the digits, so that by Cauchy and Schwarz' inequality this is at most
//!
//! ```text
//! ||e|| sqrt(n/2) N / n  =  ||e|| N / sqrt(2 n).
//! ```
//!
//! **A level forward** computes `p = lo + w hi` by two fused operations, and `q = 2 lo - p`. An error of `p` stands in `q` with the
//! opposite sign, as if `hi` were off by as much. Let `||p||` be `x sqrt(2 n) N` and `||q||` be `x' sqrt(2 n) N`, so that
//! `x^2 + x'^2 <= 1`, and `y`, `y'` the same of the other operand. In terms of `N^2`:
//!
//! * The root's error, `||e|| <= B ||hi||`, makes `B / 2`.
//! * The first operation rounds `lo + w re(hi)`, which is half of `p` and half of `lo` plus `w` times the conjugate of `hi`. So
//!   `||e|| <= (x + 1) / 2 sqrt(2 n) N u`, which makes `(x + 1) / 2 u`.
//! * The second rounds `p`, which makes `x u`.
//! * The rounding of `q` is an error of its own, of the values of `2 n` nodes. It makes `x' y' u`.
//!
//! For both operands the last three are `(1 + 3/2 x + 3/2 y + 2 x' y') u`. As `2 x' y' <= 2 - x^2 - y^2`, and `3/2 x - x^2 <= 9/16`,
//! this is at most `33/8 u`: a level makes `33/8 u + B`. The first level, of real digits, rounds a product, which is
//! off by `u |hi|`, and the real parts of `p` and of `q`: it makes `3 u + B`.
//!
//! A first pass with an odd factor is off by so much of the norm as that of a block is, which counts for either operand.
//!
//! **Products modulo `x^4 - z`.** As each of the four places is made of a quarter of the digits, the products `a_i b_j` of all
//! nodes for one `i` and one `j` have sizes that sum to at most `n N^2 / 4`. In these units, a chain of `m` products is rounded
//! twice at each of the sizes 1 to `m`, and multiplying by `z` twice at the size 4. Coefficients 0 and 2, with chains of one and of
//! three products, are rounded most: `(2 + 12 + 8) / 4 u`, and `z` multiplies at most three products. So products make `11/2 u` and
//! `3/4` of the root's error.
//!
//! **Back**, a level makes a value of each of its `n` nodes, which is off by at most `3 u + B` times its size: by a difference, a
//! product and a root. The sizes of all that make a coefficient sum to at most `n N^2`, as it is `1/n` times a sum of the
//! `a_i b_j`. So a level makes `3 u + B`. The last pass does for the first two of three levels with sums alone, or has an odd
//! factor, and multiplies by roots, and by the factor that scales results.
//!
//! **Sums of two products**, `a d + b c`, are formed modulo `x^4 - z`. Up to there either product's errors are as above. The sum
//! rounds each value once, by `u` of at most `2 N^2`, which counts for the sum of both. Back, sizes sum to at most `2 n N^2`.
//! **Where the digits' norms are known**, `||a||` and `||b||`, but not how digits are spread, a half may have all of them. Then in terms of
//! `||a|| ||b||`, for fractions of the norms as above, an error of `hi` meets all of `b`:
//!
//! * A level forward makes `2 B`, and by roundings `sqrt(2) (1 + 3/2 x + 3/2 y) u + 2 x' y' u`, which is greatest for `x` and `y` of 1:
//!   `4 sqrt(2) u`. The first one, of real digits, makes `4 u + 2 B`: `2 u + 2 B` by the product, and the rest as above.
//! * A product of one place by one other is rounded eight times at most: the first one of a chain of four, or the first of a chain of three
//!   that `z` multiplies. All sizes sum to at most `n ||a|| ||b||`. So products make `8 u`, and the root's error.
//! * The sizes of all that make a coefficient sum to as much, so that what is made on the way back is as above; and so is what an odd
//!   factor makes, which is relative to the norm.
//!
//! Balanced digits that are as likely as each other have a third of the greatest norms' product. Where a bound of norms of half a
//! coefficient is above that, digits may have a bit more than is proved for all operands: norms of operands are summed, which is exact, and
//! the product is right where they are within the bound, however digits are spread.
//!
//! **Roots of a row's further levels** are products of two stored ones. The row's own is less than 1/32 of a turn, so that its
//! imaginary part is below 1/4, and off by no more than 2^-56 + 2^-60: the root is off by at most `.53 u`. All numbers in the product are
//! below 1, or the other root is 1. So either of two roundings is off by at most `u/2` in each component: the product is off by
//! `C = B + (.53 + sqrt(2)) u` in place of `B`.

use super::super::bound::{U, odd_transform, stored};
use super::{FIRST_LEVELS, GridPlan};

/// A factor that covers terms of second order, the errors of roundings above, and those of this evaluation.
const SLACK: f64 = 1.0 + 1.0 / (1_u64 << 30) as f64;

/// The error `C` of the product of two stored roots.
fn of_two() -> f64 {
    stored() + (0.53 + 1.414_213_562_374) * U
}

/// What depends on how the squares of digits are spread: the roundings of a level forward, in units of `u`, and its roots' errors; and
/// the same of products modulo `x^4 - z`.
struct Spread {
    level: f64,
    roots: f64,
    products: f64,
    products_roots: f64,
}

/// No half of the digits has more than half of the sum, and no quarter more than a quarter.
const HALVES: Spread = Spread {
    level: 4.125,
    roots: 1.0,
    products: 5.5,
    products_roots: 0.75,
};

/// Nothing is known but the sum. The level's number is not below `4 sqrt(2)`.
const WHOLE: Spread = Spread {
    level: 5.657,
    roots: 2.0,
    products: 8.0,
    products_roots: 1.0,
};

impl GridPlan {
    /// A bound of the distance of a coefficient from its integer before it is rounded, with the proof above.
    ///
    /// ```
    /// use bigint_core::transform::grid::GridPlan;
    /// assert!(GridPlan::of(1 << 14).unwrap().error_bound() < 0.496);
    /// ```
    pub fn error_bound(&self) -> f64 {
        self.bound(1)
    }

    /// The same for [products that wrap](super#products-that-wrap), whose points have two digits each.
    pub fn wrapped_error_bound(&self) -> f64 {
        self.bound(2)
    }

    /// The same for [two products](super#two-products-of-the-same-points): sums of two, of points with a digit each, whose
    /// coefficients and errors are sums of those of either; and products that wrap, of which one factor has a digit a point.
    pub fn pair_error_bound(&self) -> f64 {
        let of_sums = self.error_bound() + U * self.greatest(1) * SLACK;
        self.wrapped_error_bound().max(2.0 * of_sums)
    }

    /// The greatest product of the sums of both operands' squared digits for which a coefficient is proved to be off by less than
    /// half.
    pub fn greatest_norms(&self) -> f64 {
        let norms = 0.5 / self.relative_bound(1, &WHOLE);
        norms * norms / SLACK
    }

    /// The bound for points that are made of so many digits.
    fn bound(&self, digits: u32) -> f64 {
        self.relative_bound(digits, &HALVES) * self.greatest(digits)
    }

    /// The same in terms of the norms' product.
    fn relative_bound(&self, digits: u32, spread: &Spread) -> f64 {
        let (first, odd) = (self.radix.trailing_zeros(), self.odd());
        let [odd_forth, odd_back] = odd_transform(odd);
        let multiplication = 2.0 * U + stored();
        let forth =
            |levels: u32, root: f64| f64::from(levels) * (spread.level * U + spread.roots * root);
        let back = |levels: u32, root: f64| f64::from(levels) * (3.0 * U + root);
        let of_first = match odd {
            1 if digits == 1 => {
                (2.0 + spread.roots) * U + spread.roots * stored() + forth(first - 1, stored())
            }
            1 => forth(first, stored()),
            _ => 2.0 * (multiplication + f64::from(first) * U + odd_forth),
        };
        let of_last = match odd {
            1 => 2.0 * U + back(first - 2, stored()),
            _ => f64::from(first) * U + odd_back,
        };
        let (columns, rows) = (
            self.log_part + FIRST_LEVELS,
            self.log_row - 2 - FIRST_LEVELS,
        );
        let of_levels =
            |level: &dyn Fn(u32, f64) -> f64| level(columns, stored()) + level(rows, of_two());
        let products = spread.products * U + spread.products_roots * of_two();
        let all =
            of_first + of_levels(&forth) + products + of_levels(&back) + of_last + multiplication;
        all * SLACK
    }

    /// What no coefficient is above, `N^2`, for points that are made of so many digits.
    pub(super) fn greatest(&self, digits: u32) -> f64 {
        let length = u64::from(digits) * u64::from(self.length());
        (length + 12) as f64 * (1_u64 << (2 * (self.digit_bits - 1))) as f64
    }

    /// The odd factor of the length: 1, 3, 5 or 9.
    const fn odd(&self) -> u32 {
        self.radix >> self.radix.trailing_zeros()
    }
}
