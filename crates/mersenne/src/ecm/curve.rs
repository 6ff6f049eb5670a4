//! Curves by Suyama's parameter, as GMP-ECM's parametrization 0 and mprime have them.
//!
//! **Maths** [Montgomery 1987]. Of the curve `b y^2 = x^3 + A x^2 + x` with the parameter `s`, its number and its
//! point are
//!
//! ```text
//! u = s^2 - 5,  v = 4 s,  (A + 2) / 4 = (v - u)^3 (3 u + v) / (16 u^3 v),  x = u^3 / v^3
//! ```
//!
//! and 12 divides the order of its group. As `u` and `v` are short, quotients modulo `N = 2^p - 1` take no long
//! inverse: with `t = -a / N` modulo `m`, `m` divides `a + t N`, and `(a + t N) / m` is `a / m`.
//!
//! Example, `3 / 5` modulo 7: `t = -3 / 7 = 1` modulo 5, and `(3 + 7) / 5 = 2`.

use bigint_host::{BigInt, BigUint};

use crate::Residue;

/// What multiples need of a curve and its point: both are quotients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Curve {
    /// `x` of the point `(x : 1)`.
    pub(super) x: Residue,
    /// `(A + 2) / 4`.
    pub(super) a24: Residue,
}

impl Curve {
    /// The curve of a parameter from 6 on, modulo `2^p - 1`, or a number that has a divisor in common
    /// with that.
    pub(super) fn new(p: u32, sigma: u64) -> Result<Self, Residue> {
        let sigma = BigInt::from(sigma);
        let (u, v) = (&sigma * &sigma - 5, &sigma * 4);
        let cube = |x: &BigInt| -> BigInt { x * x * x };
        let below: BigInt = cube(&u) * cube(&v) * 16;
        let below = below.magnitude();
        let above = [
            cube(&u) * cube(&u) * 16,
            cube(&(&v - &u)) * (&u * 3 + &v) * &v * &v,
        ];
        let [x, a24] = above.map(|above| quotient(p, above, below));
        match (x, a24) {
            (Some(x), Some(a24)) => Ok(Curve { x, a24 }),
            _ => Err(Residue::reduce(p, &below.to_u64_digits())),
        }
    }
}

/// The quotient modulo `2^p - 1`; `None` where the divisor has no inverse.
fn quotient(p: u32, above: BigInt, below: &BigUint) -> Option<Residue> {
    let number = BigInt::from((BigUint::from(1u32) << p) - 1u32);
    let above = (above % &number + &number) % &number;
    let (above, number) = (above.magnitude(), number.magnitude());
    let inverse = (number % below).modinv(below)?;
    let t = (below - above % below) * inverse % below;
    let quotient = (above + t * number) / below;
    Some(Residue::reduce(p, &quotient.to_u64_digits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_those_of_their_definition() {
        for (p, sigma) in [
            (61, 6),
            (127, 7),
            (521, 10),
            (1277, (1 << 53) - 1),
            (89, u64::MAX),
        ] {
            let n = (BigUint::from(1u32) << p) - 1u32;
            let Curve { x, a24 } = Curve::new(p, sigma).unwrap();
            let value = |x: &Residue| {
                let halves = x.limbs().iter();
                let halves = halves.flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
                BigUint::new(halves.collect())
            };
            let sigma = BigUint::from(sigma);
            let u = (&sigma * &sigma - 5u32) % &n;
            let v = &sigma * 4u32 % &n;
            assert_eq!(value(&x) * v.pow(3) % &n, u.pow(3) % &n, "M{p}");
            let difference = (&v + &n - &u) % &n;
            let above = difference.pow(3) * (&u * 3u32 + &v) % &n;
            assert_eq!(value(&a24) * 16u32 * u.pow(3) * v % &n, above, "M{p}");
        }
    }

    #[test]
    fn a_parameter_that_is_a_factors_multiple_tells_it() {
        // 23 divides 2^11 - 1, and 46.
        let found = Curve::new(11, 46).unwrap_err();
        assert_eq!(found.divisor().unwrap(), 23u32.into());
    }
}
