//! Discrete Fourier transforms of 9, 10 and 12 values in registers: the passes of radix `3 3`, `2 5` and `4 3`.
//!
//! For `R = Q P` with `Q` = 2 or 4 and an odd prime `P`, indices are numbered by Good's and Thomas' maps:
//! `k = Q i + P j mod R` for `i < P` and `j < Q`, and `r` by its remainders modulo `P` and `Q`. As `e(k r / R)` is
//! `e(i r / P) e(j r / Q)`, transforms of `Q` values and then of `P` values are all there is: no roots
//! come in between. For `R = 6`, `k` = 2, 3 and 5 are `(i, j)` = (1, 0), (0, 1) and (1, 1).
//!
//! For 9 values, with `k = 3 i + j` and `r = s + 3 t`, `e(k r / 9)` is `e(i s / 3) e(j s / 9) e(j t / 3)`: three
//! transforms of 3 values, roots, and three transforms again.
//!
//! A transform of `P` values takes the sums and differences of `x_k` and `x_(P-k)`, as
//! [`Plan::error_bound`](bigint_core::transform::Plan::error_bound) has it: 12 and 36 operations for 3
//! and 5 values.

use super::complex::{Complex, sum_and_difference, sum_and_difference_turned};
use crate::gpu::float::multiply_add;
use bigint_core::transform::root_of;

/// The points of the unit circle at `k / (4 R)` turns, for `k < R`.
pub const fn quarter<const R: usize>() -> [Complex; R] {
    let mut points = [Complex::ZERO; R];
    let mut k = 0;
    while k < R {
        let [re, im] = root_of(k as u64, 4 * R as u64);
        points[k] = Complex::new(re, im);
        k += 1;
    }
    points
}

/// The sums over `k` of `v[k] e(k r / R)`, or of `v[k] e(-k r / R)` if it `is_inverse`, for `r < R`, where `R` is 9,
/// 10 or 12.
#[inline(always)]
pub fn transform<const R: usize>(v: [Complex; R], is_inverse: bool) -> [Complex; R] {
    match R {
        9 => by_threes(v, is_inverse),
        12 => by_factors::<R, 4, 3>(v, is_inverse),
        _ => by_factors::<R, 2, 5>(v, is_inverse),
    }
}

/// The transforms of `Q` values, then of `P` values. (There are no loops, as one that is not unrolled would keep
/// values in memory.)
#[inline(always)]
fn by_factors<const R: usize, const Q: usize, const P: usize>(
    mut v: [Complex; R],
    is_inverse: bool,
) -> [Complex; R] {
    column::<R, Q, P>(&mut v, 0);
    column::<R, Q, P>(&mut v, 1);
    column::<R, Q, P>(&mut v, 2);
    if P > 3 {
        column::<R, Q, P>(&mut v, 3);
        column::<R, Q, P>(&mut v, 4);
    }
    let mut sums = [Complex::ZERO; R];
    row::<R, Q, P>(&v, 0, &mut sums, is_inverse);
    row::<R, Q, P>(&v, 1, &mut sums, is_inverse);
    if Q == 4 {
        row::<R, Q, P>(&v, 2, &mut sums, is_inverse);
        row::<R, Q, P>(&v, 3, &mut sums, is_inverse);
    }
    sums
}

/// The transforms of 9 values.
#[inline(always)]
fn by_threes<const R: usize>(mut v: [Complex; R], is_inverse: bool) -> [Complex; R] {
    let points = const {
        let mut points = [Complex::ZERO; 5];
        let mut k = 0;
        while k < 5 {
            let [re, im] = root_of(k as u64, 9);
            points[k] = Complex::new(re, im);
            k += 1;
        }
        points
    };
    let mut j = 0;
    while j < 3 {
        let y = prime([v[j], v[3 + j], v[6 + j]]);
        let turned = |y: Complex, k: usize| if k == 0 { y } else { y.times(points[k]) };
        v[j] = y[0];
        v[3 + j] = turned(y[1], j);
        v[6 + j] = turned(y[2], 2 * j);
        j += 1;
    }
    let mut sums = [Complex::ZERO; R];
    let mut s = 0;
    while s < 3 {
        let y = prime([v[3 * s], v[3 * s + 1], v[3 * s + 2]]);
        let mut t = 0;
        while t < 3 {
            let r = s + 3 * t;
            sums[if is_inverse { (R - r) % R } else { r }] = y[t];
            t += 1;
        }
        s += 1;
    }
    sums
}

/// The transform of the `Q` values with one `i`.
#[inline(always)]
fn column<const R: usize, const Q: usize, const P: usize>(v: &mut [Complex; R], i: usize) {
    let at = |j: usize| (Q * i + P * j) % R;
    if Q == 2 {
        sum_and_difference(v, at(0), at(1));
        return;
    }
    sum_and_difference(v, at(0), at(2));
    sum_and_difference(v, at(1), at(3));
    sum_and_difference(v, at(0), at(1));
    sum_and_difference_turned(v, at(2), at(3));
    // Place 1 has result 2, place 2 result 3, and place 3 result 1.
    let [two, three, one] = [v[at(1)], v[at(2)], v[at(3)]];
    v[at(1)] = one;
    v[at(2)] = two;
    v[at(3)] = three;
}

/// The transform of the `P` values with one `j`, which sets the sums whose `r` has remainder `j` modulo `Q`.
#[inline(always)]
fn row<const R: usize, const Q: usize, const P: usize>(
    v: &[Complex; R],
    j: usize,
    sums: &mut [Complex; R],
    is_inverse: bool,
) {
    let mut x = [Complex::ZERO; P];
    let mut i = 0;
    while i < P {
        x[i] = v[(Q * i + P * j) % R];
        i += 1;
    }
    let y = prime(x);
    // The multiple of `Q` that is 1 modulo `P`.
    let one = if P == 3 { 4 } else { P + 1 };
    let mut i = 0;
    while i < P {
        let r = (one * i + (R + 1 - one) * j) % R;
        sums[if is_inverse { (R - r) % R } else { r }] = y[i];
        i += 1;
    }
}

/// The transform of `P` = 3 or 5 values.
#[inline(always)]
fn prime<const P: usize>(x: [Complex; P]) -> [Complex; P] {
    let points = const {
        let mut points = [Complex::ZERO; P];
        let mut k = 0;
        while k < P {
            let [re, im] = root_of(k as u64, P as u64);
            points[k] = Complex::new(re, im);
            k += 1;
        }
        points
    };
    // The differences are in the upper half.
    let mut v = x;
    let mut y = [x[0]; P];
    let mut k = 1;
    while k <= P / 2 {
        sum_and_difference(&mut v, k, P - k);
        y[0] = Complex::new(y[0].re + v[k].re, y[0].im + v[k].im);
        k += 1;
    }
    let mut j = 1;
    while j <= P / 2 {
        let (mut c, first) = (x[0], points[j]);
        let d = v[P - 1];
        let mut s = Complex::new(first.im * d.re, first.im * d.im);
        c = plus(c, first.re, v[1]);
        let mut k = 2;
        while k <= P / 2 {
            let point = points[j * k % P];
            c = plus(c, point.re, v[k]);
            s = plus(s, point.im, v[P - k]);
            k += 1;
        }
        y[j] = Complex::new(c.re - s.im, c.im + s.re);
        y[P - j] = Complex::new(c.re + s.im, c.im - s.re);
        j += 1;
    }
    y
}

/// `c + t x`, for a real `t`.
#[inline(always)]
fn plus(c: Complex, t: f64, x: Complex) -> Complex {
    Complex::new(multiply_add(t, x.re, c.re), multiply_add(t, x.im, c.im))
}
