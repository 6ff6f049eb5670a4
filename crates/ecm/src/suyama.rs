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
//! Curves are made many at a time, so that they share inversions. Their multiples of `G` are `S + i G` for the first one's
//! `S`, and `i G` are those up to a power of two, then those with the power added, and so on.
//!
//! Cost of a curve: some 70 products.

use num_bigint::BigUint;
use rayon::prelude::*;

use crate::modular::{inverses, sub};

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

/// A point of `y^2 = x^3 - 9747 x + 285714`, or a divisor of the modulus.
type Multiple = Result<[BigUint; 2], BigUint>;

/// The sums of a point and of each of others.
fn sums(others: &[Multiple], [u, v]: &[BigUint; 2], n: &BigUint) -> Vec<Multiple> {
    let slope = |[x, y]: &[BigUint; 2]| match x == u && y == v {
        true => [(x * x * 3u8 + n * 9747u32 - 9747u32) % n, y * 2u8 % n],
        false => [sub(y, v, n), sub(x, u, n)],
    };
    let slopes: Vec<_> = others
        .par_iter()
        .map(|other| other.as_ref().map(slope).unwrap_or_default())
        .collect();
    let bottoms: Vec<_> = slopes.iter().map(|[_, bottom]| bottom.clone()).collect();
    let made = others.par_iter().zip(slopes).zip(inverses(&bottoms, n));
    made.map(|((other, [top, _]), inverse)| {
        let ([x, y], inverse) = (other.as_ref().map_err(BigUint::clone)?, inverse?);
        let slope = top * inverse % n;
        let third = sub(&sub(&(&slope * &slope % n), x, n), u, n);
        let height = sub(&(slope * sub(x, &third, n) % n), y, n);
        Ok([third, height])
    })
    .collect()
}

/// One multiple of the generator.
fn multiple(generator: &[BigUint; 2], times: u64, n: &BigUint) -> Multiple {
    let sum = |a: Multiple, b: &[BigUint; 2]| sums(&[a], b, n).remove(0);
    let mut multiple = generator.clone();
    for bit in (0..times.ilog2()).rev() {
        multiple = sum(Ok(multiple.clone()), &multiple)?;
        if times >> bit & 1 == 1 {
            multiple = sum(Ok(multiple), generator)?;
        }
    }
    Ok(multiple)
}

/// The multiples `first`, `first + 1`, and so on of the generator.
fn multiples(first: u64, count: usize, n: &BigUint) -> Vec<Multiple> {
    let generator = [15u32, 378].map(|k| BigUint::from(k) % n);
    let mut small = vec![Ok(generator.clone())];
    while small.len() < count {
        let Some(Ok(last)) = small.last().cloned() else {
            break;
        };
        let more = small.len().min(count - small.len());
        small.extend(sums(&small[..more], &last, n));
    }
    small.truncate(count - 1);
    let mut all = vec![multiple(&generator, first, n)];
    if let Ok(first) = &all[0] {
        let others = sums(&small, first, n);
        all.extend(others);
    }
    // What is no sum of these two may be one of others.
    let each = (0..count).into_par_iter().map(|i| match all.get(i) {
        Some(Ok(made)) => Ok(made.clone()),
        _ => multiple(&generator, first + i as u64, n),
    });
    each.collect()
}

/// What a curve has, as fractions: `x`, `y`, `(d + 1) / 4` and `(A + 2) / 4`.
fn fractions([x, y]: &[BigUint; 2], below: BigUint, n: &BigUint) -> [[BigUint; 2]; 4] {
    let number = |k: u32| BigUint::from(k) % n;
    let cube = |k: &BigUint| k * k % n * k % n;
    let s = sub(&number(213), x, n) * &below % n;
    let square = &s * &s % n;
    let (u, v) = (sub(&square, &number(5), n), &s * 4u8 % n);
    let (uuu, vvv) = (cube(&u), cube(&v));
    let root = y * 144u8 * &below % n * below % n;
    let a_and_2 = [
        cube(&sub(&v, &u, n)) * (&u * 3u8 + &v) % n,
        &uuu * &v * 4u8 % n,
    ];
    let height = [
        sub(&s, &number(1), n) * (&s + 5u8) % n * &uuu % n * (&square + 5u8) % n,
        &square * &square % n * root * 128u8 % n,
    ];
    let [top, bottom] = &a_and_2;
    [
        [&uuu * &height[1] % n, &vvv * &height[0] % n],
        [sub(&uuu, &vvv, n), (&uuu + &vvv) % n],
        [bottom.clone(), top.clone()],
        [top.clone(), bottom * 4u8 % n],
    ]
}

/// Curves `first`, `first + 1`, and so on modulo an odd number, from 2 on; for each that there is not a divisor of the number.
pub fn starts(first: u64, count: usize, n: &BigUint) -> Vec<Result<Start, BigUint>> {
    if count == 0 {
        return Vec::new();
    }
    let points = multiples(first, count, n);
    let bottoms: Vec<_> = points
        .iter()
        .map(|point| {
            point
                .as_ref()
                .map_or_else(|_| BigUint::from(1u8), |[x, _]| (x + 3u8) % n)
        })
        .collect();
    let parts = points.into_par_iter().zip(inverses(&bottoms, n));
    let parts: Vec<_> = parts
        .map(|(point, below)| Ok::<_, BigUint>(fractions(&point?, below?, n)))
        .collect();
    let bottoms: Vec<_> = parts
        .iter()
        .flat_map(|parts| match parts {
            Ok(parts) => parts.each_ref().map(|[_, bottom]| bottom.clone()),
            Err(_) => [(); 4].map(|()| BigUint::from(1u8)),
        })
        .collect();
    let inverses = inverses(&bottoms, n);
    let starts = parts.into_par_iter().zip(inverses.par_chunks(4));
    starts
        .map(|(parts, inverses)| {
            let [x, y, quarter, a24] = parts?;
            let of = |[top, _]: &[BigUint; 2], i: usize| -> Result<_, BigUint> {
                Ok(top * inverses[i].clone()? % n)
            };
            Ok(Start {
                x: of(&x, 0)?,
                y: of(&y, 1)?,
                d: sub(&(of(&quarter, 2)? * 4u8 % n), &(BigUint::from(1u8) % n), n),
                a24: of(&a24, 3)?,
            })
        })
        .collect()
}

/// Curve `sigma`, from 2 on, modulo an odd number; or a divisor of the number.
///
/// # Errors
/// The divisor.
pub fn start(sigma: u64, n: &BigUint) -> Result<Start, BigUint> {
    starts(sigma, 1, n).remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modular::inverse;

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
    fn sum([x, y]: &[BigUint; 2], [u, v]: &[BigUint; 2], n: &BigUint) -> [BigUint; 2] {
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
    fn many_multiples_are_those_one_after_another() {
        let n = (BigUint::from(1u8) << 89u8) - 1u8;
        let generator = [15u32, 378].map(BigUint::from);
        let mut all = vec![generator.clone()];
        for _ in 1..40 {
            all.push(sum(all.last().unwrap(), &generator, &n));
        }
        for (first, count) in [(1, 1), (1, 2), (2, 3), (2, 33), (7, 17), (5, 5), (9, 8)] {
            let found: Result<Vec<_>, _> = multiples(first as u64, count, &n).into_iter().collect();
            assert_eq!(found.unwrap(), all[first - 1..][..count], "{first} {count}");
        }
    }

    /// Modulo small primes most sums meet a point at infinity or its own double.
    #[test]
    fn curves_modulo_small_primes_are_those_of_one_at_a_time() {
        for p in [5u32, 7, 11, 13, 101, 1009, 5 * 7 * 11, 1009 * 13] {
            let n = BigUint::from(p);
            let many = starts(2, 70, &n);
            for (sigma, found) in (2..).zip(many) {
                match (found, start(sigma, &n)) {
                    (Err(divisor), one) => {
                        assert!(one.is_err(), "{p} {sigma}");
                        assert!(divisor > 1u8.into() && &n % divisor == BigUint::ZERO);
                    }
                    // The way of one may meet infinity where the way of many does not.
                    (Ok(found), one) => assert!(one.is_err() || one == Ok(found), "{p} {sigma}"),
                }
            }
        }
    }
}
