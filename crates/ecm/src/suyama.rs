//! The curves of stage 1 in Edwards' form: `-x^2 + y^2 = 1 + d x^2 y^2` with six torsion
//! points, the family "Suyama-11" of [Barbulescu 2012].
//!
//! The curve `y^2 = x^3 - 9747 x + 285714` has rank 1 and the generator `G = (15, 378)`. A multiple
//! `(x, y)` of it gives Suyama's parameter `(213 - x) / (x + 3)` and the square root that brings the
//! curve into the form with `a = -1`:
//!
//! ```text
//! u = s^2 - 5, v = 4 s, A + 2 = (v - u)^3 (3 u + v) / (4 u^3 v), X = u^3 / v^3
//! t = 144 y / (x + 3)^2, Y = (s - 1) (s + 5) u^3 (s^2 + 5) / (128 s^4 t)
//! d = -(A - 2) / (A + 2), the point (X / Y, (X - 1) / (X + 1))
//! ```
//!
//! Many curves are made by a program over [registers](crate::registers), without an inversion. Multiple `64 a + b` of `G`, `b` below
//! 64, is `(a + 2) 64 G` minus `(128 - b) G`: the host makes the two [tables](Multiples) of these, and the [program](steps) a
//! difference and its curve. With `x = X / Z^2`, `y = Y / Z^3`, `W = X + 3 Z^2`, `S = 213 Z^2 - X`, `U = S^2 - 5 W^2` and `V = 4 S W`
//! the formulas above become
//!
//! ```text
//! (A + 2) / 4 = P / Q with P = (V - U)^3 (3 U + V), Q = 16 U^3 V, so d = (Q - P) / P
//! the point (72 V Y Z / ((S - W) (S + 5 W) (S^2 + 5 W^2)), (U^3 - V^3) / (U^3 + V^3))
//! ```
//!
//! Modulo a prime for which there is no such curve all coordinates become 0, and remain so: the prime is found when stage 1 ends.
//!
//! Cost of a curve: some 100 products.

use bigint_host::advanced::Step;
use num_bigint::BigUint;
use rayon::prelude::*;

use crate::modular::{inverse, sub};
use crate::registers::Column;

/// A curve and its point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The point's `x`.
    pub x: BigUint,
    /// The point's `y`.
    pub y: BigUint,
    /// The curve's `d`.
    pub d: BigUint,
    /// `(A + 2) / 4`.
    pub a24: BigUint,
}

/// Curve `sigma`, from 2 on, modulo an odd number; or a divisor of the number.
///
/// # Errors
/// The divisor.
pub fn start(sigma: u64, n: &BigUint) -> Result<Start, BigUint> {
    let number = |k: u32| BigUint::from(k) % n;
    let cube = |k: &BigUint| k * k % n * k % n;
    let of = |top: BigUint, bottom: BigUint| Ok::<_, BigUint>(top * inverse(&(bottom % n), n)? % n);
    let [x, y, z] = multiple(&generator(n), sigma.into(), n);
    let below = inverse(&z, n)?;
    let square = &below * &below % n;
    let (x, y) = (x * &square % n, y * square % n * below % n);
    let below = inverse(&(&x + 3u8), n)?;
    let s = sub(&number(213), &x, n) * &below % n;
    let square = &s * &s % n;
    let (u, v) = (sub(&square, &number(5), n), &s * 4u8 % n);
    let (uuu, vvv) = (cube(&u), cube(&v));
    let root = y * 144u8 * &below % n * below % n;
    let height = sub(&s, &number(1), n) * (&s + 5u8) % n * &uuu % n * (&square + 5u8) % n;
    let of_height = &square * &square % n * root * 128u8 % n;
    let a24: BigUint = of(cube(&sub(&v, &u, n)) * (&u * 3u8 + &v), &uuu * &v * 16u8)?;
    Ok(Start {
        x: of(&uuu * of_height, &vvv * height)?,
        y: of(sub(&uuu, &vvv, n), uuu + vvv)?,
        d: sub(&inverse(&a24, n)?, &number(1), n),
        a24,
    })
}

/// A point `(X / Z^2, Y / Z^3)` of `y^2 = x^3 - 9747 x + 285714`.
type Multiple = [BigUint; 3];

/// The generator.
fn generator(n: &BigUint) -> Multiple {
    [15u32, 378, 1].map(|k| BigUint::from(k) % n)
}

/// `2 p`.
fn double([x, y, z]: &Multiple, n: &BigUint) -> Multiple {
    let (yy, zz) = (y * y % n, z * z % n);
    let s = x * &yy * 4u8 % n;
    let m = sub(&(x * x * 3u8 % n), &(&zz * &zz * 9747u32 % n), n);
    let abscissa = sub(&(&m * &m % n), &(&s * 2u8 % n), n);
    let height = sub(&(m * sub(&s, &abscissa, n) % n), &(&yy * &yy * 8u8 % n), n);
    [abscissa, height, y * z * 2u8 % n]
}

/// `p + q` of points that differ.
fn sum([x, y, z]: &Multiple, [a, b, c]: &Multiple, n: &BigUint) -> Multiple {
    let (zz, cc) = (z * z % n, c * c % n);
    let (u, s) = (x * &cc % n, y * cc % n * c % n);
    let h = sub(&(a * &zz % n), &u, n);
    let r = sub(&(b * zz % n * z % n), &s, n);
    let hh = &h * &h % n;
    let (hhh, v) = (&hh * &h % n, u * hh % n);
    let twice = (&v * 2u8 + &hhh) % n;
    let abscissa = sub(&(&r * &r % n), &twice, n);
    let height = sub(&(r * sub(&v, &abscissa, n) % n), &(s * hhh % n), n);
    [abscissa, height, z * c % n * h % n]
}

/// `k p`.
fn multiple(p: &Multiple, k: u128, n: &BigUint) -> Multiple {
    let mut multiple = p.clone();
    for bit in (0..k.ilog2()).rev() {
        multiple = double(&multiple, n);
        if k >> bit & 1 == 1 {
            multiple = sum(&multiple, p, n);
        }
    }
    multiple
}

/// `k p` for `count` numbers `k`, the first of which is at least 2.
fn multiples(p: &Multiple, first: u128, count: usize, n: &BigUint) -> Vec<Multiple> {
    let starts: Vec<_> = (0..count).step_by(OF_PART).collect();
    let parts = starts.into_par_iter().flat_map_iter(|start| {
        let begun = multiple(p, first + start as u128, n);
        let part = std::iter::successors(Some(begun), |last| Some(sum(last, p, n)));
        part.take(OF_PART.min(count - start))
    });
    parts.collect()
}

/// Multiples that one core makes one after another.
const OF_PART: usize = 64;

/// The multiples of the generator that are told apart by `b`.
const SMALL: u64 = 64;

/// The tables of multiples of the generator, of which curves `first`, `first + 1`, and so on take two each.
pub struct Multiples {
    first: u64,
    large: Vec<Multiple>,
    /// `-128 G`, `-127 G`, and so on.
    small: Vec<Multiple>,
}

impl Multiples {
    /// Those of `count` curves, at least one, from curve 2 on.
    pub fn new(first: u64, count: usize, n: &BigUint) -> Self {
        let last = first + (count as u64 - 1);
        let rows = (last / SMALL - first / SMALL + 1) as usize;
        let generator = generator(n);
        let step = multiple(&generator, SMALL.into(), n);
        let small = multiples(&generator, u128::from(SMALL) + 1, SMALL as usize, n);
        let negated = |[x, y, z]: Multiple| [x, sub(&BigUint::ZERO, &y, n), z];
        Multiples {
            first,
            large: multiples(&step, u128::from(first / SMALL) + 2, rows, n),
            small: small.into_iter().rev().map(negated).collect(),
        }
    }

    /// What the registers of rows begin with, a row for each curve: [`GIVEN`] columns.
    pub fn columns(&self) -> Vec<Column<'_>> {
        let number = |row: usize| self.first + row as u64;
        let large = move |row| (number(row) / SMALL - self.first / SMALL) as usize;
        let small = move |row| (number(row) % SMALL) as usize;
        let values = |table: &[Multiple], i: usize| table.iter().map(|p| p[i].clone()).collect();
        let mut columns = Vec::new();
        columns.extend((0..3).map(|i| Column::table(values(&self.large, i), large)));
        columns.extend((0..3).map(|i| Column::table(values(&self.small, i), small)));
        columns.push(Column::all(1u8));
        columns
    }
}

/// Where the program finds and leaves numbers.
pub struct Places {
    /// The point `X, Y, Z, T`.
    pub point: [u16; 4],
    /// `2 (Q - P)`.
    pub twice: u16,
    /// `P` and `Q`, and 1.
    pub kept: [u16; 3],
    /// The first of [`SCRATCH`] registers, none of which is another's or one of the first [`GIVEN`].
    pub scratch: u16,
}

/// The registers that rows begin with.
pub const GIVEN: u16 = 7;

/// The one of them that has 1.
const ONE: u16 = 6;

/// Registers that the program may overwrite.
pub const SCRATCH: u16 = 11;

/// Steps on the way.
struct Program(Vec<Step>);

impl Program {
    fn mul(&mut self, r: u16, a: u16, b: u16) {
        self.0.push(Step::Mul { r, a, b });
    }

    fn add(&mut self, r: u16, a: u16, b: u16) {
        self.0.push(Step::Add { r, a, b });
    }

    fn sub(&mut self, r: u16, a: u16, b: u16) {
        self.0.push(Step::Sub { r, a, b });
    }

    /// Makes a sum less than two moduli, as products are.
    fn reduce(&mut self, r: u16) {
        self.mul(r, r, ONE);
    }

    /// The sum of both points of a row: `X Y Z` are the last three registers.
    fn sum(&mut self, scratch: &[u16; SCRATCH as usize]) {
        let [x, y, z, a, b, c] = [0, 1, 2, 3, 4, 5];
        let [zz, cc, s1, h, r, hh, hhh, v1, x3, y3, z3] = *scratch;
        self.mul(zz, z, z);
        self.mul(cc, c, c);
        self.mul(x, x, cc);
        self.mul(cc, cc, c);
        self.mul(s1, y, cc);
        self.mul(h, a, zz);
        self.sub(h, h, x);
        self.mul(zz, zz, z);
        self.mul(r, b, zz);
        self.sub(r, r, s1);
        self.mul(hh, h, h);
        self.mul(hhh, hh, h);
        self.mul(v1, x, hh);
        self.mul(x3, r, r);
        self.sub(x3, x3, hhh);
        for _ in 0..2 {
            self.reduce(x3);
            self.sub(x3, x3, v1);
        }
        self.reduce(x3);
        self.sub(v1, v1, x3);
        self.mul(y3, r, v1);
        self.mul(s1, s1, hhh);
        self.sub(y3, y3, s1);
        self.mul(z3, z, c);
        self.mul(z3, z3, h);
    }

    /// `r = k a`, less than two moduli.
    fn times(&mut self, r: u16, a: u16, k: u32) {
        self.mul(r, a, ONE);
        for bit in (0..k.ilog2()).rev() {
            self.add(r, r, r);
            self.reduce(r);
            if k >> bit & 1 == 1 {
                self.add(r, r, a);
                self.reduce(r);
            }
        }
    }
}

/// The steps that make curves and points of what [`Multiples::columns`] sets.
pub fn steps(places: &Places) -> Vec<Step> {
    let scratch: [u16; SCRATCH as usize] = std::array::from_fn(|i| places.scratch + i as u16);
    let mut p = Program(Vec::new());
    p.sum(&scratch);
    // S and W. Of both points' registers there is no more need.
    let [zz, s, w, ss, five, u, v, uuu, x, y, z] = scratch;
    let [vvv, t, top, bottom] = [0, 1, 2, 3];
    p.mul(t, z, z);
    p.times(top, t, 3);
    p.times(zz, t, 213);
    p.add(w, top, x);
    p.reduce(w);
    p.sub(s, zz, x);
    p.reduce(s);
    // y Z of the point is all that its Y and Z are for.
    p.mul(y, y, z);
    p.mul(ss, s, s);
    p.mul(t, w, w);
    p.times(five, t, 5);
    p.sub(u, ss, five);
    p.reduce(u);
    p.mul(t, s, w);
    p.times(v, t, 4);
    p.mul(uuu, u, u);
    p.mul(uuu, uuu, u);
    p.mul(vvv, v, v);
    p.mul(vvv, vvv, v);
    // P and Q.
    let [of_p, of_q, of_one] = places.kept;
    p.sub(t, v, u);
    p.mul(top, t, t);
    p.mul(top, top, t);
    p.times(t, u, 3);
    p.add(t, t, v);
    p.mul(of_p, top, t);
    p.mul(t, uuu, v);
    p.times(of_q, t, 16);
    p.mul(of_one, ONE, ONE);
    // The point's x is top / bottom, its y (uuu - vvv) / (uuu + vvv).
    p.times(t, v, 72);
    p.mul(top, t, y);
    p.sub(t, s, w);
    p.times(bottom, w, 5);
    p.add(bottom, bottom, s);
    p.mul(bottom, bottom, t);
    p.add(t, ss, five);
    p.mul(bottom, bottom, t);
    let (less, more) = (ss, five);
    p.sub(less, uuu, vvv);
    p.add(more, uuu, vvv);
    // Away from the point's registers.
    let kept = [zz, s, w, u];
    let copies = kept.into_iter().zip([top, more, less, bottom]);
    p.0.extend(copies.map(|(r, a)| Step::Copy { r, a }));
    let [top, more, less, bottom] = kept;
    let [x, y, z, t] = places.point;
    p.sub(v, of_q, of_p);
    p.add(v, v, v);
    p.mul(places.twice, v, ONE);
    p.mul(x, top, more);
    p.mul(y, less, bottom);
    p.mul(z, bottom, more);
    p.mul(t, top, less);
    p.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::Registers;

    #[test]
    fn the_point_is_on_the_curve_for_every_multiple() {
        let n = (BigUint::from(1u8) << 127u8) - 1u8;
        for sigma in [2, 3, 4, 5, 100, u64::MAX] {
            let Start { x, y, d, a24 } = start(sigma, &n).unwrap();
            let (xx, yy) = (&x * &x % &n, &y * &y % &n);
            assert_eq!(
                (&yy + &n - &xx) % &n,
                (d.clone() * xx * yy + 1u8) % &n,
                "{sigma}"
            );
            // d = -(A - 2) / (A + 2) = 1 / a24 - 1.
            assert_eq!((d + 1u8) * a24 % &n, BigUint::from(1u8));
        }
    }

    /// The affine sum, as a textbook has it.
    fn affine_sum([x, y]: &[BigUint; 2], [u, v]: &[BigUint; 2], n: &BigUint) -> [BigUint; 2] {
        let slope = match x == u {
            true => {
                sub(&(x * x * 3u8 % n), &9747u32.into(), n) * inverse(&(y * 2u8 % n), n).unwrap()
            }
            false => sub(y, v, n) * inverse(&sub(x, u, n), n).unwrap(),
        } % n;
        let third = sub(&sub(&(&slope * &slope % n), x, n), u, n);
        let height = sub(&(slope * sub(x, &third, n) % n), y, n);
        [third, height]
    }

    #[test]
    fn multiples_are_those_one_after_another() {
        let n = (BigUint::from(1u8) << 89u8) - 1u8;
        let point = [15u32, 378].map(BigUint::from);
        let mut all = vec![point.clone()];
        for _ in 1..200 {
            all.push(affine_sum(all.last().unwrap(), &point, &n));
        }
        for (first, count) in [(2, 1), (2, 3), (3, 64), (7, 65), (9, 191)] {
            let found = multiples(&generator(&n), first as u128, count, &n);
            let found: Vec<_> = found
                .into_iter()
                .map(|[x, y, z]| {
                    let below = inverse(&z, &n).unwrap();
                    let square = &below * &below % &n;
                    [x * &square % &n, y * square % &n * below % &n]
                })
                .collect();
            assert_eq!(found, all[first - 1..][..count], "{first} {count}");
        }
    }

    /// Modulo small primes many sums meet a point at infinity, or its own double: then all is 0 modulo the prime.
    #[test]
    fn curves_of_the_program_are_those_of_one_at_a_time() {
        let places = Places {
            point: [0, 1, 2, 3],
            twice: 4,
            kept: [24, 25, 26],
            scratch: 10,
        };
        let long = ((BigUint::from(1u8) << 89u8) - 1u8) * ((BigUint::from(1u8) << 107u8) - 1u8);
        for (n, first, is_long) in [
            (long.clone(), 2, true),
            (long.clone(), 1000, true),
            (long, u64::MAX - 130, true),
            (BigUint::from(1_000_003u32), 2, false),
            (BigUint::from(1009u32 * 13), 2, false),
            (BigUint::from(5u32 * 7 * 11), 2, false),
        ] {
            let made = Multiples::new(first, 131, &n);
            let made = Registers::new(None, &n, 27, 131, &made.columns());
            let mut made = made.unwrap().unwrap();
            made.run(steps(&places), 0, 0, &[]).unwrap();
            let column = |r| made.get(r).unwrap();
            let [x, y, z, t] = places.point.map(column);
            let [twice, p, q, one] = [4, 24, 25, 26].map(column);
            let mut curves = 0;
            for i in 0..131 {
                assert_eq!(one[i], BigUint::from(1u8));
                assert_eq!(&x[i] * &y[i] % &n, &z[i] * &t[i] % &n);
                let expected = start(first + i as u64, &n);
                let is_none = [&z[i], &p[i], &q[i]]
                    .iter()
                    .any(|number| inverse(number, &n).is_err());
                let Ok(start) = expected else {
                    assert!(is_none || !is_long);
                    continue;
                };
                if is_none {
                    assert!(!is_long, "{first} {i}");
                    continue;
                }
                curves += 1;
                assert_eq!(&start.x * &z[i] % &n, x[i], "{first} {i}");
                assert_eq!(&start.y * &z[i] % &n, y[i]);
                assert_eq!(&start.a24 * &q[i] % &n, p[i]);
                assert_eq!(&start.d * &p[i] * 2u8 % &n, twice[i]);
            }
            assert!(!is_long || curves == 131);
        }
    }
}
