//! Karatsuba's product on columns, in every lane.
//!
//! With `X = 2^(D h)`, `a = a1 X + a0`, `b = b1 X + b0`:
//!
//! ```text
//! a b = z2 X^2 + (zm - z0 - z2) X + z0,
//! z0 = a0 b0,   z2 = a1 b1,   zm = (a0 + a1)(b0 + b1)
//! ```
//!
//! Sums, not differences: one digit more costs less than the sign of every lane.
//! Columns are combined without carries, as signed words, so that the linear work
//! of a split is a few additions per column.
//!
//! **Bounds.** Every function returns a bound `c` with `|r[k]| <= c U`, `U` the
//! [column unit](HEADROOM). If `c` bounds `z0`, `z2` and `zm`, a column
//! of the result is one of each at most, and one more of `z0` or `z2`: `4 c` bounds
//! it. Where `4 c U` would leave the signed word, the three are carried through
//! first: their values are not negative and fit their digits, so this loses nothing
//! and makes `c = 1`.
//!
//! Scratch: [`scratch`] vectors.

use super::digits::normalise;
use super::school;
use super::vector::{DIGIT_BITS, HEADROOM, Vector, terms};
use crate::fast::prefetch::Lines;

/// Digits of the shorter operand from which a product is split.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thresholds {
    product: usize,
    square: usize,
}

impl Thresholds {
    /// These thresholds, kept where the proofs of this file and of the base case
    /// hold: 8 digits or more are split well, and a column of as many products as
    /// are not split stays within its signed word. A low product of fewer columns than
    /// twice the threshold is not split, so that has room for half as many.
    pub fn new(product: usize, square: usize) -> Self {
        let most = (HEADROOM / terms(1)) as usize - 1;
        Thresholds {
            product: product.clamp(8, most.div_ceil(2)),
            square: square.clamp(8, most),
        }
    }
}

/// How a product of `n >= m` digits is split, at `h = ceil(n / 2)`.
enum Split {
    /// Too short.
    Base,
    /// The shorter operand has little beyond `X`: only the longer one is split.
    Two,
    /// Both are. `m >= h + 2`, so that `h + (2 h + 1) <= n + m`: all columns of
    /// `zm X` that are not zero are columns of the result.
    Three,
}

fn split(n: usize, m: usize, threshold: usize) -> Split {
    if m < threshold {
        Split::Base
    } else if m < n.div_ceil(2) + 2 {
        Split::Two
    } else {
        Split::Three
    }
}

/// Vectors of scratch for a product of `n` by `m` digits.
///
/// Of a square, if both are the same.
pub(super) fn scratch(thresholds: Thresholds, n: usize, m: usize) -> usize {
    depth(n, m, thresholds.product.min(thresholds.square))
}

fn depth(n: usize, m: usize, threshold: usize) -> usize {
    let (n, m) = (n.max(m), n.min(m));
    let h = n.div_ceil(2);
    match split(n, m, threshold) {
        Split::Base => 0,
        Split::Two => {
            let below = depth(h, m, threshold).max(depth(n - h, m, threshold));
            n - h + m + below
        }
        // The longest operands below: scratch grows with them.
        Split::Three => 4 * (h + 1) + depth(h + 1, h + 1, threshold),
    }
}

/// The columns of `a * b`, and their bound.
pub(super) fn product<I: Vector>(
    isa: I,
    thresholds: Thresholds,
    r: &mut [I::V],
    a: &[I::V],
    b: &[I::V],
    s: &mut [I::V],
    ahead: &mut Lines<'_>,
) -> u64 {
    let (a, b) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let (n, m) = (a.len(), b.len());
    let h = n.div_ceil(2);
    match split(n, m, thresholds.product) {
        Split::Base => {
            school::product(isa, r, a, b, ahead);
            terms(m)
        }
        Split::Two => {
            let (a0, a1) = a.split_at(h);
            let (high, s) = s.split_at_mut(n - h + m);
            let c1 = product(isa, thresholds, high, a1, b, s, ahead);
            let (low, above) = r.split_at_mut(h + m);
            let c0 = product(isa, thresholds, low, a0, b, s, ahead);
            above.fill(isa.splat(0));
            let mut c = c0 + c1;
            if c >= HEADROOM {
                normalise(isa, low);
                normalise(isa, high);
                c = 2;
            }
            add_to(isa, &mut r[h..], high);
            c
        }
        Split::Three => {
            let (a0, a1) = a.split_at(h);
            let (b0, b1) = b.split_at(h);
            let (zm, s) = s.split_at_mut(2 * (h + 1));
            let (sum_a, rest) = s.split_at_mut(h + 1);
            let (sum_b, below) = rest.split_at_mut(h + 1);
            add_digits(isa, sum_a, a0, a1);
            add_digits(isa, sum_b, b0, b1);
            let cm = product(isa, thresholds, zm, sum_a, sum_b, below, ahead);
            let (z0, z2) = r.split_at_mut(2 * h);
            let c0 = product(isa, thresholds, z0, a0, b0, below, ahead);
            let c2 = product(isa, thresholds, z2, a1, b1, below, ahead);
            combine(isa, r, zm, h, cm.max(c0).max(c2))
        }
    }
}

/// The columns of `a * a`, and their bound.
pub(super) fn square<I: Vector>(
    isa: I,
    thresholds: Thresholds,
    r: &mut [I::V],
    a: &[I::V],
    s: &mut [I::V],
    ahead: &mut Lines<'_>,
) -> u64 {
    let n = a.len();
    let h = n.div_ceil(2);
    match split(n, n, thresholds.square) {
        Split::Base | Split::Two => {
            school::square(isa, r, a, ahead);
            terms(n)
        }
        Split::Three => {
            let (a0, a1) = a.split_at(h);
            let (zm, s) = s.split_at_mut(2 * (h + 1));
            let (sum, below) = s.split_at_mut(h + 1);
            add_digits(isa, sum, a0, a1);
            let cm = square(isa, thresholds, zm, sum, below, ahead);
            let (z0, z2) = r.split_at_mut(2 * h);
            let c0 = square(isa, thresholds, z0, a0, below, ahead);
            let c2 = square(isa, thresholds, z2, a1, below, ahead);
            combine(isa, r, zm, h, cm.max(c0).max(c2))
        }
    }
}

/// The first `k` columns of `a * b`, and their bound; `r` is as long as both
/// together, and what is in the columns from `k` on has no meaning.
///
/// `a b mod X^(k / h)` needs all of `a0 b0`, and of `a0 b1` and `a1 b0` only what lies
/// below column `k`: one whole product of `h = 0.7 k` digits and two low ones of
/// `0.3 k` (Mulders), about 0.8 of the whole product's time.
#[expect(clippy::too_many_arguments)] // a structure of slices that are cut anew at each level would hide them
pub(super) fn low_product<I: Vector>(
    isa: I,
    thresholds: Thresholds,
    r: &mut [I::V],
    a: &[I::V],
    b: &[I::V],
    k: usize,
    s: &mut [I::V],
    ahead: &mut Lines<'_>,
) -> u64 {
    let (a, b) = (&a[..a.len().min(k)], &b[..b.len().min(k)]);
    let (n, m) = (a.len(), b.len());
    let r = &mut r[..n + m];
    let h = k * 7 / 10;
    if k < 2 * thresholds.product || n.min(m) < thresholds.product {
        school::low_product(isa, r, a, b, k, ahead);
        return terms(n.min(m));
    }
    if n.max(m) <= h || 10 * k >= 9 * (n + m) {
        return product(isa, thresholds, r, a, b, s, ahead);
    }
    let (a0, a1) = a.split_at(h.min(n));
    let (b0, b1) = b.split_at(h.min(m));
    let (low, above) = r.split_at_mut(a0.len() + b0.len());
    let mut c = product(isa, thresholds, low, a0, b0, s, ahead);
    above.fill(isa.splat(0));
    for (x, y) in [(a0, b1), (b0, a1)] {
        let x = &x[..x.len().min(k - h)];
        let (cross, s) = s.split_at_mut(x.len() + y.len());
        let mut c_cross = low_product(isa, thresholds, cross, x, y, k - h, s, ahead);
        let cross = &mut cross[..(x.len() + y.len()).min(k - h)];
        if c + c_cross >= HEADROOM {
            normalise(isa, cross);
            normalise(isa, &mut r[..k]);
            (c, c_cross) = (1, 1);
        }
        add_to(isa, &mut r[h..k], cross);
        c += c_cross;
    }
    c
}

/// Vectors of scratch for the first `k` columns of a product.
pub(super) fn low_scratch(thresholds: Thresholds, k: usize) -> usize {
    let mut most = 0;
    let (mut length, mut above) = (k, 0);
    while length > 0 {
        most = most.max(above + scratch(thresholds, length, length));
        length -= length * 7 / 10;
        if length < 2 {
            break;
        }
        above += 2 * length;
    }
    most.max(above)
}

/// `r = z2 X^2 + (zm - z0 - z2) X + z0` where `r` holds `z0` and `z2` of bound `c`,
/// `zm` too; the bound of the result.
fn combine<I: Vector>(isa: I, r: &mut [I::V], zm: &mut [I::V], h: usize, c: u64) -> u64 {
    let mut c = c;
    if 4 * c >= HEADROOM {
        normalise(isa, zm);
        let (z0, z2) = r.split_at_mut(2 * h);
        normalise(isa, z0);
        normalise(isa, z2);
        c = 1;
    }
    isa.vectorize(
        #[inline(always)]
        || {
            let (z0, z2) = r.split_at_mut(2 * h);
            // The top column of zm is the high half of a product of two carries: zero.
            let zm = &mut zm[..2 * h + 1];
            for (zm, &z0) in zm.iter_mut().zip(&*z0) {
                *zm = isa.sub(*zm, z0);
            }
            for (zm, &z2) in zm.iter_mut().zip(&*z2) {
                *zm = isa.sub(*zm, z2);
            }
        },
    );
    add_to(isa, &mut r[h..], &zm[..2 * h + 1]);
    4 * c
}

/// `r += x`, column by column.
fn add_to<I: Vector>(isa: I, r: &mut [I::V], x: &[I::V]) {
    isa.vectorize(
        #[inline(always)]
        || {
            for (r, &x) in r.iter_mut().zip(x) {
                *r = isa.add(*r, x);
            }
        },
    );
}

/// The digits of `x + y`, one more than `x` has; `y` is not longer than `x`. Factors,
/// all of them.
fn add_digits<I: Vector>(isa: I, r: &mut [I::V], x: &[I::V], y: &[I::V]) {
    isa.vectorize(
        #[inline(always)]
        || {
            let mut carry = isa.splat(0);
            let (r, top) = r.split_at_mut(x.len());
            let (low, high) = r.split_at_mut(y.len());
            let (x_low, x_high) = x.split_at(y.len());
            for ((r, &x), &y) in low.iter_mut().zip(x_low).zip(y) {
                let sum = isa.add(isa.add(isa.digit(x), isa.digit(y)), carry);
                *r = isa.factor(sum);
                carry = isa.shift_right(sum, DIGIT_BITS);
            }
            for (r, &x) in high.iter_mut().zip(x_high) {
                let sum = isa.add(isa.digit(x), carry);
                *r = isa.factor(sum);
                carry = isa.shift_right(sum, DIGIT_BITS);
            }
            top[0] = isa.factor(carry);
        },
    );
}
