//! Points as registers of rows, and the steps that add and double them, of both kinds of stage 2.
//!
//! Points of curves have `x = X / Z` alone ([Montgomery 1987]): `(a + b) Q` from `a Q`, `b Q` and `(a - b) Q`.
//! Differences of `x` need one denominator for all, and no inverse: with `S` the product of all `Z_i`,
//! `x_i S = X_i Z_1 .. Z_(i-1) Z_(i+1) ..` by products from the left and from the right. Where a `Z` is zero
//! modulo the factor, so are all `x_i S` but one, and the factor is found as well.
//!
//! Values `V_k` of [P-1 and P+1](crate::lucas) are multiples too, of which `x` is the value and `Z` is 1.
//!
//! Cost: six products for a sum of points, four for its denominator; two for a value.

use std::ops::Range;

use bigint_host::Engine;
use bigint_host::advanced::Step;
use num_bigint::BigUint;
use rayon::prelude::*;

use crate::modular::inverse;
use crate::registers::{Column, Move, Registers};
use crate::{Curve, Error, Point};

/// What multiples are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Points of curves.
    Curve,
    /// Values of P-1 and P+1.
    Values,
}

/// The product of differences, which is 1 before the first.
pub const ACC: u16 = 0;
/// `(A + 2) / 4`; of values 2, which is `V_0`.
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

/// What rows begin with: a curve's `(A + 2) / 4` and its point's `x`, or 2 and a value.
pub type Begun = [BigUint; 2];

/// What a stage 2 is given: rows modulo an odd number, after a stage 1 up to `b1`, and how far it goes.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    pub n: &'a BigUint,
    pub begun: &'a [Begun],
    pub b1: u64,
    pub b2: u64,
}

/// Registers that have the points and their curves, and 1 in [`ACC`]: on the engine's devices, or on all cores where no engine is given. `None`
/// where the engine has no device, or no kernel for so long a number.
pub fn of_points(
    engine: Option<&Engine>,
    Given { n, begun, .. }: Given<'_>,
    registers: u16,
) -> Result<Option<Registers>, Error> {
    let column = |i: usize| Column::each(begun.par_iter().map(|row| row[i].clone()).collect());
    // The registers ACC, A24 and Q.
    let columns = [Column::all(1u8), column(0), column(1), Column::all(1u8)];
    let made = Registers::new(engine, n, registers, begun.len(), &columns)?;
    Ok(made.map(Registers::in_tiles))
}

/// What rows of points begin with. What has no curve has no stage 2: it gets zero.
pub fn begun(n: &BigUint, points: &[Point]) -> Vec<Begun> {
    // Nearly all are of two kinds, whose inverses are the same.
    let of_power = |bits: u32| inverse(&((BigUint::from(1u8) << bits) % n), n);
    let (of_scale, quarter) = (of_power(32), of_power(2));
    let each = points.par_iter().map(|point| {
        let a24 = match (&point.curve, &of_scale, &quarter) {
            (Curve::Sigma { param: 3, sigma }, Ok(inverse), _) => sigma * inverse % n,
            (Curve::A(a), _, Ok(quarter)) => (a + 2u8) * quarter % n,
            (curve, ..) => curve.a24(n).unwrap_or_default(),
        };
        [a24, point.x.clone()]
    });
    each.collect()
}

/// `r = p`.
pub fn copy(steps: &mut Vec<Move>, r: [u16; 2], p: [u16; 2]) {
    for (r, a) in r.into_iter().zip(p) {
        if r != a {
            steps.push(Step::Copy { r, a }.into());
        }
    }
}

/// `r = 2 p`; `r` may be `p`.
fn double(steps: &mut Vec<Move>, [x, z]: [u16; 2], p: [u16; 2]) {
    let [a, b, t] = [SCRATCH, SCRATCH + 1, SCRATCH + 2];
    let double = [
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
    ];
    steps.extend(double.map(Move::from));
}

impl Group {
    /// The first multiple of a point: of curves the neutral element has no `x`.
    pub fn first(self) -> u64 {
        match self {
            Group::Curve => 1,
            Group::Values => 0,
        }
    }

    /// `r = 2 p`; `r` may be `p`.
    pub fn double(self, steps: &mut Vec<Move>, r: [u16; 2], p: [u16; 2]) {
        match self {
            Group::Curve => double(steps, r, p),
            Group::Values => product(steps, r, [p, p], A24),
        }
    }

    /// `r = p + q`, whose difference is `difference`; `r` may be `p` or `q`, not the difference.
    pub fn add(
        self,
        steps: &mut Vec<Move>,
        r: [u16; 2],
        [p, q]: [[u16; 2]; 2],
        difference: [u16; 2],
    ) {
        match self {
            Group::Curve => steps.push(Move::Sum {
                r,
                p,
                q,
                difference,
                scratch: SCRATCH,
            }),
            Group::Values => product(steps, r, [p, q], difference[0]),
        }
    }

    /// `k p` and `(k + 1) p`, `k` at least [`Group::first`]; `p` is neither.
    pub fn multiply(self, steps: &mut Vec<Move>, [low, high]: [[u16; 2]; 2], k: u64, p: [u16; 2]) {
        if k == 0 {
            copy(steps, low, [A24, ACC]);
            copy(steps, high, p);
            return;
        }
        copy(steps, low, p);
        self.double(steps, high, p);
        for bit in (0..k.ilog2()).rev() {
            if k >> bit & 1 == 0 {
                self.add(steps, high, [low, high], p);
                self.double(steps, low, low);
            } else {
                self.add(steps, low, [low, high], p);
                self.double(steps, high, high);
            }
        }
    }
}

/// The value `r = p q - difference`, which is multiplied by 1 so that it may be subtracted.
fn product(steps: &mut Vec<Move>, r: [u16; 2], [p, q]: [[u16; 2]; 2], difference: u16) {
    let (value, one) = (SCRATCH, ACC);
    let product = [
        Step::Mul {
            r: value,
            a: p[0],
            b: q[0],
        },
        Step::Sub {
            r: value,
            a: value,
            b: difference,
        },
        Step::Mul {
            r: r[0],
            a: value,
            b: one,
        },
        Step::Copy { r: r[1], a: one },
    ];
    steps.extend(product.map(Move::from));
}

/// Multiplies each of `tops` by all bottoms but its own, which lie one behind the other from `bottoms`
/// on, and by the register `factor` where there is one; leaves the product of all bottoms in `product`. There is at least
/// one.
pub fn common(
    steps: &mut Vec<Move>,
    product: u16,
    tops: Range<u16>,
    bottoms: u16,
    factor: Option<u16>,
) {
    let (top, last, count) = (tops.start, tops.end - 1, tops.end - tops.start);
    let up = match factor {
        Some(first) => Move::Walk {
            product: SCRATCH,
            first,
            top,
            bottom: bottoms,
            count,
            is_down: false,
        },
        None => Move::Walk {
            product: SCRATCH,
            first: bottoms,
            top: top + 1,
            bottom: bottoms + 1,
            count: count - 1,
            is_down: false,
        },
    };
    let down = Move::Walk {
        product,
        first: bottoms + count - 1,
        top: last.saturating_sub(1),
        bottom: (bottoms + count).saturating_sub(2),
        count: count - 1,
        is_down: true,
    };
    steps.extend([up, down]);
}
