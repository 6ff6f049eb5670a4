//! Several levels of a transform's tree at once, on values in registers.
//!
//! [`bigint_core::transform`] explains the tree. Value `k` of a pass of radix `R`, for `k < R`, is
//! value `c + k m / R` of a polynomial modulo `x^m - z`. The pass replaces it by the value of node
//! `k` of those `log2 R` levels below, in the order of the tree and not of the angles.

use super::complex::{Complex, butterfly, sum_and_difference, sum_and_difference_turned};
use super::odd::{self, quarter};

/// Half the square root of 2.
pub const HALF_SQRT_2: f64 = core::f64::consts::FRAC_1_SQRT_2;

/// The cosine and the sine of 1/16 of a turn.
pub const SIXTEENTH: (f64, f64) = (0.923_879_532_511_286_8, 0.382_683_432_365_089_8);

/// The cosine and the sine of 1/32 of a turn.
pub const THIRTY_SECOND: (f64, f64) = (0.980_785_280_403_230_4, 0.195_090_322_016_128_28);
/// The cosine and the sine of 3/32 of a turn.
pub const THREE_THIRTY_SECONDS: (f64, f64) = (0.831_469_612_302_545_2, 0.555_570_233_019_602_2);

/// Goes `log2 R` levels down, with 2 to 16 values, by the roots of
/// [`fill_roots`](bigint_core::transform::fill_roots). A butterfly takes six fused operations.
#[inline(always)]
pub fn down<const R: usize>(v: &mut [Complex; R], roots: &[Complex; 8]) {
    let mut i = 0;
    while i < R / 2 {
        butterfly(v, i, i + R / 2, roots[0]);
        i += 1;
    }
    down_further(v, roots);
}

/// The levels of [`down`] below the first.
#[inline(always)]
fn down_further<const R: usize>(v: &mut [Complex; R], roots: &[Complex; 8]) {
    let (half, quarter, eighth) = (R / 2, R / 4, R / 8);
    let mut i = 0;
    while i < quarter {
        butterfly(v, i, i + quarter, roots[1]);
        butterfly(v, half + i, half + i + quarter, roots[1].turned());
        i += 1;
    }
    let mut i = 0;
    while i < eighth {
        let j = half + i;
        butterfly(v, i, i + eighth, roots[2]);
        butterfly(v, quarter + i, quarter + i + eighth, roots[2].turned());
        butterfly(v, j, j + eighth, roots[3]);
        butterfly(v, quarter + j, quarter + j + eighth, roots[3].turned());
        i += 1;
    }
    if R == 16 {
        butterfly(v, 0, 1, roots[4]);
        butterfly(v, 2, 3, roots[4].turned());
        butterfly(v, 4, 5, roots[5]);
        butterfly(v, 6, 7, roots[5].turned());
        butterfly(v, 8, 9, roots[6]);
        butterfly(v, 10, 11, roots[6].turned());
        butterfly(v, 12, 13, roots[7]);
        butterfly(v, 14, 15, roots[7].turned());
    }
}

/// Goes the levels of [`down`] back up, with 2 to 16 values and the same roots. A butterfly is
/// `p + q` and `(p - q) / w` and takes eight operations, so the results are `R` times too great.
#[inline(always)]
pub fn merge_up<const R: usize>(v: &mut [Complex; R], roots: &[Complex; 8]) {
    let (half, quarter, eighth) = (R / 2, R / 4, R / 8);
    if R == 16 {
        merge(v, 0, 1, roots[4]);
        merge(v, 2, 3, roots[4].turned());
        merge(v, 4, 5, roots[5]);
        merge(v, 6, 7, roots[5].turned());
        merge(v, 8, 9, roots[6]);
        merge(v, 10, 11, roots[6].turned());
        merge(v, 12, 13, roots[7]);
        merge(v, 14, 15, roots[7].turned());
    }
    let mut i = 0;
    while i < eighth {
        let j = half + i;
        merge(v, i, i + eighth, roots[2]);
        merge(v, quarter + i, quarter + i + eighth, roots[2].turned());
        merge(v, j, j + eighth, roots[3]);
        merge(v, quarter + j, quarter + j + eighth, roots[3].turned());
        i += 1;
    }
    let mut i = 0;
    while i < quarter {
        merge(v, i, i + quarter, roots[1]);
        merge(v, half + i, half + i + quarter, roots[1].turned());
        i += 1;
    }
    let mut i = 0;
    while i < half {
        merge(v, i, i + half, roots[0]);
        i += 1;
    }
}

/// Sets place `i` to `p + q`, and place `j` to `p - q` times the conjugate of `w`.
#[inline(always)]
fn merge<const N: usize>(v: &mut [Complex; N], i: usize, j: usize, w: Complex) {
    sum_and_difference(v, i, j);
    v[j] = v[j].times(w.conjugate());
}

/// Goes the first levels down from `x^Rm - i`, where `R` is 8, 10, 12 or 16, with real values. All
/// roots are constants.
#[inline(always)]
pub fn down_from_the_root<const R: usize>(x: [f64; R]) -> [Complex; R] {
    let mut v = [Complex::ZERO; R];
    if !R.is_power_of_two() {
        let points = const { quarter::<R>() };
        let mut k = 0;
        while k < R {
            v[k] = Complex::new(x[k] * points[k].re, x[k] * points[k].im);
            k += 1;
        }
        return odd::transform(v, false);
    }
    let mut k = 0;
    while k < R / 2 {
        let b = HALF_SQRT_2 * x[k + R / 2];
        v[k] = Complex::new(x[k] + b, b);
        v[k + R / 2] = Complex::new(x[k] - b, -b);
        k += 1;
    }
    down_further(&mut v, &FIRST_ROOTS);
    v
}

/// The roots of the first levels where there are 8 or 16 values.
const FIRST_ROOTS: [Complex; 8] = {
    const P: [Complex; 16] = quarter();
    [P[8], P[4], P[2], P[10], P[1], P[9], P[5], P[13]]
};

/// [`down_from_the_root`] with complex values.
#[inline(always)]
pub fn pairs_down_from_the_root<const R: usize>(mut v: [Complex; R]) -> [Complex; R] {
    if R.is_power_of_two() {
        down(&mut v, &FIRST_ROOTS);
        return v;
    }
    let points = const { quarter::<R>() };
    let mut k = 1;
    while k < R {
        v[k] = v[k].times(points[k]);
        k += 1;
    }
    odd::transform(v, false)
}

/// Goes `log2 R` levels up, by sums with constant roots. The results are `R` times too great, and
/// value `k` must still be multiplied by `e(-k t / R)`.
#[inline(always)]
pub fn up<const R: usize>(v: &mut [Complex; R]) {
    let mut i = 0;
    while i < R {
        sum_and_difference(v, i, i + 1);
        i += 2;
    }
    let mut i = 0;
    while i < R {
        sum_and_difference(v, i, i + 2);
        sum_and_difference_turned(v, i + 1, i + 3);
        i += 4;
    }
    let (h, (c, s)) = (HALF_SQRT_2, SIXTEENTH);
    let mut i = 0;
    while i < R {
        sum_and_difference(v, i, i + 4);
        butterfly(v, i + 1, i + 5, Complex::new(h, -h));
        sum_and_difference_turned(v, i + 2, i + 6);
        butterfly(v, i + 3, i + 7, Complex::new(-h, -h));
        i += 8;
    }
    if R == 16 {
        sum_and_difference(v, 0, 8);
        butterfly(v, 1, 9, Complex::new(c, -s));
        butterfly(v, 2, 10, Complex::new(h, -h));
        butterfly(v, 3, 11, Complex::new(s, -c));
        sum_and_difference_turned(v, 4, 12);
        butterfly(v, 5, 13, Complex::new(-s, -c));
        butterfly(v, 6, 14, Complex::new(-h, -h));
        butterfly(v, 7, 15, Complex::new(-c, -s));
    }
}

/// Goes [`up`] to the root of the tree, `x^Rm - i`, where `R` is 8, 10, 12 or 16, and multiplies
/// by the roots that follow.
#[inline(always)]
pub fn up_to_the_root<const R: usize>(mut v: [Complex; R]) -> [Complex; R] {
    match R.is_power_of_two() {
        true => up(&mut v),
        false => v = odd::transform(v, true),
    }
    let points = const { quarter::<R>() };
    let mut k = 1;
    while k < R {
        v[k] = v[k].times(points[k].conjugate());
        k += 1;
    }
    v
}

/// Puts the parts of `x^m - i` together, from one value of each: the levels above those of the
/// parts. The results are `PARTS` times too great.
#[inline(always)]
pub fn join<const PARTS: usize>(v: &mut [Complex; PARTS]) {
    let (h, (c, s)) = (HALF_SQRT_2, SIXTEENTH);
    if PARTS == 2 {
        sum_and_difference(v, 0, 1);
        v[1] = v[1].times(Complex::new(h, -h));
    }
    if PARTS == 8 {
        let joined = up_to_the_root([v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]]);
        v.copy_from_slice(&joined);
    }
    if PARTS == 4 {
        sum_and_difference(v, 0, 1);
        sum_and_difference(v, 2, 3);
        sum_and_difference(v, 0, 2);
        sum_and_difference_turned(v, 1, 3);
        v[1] = v[1].times(Complex::new(c, -s));
        v[2] = v[2].times(Complex::new(h, -h));
        v[3] = v[3].times(Complex::new(s, -c));
    }
}

/// Goes the levels of the last pass down: one with 8 values, two with 16. Then every four values
/// are a polynomial modulo `x^4 - z`.
#[inline(always)]
pub fn down_to_fours<const R: usize>(v: &mut [Complex; R], roots: &[Complex; 3]) {
    let mut i = 0;
    while i < R / 2 {
        butterfly(v, i, i + R / 2, roots[0]);
        i += 1;
    }
    if R == 16 {
        let mut i = 0;
        while i < 4 {
            butterfly(v, i, i + 4, roots[1]);
            butterfly(v, 8 + i, 12 + i, roots[1].turned());
            i += 1;
        }
    }
}

/// Multiplies `y` by `x`, every four values modulo their `x^4 - z`, and goes the levels of the last
/// pass up. If it `is_square`, `x` equals `y`.
#[inline(always)]
pub fn multiply_and_up<const R: usize>(
    x: &[Complex; R],
    y: &mut [Complex; R],
    roots: &[Complex; 3],
    is_square: bool,
) {
    multiply_leaves(x, y, roots, is_square);
    up_from_fours(y, roots);
}

/// Multiplies `y` by `x`, every four values modulo their `x^4 - z`. If it `is_square`, `x` equals `y`.
#[inline(always)]
pub fn multiply_leaves<const R: usize>(
    x: &[Complex; R],
    y: &mut [Complex; R],
    roots: &[Complex; 3],
    is_square: bool,
) {
    let x = |at| [x[at], x[at + 1], x[at + 2], x[at + 3]];
    let [half, quarter, _] = *roots;
    if R == 16 {
        multiply_fours(x(0), y, 0, quarter, is_square);
        multiply_fours(x(4), y, 4, quarter.negated(), is_square);
        multiply_fours(x(8), y, 8, quarter.turned(), is_square);
        multiply_fours(x(12), y, 12, quarter.turned().negated(), is_square);
    } else {
        multiply_fours(x(0), y, 0, half, is_square);
        multiply_fours(x(4), y, 4, half.negated(), is_square);
    }
}

/// Goes the levels of the last pass up.
#[inline(always)]
pub fn up_from_fours<const R: usize>(y: &mut [Complex; R], roots: &[Complex; 3]) {
    let [half, quarter, three_quarters] = *roots;
    let mut c = 0;
    while c < 4 {
        sum_and_difference(y, c, 4 + c);
        if R == 16 {
            sum_and_difference(y, 8 + c, 12 + c);
            sum_and_difference(y, c, 8 + c);
            sum_and_difference_turned(y, 4 + c, 12 + c);
            y[4 + c] = y[4 + c].times(quarter.conjugate());
            y[8 + c] = y[8 + c].times(half.conjugate());
            y[12 + c] = y[12 + c].times(three_quarters.conjugate());
        } else {
            y[4 + c] = y[4 + c].times(half.conjugate());
        }
        c += 1;
    }
}

/// Sets `y` to `a y` modulo `x^4 - z`, for the four values from `at` on. For a square, each product
/// of two different values is computed once and doubled.
#[inline(always)]
pub fn multiply_fours<const R: usize>(
    a: [Complex; 4],
    y: &mut [Complex; R],
    at: usize,
    z: Complex,
    is_square: bool,
) {
    let b = [y[at], y[at + 1], y[at + 2], y[at + 3]];
    let twice = |x: Complex| match is_square {
        true => Complex::new(x.re + x.re, x.im + x.im),
        false => x,
    };
    let [d0, d1, d2] = [twice(a[0]), twice(a[1]), twice(a[2])];
    // Terms of degree 4 and more come first, in an order that needs few values at a time.
    let over2 = a[3].times(b[3]);
    let mut over1 = d2.times(b[3]);
    let mut over0 = d1.times(b[3]);
    let mut c3 = d0.times(b[3]);
    if !is_square {
        over1 = over1.plus_product(a[3], b[2]);
    }
    over0 = over0.plus_product(a[2], b[2]);
    c3 = c3.plus_product(d1, b[2]);
    if !is_square {
        over0 = over0.plus_product(a[3], b[1]);
        c3 = c3.plus_product(a[2], b[1]).plus_product(a[3], b[0]);
    }
    let c0 = a[0].times(b[0]);
    let mut c1 = d0.times(b[1]);
    if !is_square {
        c1 = c1.plus_product(a[1], b[0]);
    }
    let mut c2 = d0.times(b[2]).plus_product(a[1], b[1]);
    if !is_square {
        c2 = c2.plus_product(a[2], b[0]);
    }
    y[at] = c0.plus_product(z, over0);
    y[at + 1] = c1.plus_product(z, over1);
    y[at + 2] = c2.plus_product(z, over2);
    y[at + 3] = c3;
}
