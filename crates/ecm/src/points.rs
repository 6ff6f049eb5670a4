//! Points as registers of rows, and the steps that add and double them, of both kinds of stage 2.
//!
//! Points have `x = X / Z` alone ([Montgomery 1987]): `(a + b) Q` from `a Q`, `b Q` and `(a - b) Q`.
//! Differences of `x` need one denominator for all, and no inverse: with `S` the product of all `Z_i`,
//! `x_i S = X_i Z_1 .. Z_(i-1) Z_(i+1) ..` by products from the left and from the right. Where a `Z` is zero
//! modulo the factor, so are all `x_i S` but one, and the factor is found as well.
//!
//! Cost: six products for a sum of points, three for its denominator.

use bigint_host::Engine;
use bigint_host::advanced::{Chain, Step};
use num_bigint::BigUint;
use rayon::prelude::*;

use crate::machine::Machine;
use crate::modular::inverse;
use crate::registers::Registers;
use crate::{Curve, Error, Point};

/// The product of differences.
pub const ACC: u16 = 0;
/// `(A + 2) / 4`.
pub const A24: u16 = 1;
/// Points, two registers each: Q, 2 Q, D Q, and the last two giants.
pub const Q: [u16; 2] = [2, 3];
pub const TWICE: [u16; 2] = [4, 5];
pub const STEP: [u16; 2] = [6, 7];
pub const LAST: [[u16; 2]; 2] = [[8, 9], [10, 11]];
/// Two products of denominators.
pub const PRODUCT: u16 = 12;
/// The first of six scratch registers.
pub const SCRATCH: u16 = 14;
/// The first register of tables.
pub const TABLES: u16 = 20;

/// Registers of all cores that have the points and their curves, and 1 in [`ACC`].
pub fn on_cpu(n: &BigUint, points: &[Point], registers: u16) -> Result<Registers, Error> {
    let mut chain = Chain::new(&n.to_u32_digits(), registers, points.len())?;
    let a24 = a24_of_each(n, points);
    let a24 = a24.iter().map(BigUint::to_u32_digits);
    chain.set(A24, &a24.collect::<Vec<_>>())?;
    let x = points.iter().map(|point| (&point.x % n).to_u32_digits());
    chain.set(Q[0], &x.collect::<Vec<_>>())?;
    chain.set(Q[1], &[vec![1]])?;
    chain.set(ACC, &[vec![1]])?;
    Ok(Registers::Cpu(chain))
}

/// The same of the engine's devices; `None` where it has none, or no kernel for so long a number.
pub fn on_device(
    engine: &Engine,
    n: &BigUint,
    points: &[Point],
    registers: u16,
) -> Result<Option<Registers>, Error> {
    let one = || BigUint::from(1u8);
    let a24 = a24_of_each(n, points).into_par_iter();
    // The registers ACC, A24 and Q.
    let set = a24
        .zip(points)
        .map(|(a24, point)| vec![one(), a24, point.x.clone(), one()])
        .collect();
    let machine = Machine::new(engine, n, registers, set)?;
    Ok(machine.map(|machine| Registers::Device(Box::new(machine))))
}

/// `(A + 2) / 4` of each point's curve. What has no curve has no stage 2: it gets zero.
fn a24_of_each(n: &BigUint, points: &[Point]) -> Vec<BigUint> {
    // Nearly all are of one parametrization, whose inverse is the same.
    let of_scale = inverse(&((BigUint::from(1u8) << 32) % n), n);
    let each = points
        .par_iter()
        .map(|point| match (&point.curve, &of_scale) {
            (Curve::Sigma { param: 3, sigma }, Ok(inverse)) => sigma * inverse % n,
            (curve, _) => curve.a24(n).unwrap_or_default(),
        });
    each.collect()
}

/// `r = p`.
pub fn copy(steps: &mut Vec<Step>, r: [u16; 2], p: [u16; 2]) {
    for (r, a) in r.into_iter().zip(p) {
        if r != a {
            steps.push(Step::Copy { r, a });
        }
    }
}

/// `r = 2 p`; `r` may be `p`.
pub fn double(steps: &mut Vec<Step>, [x, z]: [u16; 2], p: [u16; 2]) {
    let [a, b, t] = [SCRATCH, SCRATCH + 1, SCRATCH + 2];
    steps.extend([
        Step::Add {
            r: a,
            a: p[0],
            b: p[1],
        },
        Step::Sub {
            r: b,
            a: p[0],
            b: p[1],
        },
        Step::square(a, a),
        Step::square(b, b),
        Step::Mul { r: x, a, b },
        Step::Sub { r: a, a, b },
        Step::Mul { r: t, a, b: A24 },
        Step::Add { r: t, a: t, b },
        Step::Mul { r: z, a, b: t },
    ]);
}

/// `r = p + q`, whose difference is `difference`; `r` may be `p` or `q`, not the difference.
pub fn add(
    steps: &mut Vec<Step>,
    [x, z]: [u16; 2],
    p: [u16; 2],
    q: [u16; 2],
    difference: [u16; 2],
) {
    let [a, b, c, d] = [SCRATCH, SCRATCH + 1, SCRATCH + 2, SCRATCH + 3];
    steps.extend([
        Step::Sub {
            r: a,
            a: p[0],
            b: p[1],
        },
        Step::Add {
            r: b,
            a: q[0],
            b: q[1],
        },
        Step::Mul { r: a, a, b },
        Step::Add {
            r: c,
            a: p[0],
            b: p[1],
        },
        Step::Sub {
            r: d,
            a: q[0],
            b: q[1],
        },
        Step::Mul { r: c, a: c, b: d },
        Step::Add { r: b, a, b: c },
        Step::Sub { r: d, a, b: c },
        Step::square(b, b),
        Step::square(d, d),
        Step::Mul {
            r: x,
            a: b,
            b: difference[1],
        },
        Step::Mul {
            r: z,
            a: d,
            b: difference[0],
        },
    ]);
}

/// `k p` and `(k + 1) p`, `k` at least 1; `p` is neither.
pub fn multiply(steps: &mut Vec<Step>, [low, high]: [[u16; 2]; 2], k: u64, p: [u16; 2]) {
    copy(steps, low, p);
    double(steps, high, p);
    for bit in (0..k.ilog2()).rev() {
        if k >> bit & 1 == 0 {
            add(steps, high, low, high, p);
            double(steps, low, low);
        } else {
            add(steps, low, low, high, p);
            double(steps, high, high);
        }
    }
}

/// Multiplies each of `tops` by all bottoms but its own, which lie one behind the other from `bottoms`
/// on; leaves the product of them all in `product`.
pub fn common(steps: &mut Vec<Step>, product: u16, tops: Vec<u16>, bottoms: u16) {
    let bottom = |i: usize| bottoms + i as u16;
    let mut below = bottom(0);
    for (i, &top) in tops.iter().enumerate().skip(1) {
        steps.push(Step::Mul {
            r: top,
            a: top,
            b: below,
        });
        steps.push(Step::Mul {
            r: product,
            a: below,
            b: bottom(i),
        });
        below = product;
    }
    if tops.len() == 1 {
        steps.push(Step::Copy {
            r: product,
            a: below,
        });
    }
    let mut above = bottom(tops.len() - 1);
    for (i, &top) in tops.iter().enumerate().rev().skip(1) {
        steps.push(Step::Mul {
            r: top,
            a: top,
            b: above,
        });
        steps.push(Step::Mul {
            r: SCRATCH,
            a: above,
            b: bottom(i),
        });
        above = SCRATCH;
    }
}
