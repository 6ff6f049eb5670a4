//! Karatsuba's product on columns, in every lane.
//!
//! With `X = 2^(D h)`, `a = a1 X + a0`, `b = b1 X + b0`:
//!
//! ```text
//! a b = z2 X^2 + (zm - z0 - z2) X + z0,
//! z0 = a0 b0,   z2 = a1 b1,   zm = (a0 + a1)(b0 + b1)
//! ```
//!
//! The middle product is of sums, not of differences, as one more digit costs less than a sign for
//! each lane. Columns are combined without carries, as signed words, so the linear work of a split
//! is a few additions for each column.
//!
//! **Bounds.** Every function returns a [`Bound`]: `-least U <= r[k] <= most U`, where `U` is the
//! [column unit](HEADROOM). If it holds for `z0`, `z2` and `zm`, a column of the result is at most
//! two of their columns minus two others, so its magnitude is at most `2 (least + most) U`. So the
//! bound of plain products, which are not negative, doubles with each split, and other bounds grow
//! by four. If a column might no longer fit a signed word, the carries of the three are propagated
//! first. Their values are not negative and fit their digits, so this loses nothing and makes the
//! bound `[0, 1]`.
//!
//! Scratch: [`scratch`] vectors.

use super::digits::normalise;
use super::school;
use super::vector::{DIGIT_BITS, HEADROOM, Vector, terms};
use crate::fast::prefetch::Lines;

/// The number of digits of the shorter operand from which on a product is split, and the same for
/// squares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thresholds {
    product: usize,
    square: usize,
}

impl Thresholds {
    /// These thresholds, clamped to where the proofs of this file and of the base case hold.
    /// Splitting needs 8 digits or more, and a column of the longest product that is not split
    /// must fit a signed word. A low product of fewer columns than twice the threshold is not
    /// split, so the threshold of products is at most half of that of squares.
    pub fn new(product: usize, square: usize) -> Self {
        let most = (HEADROOM / terms(1)) as usize - 1;
        Thresholds {
            product: product.clamp(8, most.div_ceil(2)),
            square: square.clamp(8, most),
        }
    }
}

/// The range of columns, in column units: from `-least` to `most`.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    least: u64,
    most: u64,
}

impl Bound {
    /// The bound of columns whose carries were propagated.
    const DIGITS: Bound = Bound { least: 0, most: 1 };

    /// The bound of columns that are sums of `n` products of digits.
    fn of_products<I: Vector>(n: usize) -> Self {
        Bound {
            least: if I::LOW_IS_SIGNED { terms(n) } else { 0 },
            most: terms(n),
        }
    }

    /// The bound of columns that are within one of two bounds.
    fn or(self, other: Bound) -> Self {
        Bound {
            least: self.least.max(other.least),
            most: self.most.max(other.most),
        }
    }

    /// The bound of the sum of a column within one bound and a column within the other.
    fn plus(self, other: Bound) -> Self {
        Bound {
            least: self.least + other.least,
            most: self.most + other.most,
        }
    }

    /// The bound of the sum of two such columns minus two others.
    fn combined(self) -> Self {
        let both = 2 * (self.least + self.most);
        Bound {
            least: both,
            most: both,
        }
    }

    fn fits(self) -> bool {
        self.least.max(self.most) < HEADROOM
    }
}

/// How a product of `n >= m` digits is split, at `h = ceil(n / 2)`.
enum Split {
    /// Neither operand is split, as they are too short.
    Base,
    /// Only the longer operand is split, as the shorter one has few or no digits beyond `X`.
    Two,
    /// Both operands are split. `m >= h + 2`, so that `h + (2 h + 1) <= n + m`: all columns of `zm
    /// X` that are not zero are columns of the result.
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

/// The vectors of scratch for a product of `n` by `m` digits, or for a square if both are the same
/// number.
///
/// `n` and `m` may be in any order.
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
        // Of the three products the middle one has the longest operands, so it needs the most
        // scratch.
        Split::Three => 4 * (h + 1) + depth(h + 1, h + 1, threshold),
    }
}

/// Computes the columns of `a * b`. Returns their bound.
pub(super) fn product<I: Vector>(
    isa: I,
    thresholds: Thresholds,
    r: &mut [I::V],
    a: &[I::V],
    b: &[I::V],
    s: &mut [I::V],
    ahead: &mut Lines<'_>,
) -> Bound {
    let (a, b) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let (n, m) = (a.len(), b.len());
    let h = n.div_ceil(2);
    match split(n, m, thresholds.product) {
        Split::Base => {
            school::product(isa, r, a, b, ahead);
            Bound::of_products::<I>(m)
        }
        Split::Two => {
            let (a0, a1) = a.split_at(h);
            let (high, s) = s.split_at_mut(n - h + m);
            let c1 = product(isa, thresholds, high, a1, b, s, ahead);
            let (low, above) = r.split_at_mut(h + m);
            let c0 = product(isa, thresholds, low, a0, b, s, ahead);
            above.fill(isa.splat(0));
            let mut c = c0.plus(c1);
            if !c.fits() {
                normalise(isa, low);
                normalise(isa, high);
                c = Bound::DIGITS.plus(Bound::DIGITS);
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
            combine(isa, r, zm, h, cm.or(c0).or(c2))
        }
    }
}

/// Computes the columns of `a * a`. Returns their bound.
pub(super) fn square<I: Vector>(
    isa: I,
    thresholds: Thresholds,
    r: &mut [I::V],
    a: &[I::V],
    s: &mut [I::V],
    ahead: &mut Lines<'_>,
) -> Bound {
    let n = a.len();
    let h = n.div_ceil(2);
    match split(n, n, thresholds.square) {
        Split::Base | Split::Two => {
            school::square(isa, r, a, ahead);
            Bound::of_products::<I>(n)
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
            combine(isa, r, zm, h, cm.or(c0).or(c2))
        }
    }
}

/// Computes the first `k` columns of `a * b`. Returns their bound. `r` is as long as both operands
/// together, and its columns from `k` on have no meaning afterwards.
///
/// With operands split at `h = 0.7 k` digits, the low product needs all of `a0 b0`, but of `a0 b1`
/// and `a1 b0` only the columns below column `k`. So it takes one whole product of `0.7 k` digits
/// and two low products of `0.3 k` columns [Mulders 2000], which is about 0.8 of the time of the
/// whole product.
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
) -> Bound {
    let (a, b) = (&a[..a.len().min(k)], &b[..b.len().min(k)]);
    let (n, m) = (a.len(), b.len());
    let r = &mut r[..n + m];
    let h = k * 7 / 10;
    if k < 2 * thresholds.product || n.min(m) < thresholds.product {
        school::low_product(isa, r, a, b, k, ahead);
        return Bound::of_products::<I>(n.min(m));
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
        if !c.plus(c_cross).fits() {
            normalise(isa, cross);
            normalise(isa, &mut r[..k]);
            (c, c_cross) = (Bound::DIGITS, Bound::DIGITS);
        }
        add_to(isa, &mut r[h..k], cross);
        c = c.plus(c_cross);
    }
    c
}

/// The vectors of scratch for the first `k` columns of a product.
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

/// `r = z2 X^2 + (zm - z0 - z2) X + z0`, where `r` holds `z0` and `z2`. `c` bounds these and `zm`.
/// Returns the bound of the result.
///
/// This is one pass. With `z0 = (l0, h0)`, `z2 = (l2, h2)` and `zm = (lm, hm)` in parts of `h`
/// columns, the two parts in the middle of the result are `lm - l0 + (h0 - l2)` and
/// `hm - h2 - (h0 - l2)`.
fn combine<I: Vector>(isa: I, r: &mut [I::V], zm: &mut [I::V], h: usize, c: Bound) -> Bound {
    let mut c = c;
    if !c.combined().fits() {
        normalise(isa, zm);
        let (z0, z2) = r.split_at_mut(2 * h);
        normalise(isa, z0);
        normalise(isa, z2);
        c = Bound::DIGITS;
    }
    isa.vectorize(
        #[inline(always)]
        || {
            let (l0, rest) = r.split_at_mut(h);
            let (h0, rest) = rest.split_at_mut(h);
            let (l2, h2) = rest.split_at_mut(h);
            // The top column of zm is the high half of a product of two carries: zero.
            let (lm, hm) = zm[..2 * h].split_at(h);
            let top = zm[2 * h];
            let (h0_low, h0_high) = h0.split_at_mut(h2.len());
            let (l2_low, l2_high) = l2.split_at_mut(h2.len());
            let (l0_low, l0_high) = l0.split_at(h2.len());
            let (lm_low, lm_high) = lm.split_at(h2.len());
            let (hm_low, hm_high) = hm.split_at(h2.len());
            for i in 0..h2.len() {
                let middle = isa.sub(h0_low[i], l2_low[i]);
                h0_low[i] = isa.add(isa.sub(lm_low[i], l0_low[i]), middle);
                l2_low[i] = isa.sub(isa.sub(hm_low[i], h2[i]), middle);
            }
            for i in 0..h0_high.len() {
                let middle = isa.sub(h0_high[i], l2_high[i]);
                h0_high[i] = isa.add(isa.sub(lm_high[i], l0_high[i]), middle);
                l2_high[i] = isa.sub(hm_high[i], middle);
            }
            h2[0] = isa.add(h2[0], top);
        },
    );
    c.combined()
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

/// Computes the digits of `x + y`, which are one more than `x` has. `y` is not longer than `x`.
/// Operands and sum are factors.
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
