//! Transforms of a few points in registers.

use super::{copies, four};
use crate::gpu::float::multiply_add;
use crate::transform::butterflies::HALF_SQRT_2;
use crate::transform::complex::Complex;

macro_rules! seven {
    ($u:ident => $body:block) => {
        copies!($u => $body, 0 1 2 3 4 5 6);
    };
}

/// The cosines and sines of thirds, fifths, sevenths, elevenths and thirteenths of a turn, up to
/// half a turn.
const TURNS: [[[f64; 2]; 7]; 5] = [
    [
        [1.0, 0.0],
        [-0.5, 0.8660254037844386],
        [0.0; 2],
        [0.0; 2],
        [0.0; 2],
        [0.0; 2],
        [0.0; 2],
    ],
    [
        [1.0, 0.0],
        [0.30901699437494745, 0.9510565162951535],
        [-0.8090169943749475, 0.5877852522924731],
        [0.0; 2],
        [0.0; 2],
        [0.0; 2],
        [0.0; 2],
    ],
    [
        [1.0, 0.0],
        [0.6234898018587335, 0.7818314824680298],
        [-0.2225209339563144, 0.9749279121818236],
        [-0.9009688679024191, 0.4338837391175581],
        [0.0; 2],
        [0.0; 2],
        [0.0; 2],
    ],
    [
        [1.0, 0.0],
        [0.8412535328311812, 0.5406408174555976],
        [0.41541501300188644, 0.9096319953545183],
        [-0.14231483827328514, 0.9898214418809327],
        [-0.6548607339452851, 0.7557495743542583],
        [-0.9594929736144974, 0.28173255684142967],
        [0.0; 2],
    ],
    [
        [1.0, 0.0],
        [0.8854560256532099, 0.46472317204376856],
        [0.5680647467311558, 0.8229838658936564],
        [0.12053668025532305, 0.992708874098054],
        [-0.3546048870425356, 0.9350162426854148],
        [-0.7485107481711011, 0.6631226582407952],
        [-0.970941817426052, 0.23931566428755777],
    ],
];

/// The cosine and the sine of `k / R` of a turn, where `R` is one of the primes of [`TURNS`].
#[inline(always)]
const fn turn<const R: usize>(k: usize) -> [f64; 2] {
    let turns = &TURNS[match R {
        3 | 5 | 7 => R / 2 - 1,
        _ => R / 2 - 2,
    }];
    if 2 * k < R {
        turns[k]
    } else {
        [turns[R - k][0], -turns[R - k][1]]
    }
}

/// The cosines and sines of one, two and four ninths of a turn.
const NINTHS: [[f64; 2]; 3] = [
    [0.766044443118978, 0.6427876096865393],
    [0.17364817766693041, 0.984807753012208],
    [-0.9396926207859083, 0.3420201433256689],
];

/// The transform of `R` points, where `R` is at most 15.
#[inline(always)]
pub fn butterfly<const R: usize>(z: &mut [Complex; R]) {
    match R {
        1 => {}
        2 => [z[0], z[1]] = [plus(z[0], z[1]), minus(z[0], z[1])],
        4 => [z[0], z[1], z[2], z[3]] = four([z[0], z[1], z[2], z[3]]),
        8 => eight(z),
        9 => nine(z),
        6 => coprime::<3, 2, R>(z),
        10 => coprime::<5, 2, R>(z),
        12 => coprime::<3, 4, R>(z),
        14 => coprime::<7, 2, R>(z),
        15 => coprime::<3, 5, R>(z),
        _ => prime(z),
    }
}

/// The transform of `R = A B` points, where `A` and `B` are coprime ([Good 1958]). It is a
/// transform over `i` and one over `j` of the points `B i + A j`; frequency `k` is that of
/// `k mod A` and `k mod B`.
#[inline(always)]
fn coprime<const A: usize, const B: usize, const R: usize>(z: &mut [Complex; R]) {
    let mut x = [[Complex::ZERO; B]; A];
    seven!(i => {
        if i < A {
            seven!(j => {
                if j < B {
                    x[i][j] = z[(B * i + A * j) % R];
                }
            });
            butterfly(&mut x[i]);
        }
    });
    let mut y = [[Complex::ZERO; A]; B];
    seven!(j => {
        if j < B {
            seven!(i => {
                if i < A {
                    y[j][i] = x[i][j];
                }
            });
            butterfly(&mut y[j]);
        }
    });
    copies!(k => {
        if k < R {
            z[k] = y[k % B][k % A];
        }
    }, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14);
}

/// The transform of eight points, by two transforms of four points.
#[inline(always)]
fn eight<const R: usize>(z: &mut [Complex; R]) {
    let e = four([z[0], z[2], z[4], z[6]]);
    let o = four([z[1], z[3], z[5], z[7]]);
    // The odd half is turned back by one, two and three eighths.
    let first = Complex::new(
        (o[1].re + o[1].im) * HALF_SQRT_2,
        (o[1].im - o[1].re) * HALF_SQRT_2,
    );
    let second = Complex::new(o[2].im, -o[2].re);
    let third = Complex::new(
        (o[3].im - o[3].re) * HALF_SQRT_2,
        -(o[3].re + o[3].im) * HALF_SQRT_2,
    );
    let o = [o[0], first, second, third];
    four!(k => {
        z[k] = plus(e[k], o[k]);
        z[k + 4] = minus(e[k], o[k]);
    });
}

/// The transform of nine points, by three transforms of three points, twice.
#[inline(always)]
fn nine<const R: usize>(z: &mut [Complex; R]) {
    let mut x = [0, 1, 2].map(|b| [z[b], z[b + 3], z[b + 6]]);
    let [first, second, fourth] = NINTHS.map(|[cos, sin]| Complex::new(cos, -sin));
    let [x0, x1, x2] = &mut x;
    butterfly(x0);
    butterfly(x1);
    butterfly(x2);
    [x[1][1], x[1][2]] = [x[1][1].times(first), x[1][2].times(second)];
    [x[2][1], x[2][2]] = [x[2][1].times(second), x[2][2].times(fourth)];
    four!(c => {
        if c < 3 {
            let mut y = [x[0][c], x[1][c], x[2][c]];
            butterfly(&mut y);
            [z[c], z[c + 3], z[c + 6]] = y;
        }
    });
}

/// The transform of a prime number of points. `X[k]` and `X[R - k]` are `a - i b` and `a + i b`, as
/// `fft.rs` of `bigint-cpu`'s `weighted` shows.
#[inline(always)]
fn prime<const R: usize>(z: &mut [Complex; R]) {
    let x = *z;
    seven!(j => {
        if j > 0 && 2 * j < R {
            z[0] = plus(z[0], plus(x[j], x[R - j]));
        }
    });
    seven!(k => {
        if k > 0 && 2 * k < R {
            let (mut a, mut b) = (x[0], Complex::ZERO);
            seven!(j => {
                if j > 0 && 2 * j < R {
                    let [cos, sin] = turn::<R>(j * k % R);
                    let (s, d) = (plus(x[j], x[R - j]), minus(x[j], x[R - j]));
                    a.re = multiply_add(s.re, cos, a.re);
                    a.im = multiply_add(s.im, cos, a.im);
                    b.re = multiply_add(d.re, sin, b.re);
                    b.im = multiply_add(d.im, sin, b.im);
                }
            });
            z[k] = Complex::new(a.re + b.im, a.im - b.re);
            z[R - k] = Complex::new(a.re - b.im, a.im + b.re);
        }
    });
}

#[inline(always)]
fn four(z: [Complex; 4]) -> [Complex; 4] {
    let (a, b) = (plus(z[0], z[2]), minus(z[0], z[2]));
    let (c, d) = (plus(z[1], z[3]), minus(z[1], z[3]));
    let d = Complex::new(d.im, -d.re);
    [plus(a, c), plus(b, d), minus(a, c), minus(b, d)]
}

#[inline(always)]
fn plus(a: Complex, b: Complex) -> Complex {
    Complex::new(a.re + b.re, a.im + b.im)
}

#[inline(always)]
fn minus(a: Complex, b: Complex) -> Complex {
    Complex::new(a.re - b.re, a.im - b.im)
}

/// The transform of the first `radix` points, 9 to 15.
#[inline(always)]
pub fn transform(radix: u32, x: &mut [Complex; 16]) {
    match radix {
        9 => transform_first::<9>(x),
        10 => transform_first::<10>(x),
        11 => transform_first::<11>(x),
        12 => transform_first::<12>(x),
        13 => transform_first::<13>(x),
        14 => transform_first::<14>(x),
        _ => transform_first::<15>(x),
    }
}

#[inline(always)]
fn transform_first<const R: usize>(x: &mut [Complex; 16]) {
    let mut z: [Complex; R] = core::array::from_fn(|i| x[i]);
    butterfly(&mut z);
    x[..R].copy_from_slice(&z);
}
