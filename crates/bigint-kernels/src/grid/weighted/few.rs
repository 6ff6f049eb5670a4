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

/// Cosines and sines of thirds, fifths, sevenths, elevenths and thirteenths, up to half a turn.
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

/// Cosine and sine of `k` of `R` parts of a turn, `R` one of those.
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

/// Cosines and sines of one, two and four ninths of a turn.
const NINTHS: [[f64; 2]; 3] = [
    [0.766044443118978, 0.6427876096865393],
    [0.17364817766693041, 0.984807753012208],
    [-0.9396926207859083, 0.3420201433256689],
];

/// The transform of one to 15 points.
#[inline(always)]
pub fn butterfly<const R: usize>(z: &mut [Complex; R]) {
    match R {
        1 => {}
        2 => {
            let (a, b) = (z[0], z[1]);
            z[0] = plus(a, b);
            z[1] = minus(a, b);
        }
        6 => {
            // Point 3 i + 2 j has part i in frequencies modulo 2, and j modulo 3.
            let mut even = [plus(z[0], z[3]), plus(z[2], z[5]), plus(z[4], z[1])];
            let mut odd = [minus(z[0], z[3]), minus(z[2], z[5]), minus(z[4], z[1])];
            butterfly(&mut even);
            butterfly(&mut odd);
            [z[0], z[2], z[4]] = [even[0], even[2], even[1]];
            [z[1], z[3], z[5]] = [odd[1], odd[0], odd[2]];
        }
        9 => {
            let mut x = [0, 1, 2].map(|b| [z[b], z[b + 3], z[b + 6]]);
            let [first, second, fourth] = NINTHS.map(|[cos, sin]| Complex::new(cos, -sin));
            four!(b => {
                if b < 3 {
                    butterfly(&mut x[b]);
                }
            });
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
        10 => {
            // Point 5 i + 2 j has part i in frequencies modulo 2, and j modulo 5.
            let mut even = [0, 2, 4, 6, 8].map(|j| plus(z[j], z[(j + 5) % 10]));
            let mut odd = [0, 2, 4, 6, 8].map(|j| minus(z[j], z[(j + 5) % 10]));
            butterfly(&mut even);
            butterfly(&mut odd);
            [z[0], z[6], z[2], z[8], z[4]] = even;
            [z[5], z[1], z[7], z[3], z[9]] = odd;
        }
        15 => {
            // Point 5 i + 3 j has part i in frequencies modulo 3, and j modulo 5.
            let mut x = [0, 1, 2].map(|i| [0, 1, 2, 3, 4].map(|j| z[(5 * i + 3 * j) % 15]));
            four!(i => {
                if i < 3 {
                    butterfly(&mut x[i]);
                }
            });
            let y = [0, 1, 2, 3, 4].map(|k| {
                let mut y = [x[0][k], x[1][k], x[2][k]];
                butterfly(&mut y);
                y
            });
            [z[0], z[6], z[12], z[3], z[9]] = y.map(|y| y[0]);
            [z[10], z[1], z[7], z[13], z[4]] = y.map(|y| y[1]);
            [z[5], z[11], z[2], z[8], z[14]] = y.map(|y| y[2]);
        }
        12 => {
            // Point 4 i + 3 j has part i in frequencies modulo 3, and j modulo 4.
            let x = [0, 1, 2].map(|i| four([0, 1, 2, 3].map(|j| z[(4 * i + 3 * j) % 12])));
            let y = [0, 1, 2, 3].map(|k| {
                let mut y = [x[0][k], x[1][k], x[2][k]];
                butterfly(&mut y);
                y
            });
            [z[0], z[9], z[6], z[3]] = y.map(|y| y[0]);
            [z[4], z[1], z[10], z[7]] = y.map(|y| y[1]);
            [z[8], z[5], z[2], z[11]] = y.map(|y| y[2]);
        }
        14 => {
            // Point 7 i + 2 j has part i in frequencies modulo 2, and j modulo 7.
            let mut even = [0, 2, 4, 6, 8, 10, 12].map(|j| plus(z[j], z[(j + 7) % 14]));
            let mut odd = [0, 2, 4, 6, 8, 10, 12].map(|j| minus(z[j], z[(j + 7) % 14]));
            butterfly(&mut even);
            butterfly(&mut odd);
            [z[0], z[8], z[2], z[10], z[4], z[12], z[6]] = even;
            [z[7], z[1], z[9], z[3], z[11], z[5], z[13]] = odd;
        }
        4 => {
            let x = four([z[0], z[1], z[2], z[3]]);
            four!(k => {
                z[k] = x[k];
            });
        }
        8 => {
            let e = four([z[0], z[2], z[4], z[6]]);
            let o = four([z[1], z[3], z[5], z[7]]);
            // Turned back by an eighth, two and three of them.
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
        _ => {
            // X[k] and X[R - k] are a -+ i b: see `fft.rs` of `bigint-cpu`'s `weighted`.
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
    }
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

/// The transform of the first points, 9 to 15.
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
