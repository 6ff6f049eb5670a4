//! Curves and points, as stage 1 leaves them and stage 2 takes them: `b y^2 = x^3 + A x^2 + x`
//! ([Montgomery 1987]) and a point's `x` alone.

use num_bigint::BigUint;

use crate::modular::{inverse, sub};

/// Where curves come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// GMP-ECM's parametrization 3: `(A + 2) / 4 = sigma / 2^32`, the point `x = 2`.
    Param3,
    /// Twisted Edwards curves with `a = -1` and six torsion points, from a curve of rank 1
    /// ("Suyama-11"); `sigma` is the multiple of its generator. Their groups' orders are divisible
    /// by 12, and smooth more often than those of [`Family::Param3`].
    Edwards,
}

/// A curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Curve {
    /// One of GMP-ECM's parametrizations: 0, 1 or 3.
    Sigma {
        /// Which.
        param: u8,
        /// Its parameter.
        sigma: BigUint,
    },
    /// `A` itself.
    A(BigUint),
}

impl Curve {
    /// `(A + 2) / 4` modulo `n`, which is odd; or a divisor of `n` for which there is no such curve.
    ///
    /// # Errors
    /// The divisor.
    pub fn a24(&self, n: &BigUint) -> Result<BigUint, BigUint> {
        match self {
            Curve::A(a) => Ok((a + 2u8) * inverse(&(BigUint::from(4u8) % n), n)? % n),
            Curve::Sigma { param: 1, sigma } => {
                Ok(sigma * sigma * inverse(&((BigUint::from(1u8) << 64) % n), n)? % n)
            }
            Curve::Sigma { param: 0, sigma } => {
                // Suyama's: u = s^2 - 5, v = 4 s, A + 2 = (v - u)^3 (3 u + v) / (4 u^3 v).
                let u = sub(&(sigma * sigma % n), &(BigUint::from(5u8) % n), n);
                let v = sigma * 4u8 % n;
                let top = sub(&v, &u, n).modpow(&3u8.into(), n) * (&u * 3u8 + &v);
                Ok(top * inverse(&(u.modpow(&3u8.into(), n) * v * 16u8 % n), n)? % n)
            }
            Curve::Sigma { sigma, .. } => {
                Ok(sigma * inverse(&((BigUint::from(1u8) << 32) % n), n)? % n)
            }
        }
    }
}

/// A point of a curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The curve.
    pub curve: Curve,
    /// The point's `x` modulo the number.
    pub x: BigUint,
}
