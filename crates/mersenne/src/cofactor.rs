//! PRP tests of what is left of `2^p - 1` without known factors.
//!
//! With `d` the product of the known factors and `N = (2^p - 1) / d`, the test computes `3^(N d - 1)` modulo
//! `N d = 2^p - 1` (a residue of type 5, as hunters count). That is what the test of `2^p - 1` computes, with
//! the same check and proof; only the verdict is another: `N` is a probable prime where
//!
//! ```text
//! 3^(N d - 1) = 3^(d - 1) modulo N
//! ```
//!
//! as `3^(N - 1) = 1` makes `3^(N d - 1) = 3^(d (N - 1) + d - 1)`. Example, `2^11 - 1 = 23 89`, `d = 23`,
//! `N = 89`: `3^2046 = 1013 = 34` and `3^22 = 34` modulo 89, which is prime.

use bigint_host::BigUint;

use crate::residue::modulus;
use crate::{Number, Residue};

/// `2^p - 1` without some factors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cofactor {
    p: u32,
    factors: Vec<BigUint>,
    /// `d` and `N`.
    divisor: BigUint,
    left: BigUint,
}

impl Cofactor {
    /// `2^p - 1` without these factors.
    ///
    /// # Errors
    /// What is wrong with them, in words: there is none, their product does not divide the number, or
    /// nothing is left.
    pub fn new(p: u32, factors: Vec<BigUint>) -> Result<Self, String> {
        let one = BigUint::from(1u32);
        if factors.is_empty() || factors.iter().any(|factor| *factor <= one) {
            return Err("known factors are numbers above 1".to_owned());
        }
        // Before numbers of p bits are divided.
        let fits = |factor: &BigUint| BigUint::from(2u32).modpow(&p.into(), factor) == one;
        if let Some(factor) = factors.iter().find(|factor| !fits(factor)) {
            return Err(format!("{factor} does not divide 2^{p} - 1"));
        }
        let divisor: BigUint = factors.iter().product();
        let number = integer(&modulus(Number::from(p)));
        let left = &number / &divisor;
        if &left * &divisor != number {
            return Err(format!(
                "the product of the factors does not divide 2^{p} - 1"
            ));
        }
        if left == one {
            return Err(format!("nothing is left of 2^{p} - 1"));
        }
        Ok(Cofactor {
            p,
            factors,
            divisor,
            left,
        })
    }

    /// The exponent.
    pub fn p(&self) -> u32 {
        self.p
    }

    /// The known factors.
    pub fn factors(&self) -> &[BigUint] {
        &self.factors
    }

    /// Whether a test of `2^p - 1` that ends with this residue, `3^(2^p - 2)`, shows `N` to be a probable
    /// prime.
    ///
    /// # Panics
    /// If the residue is modulo another number.
    pub fn is_probable_prime(&self, residue: &Residue) -> bool {
        assert_eq!(residue.number(), Number::from(self.p), "its test");
        let exponent = &self.divisor - 1u32;
        let mut power = Residue::from_u64(self.p, 1);
        for bit in (0..exponent.bits()).rev() {
            power = power.square_minus(1 + 2 * u32::from(exponent.bit(bit)), 0);
        }
        let difference = residue.clone().minus(&power);
        (integer(difference.limbs()) % &self.left) == BigUint::ZERO
    }
}

/// The number with these limbs.
fn integer(limbs: &[u64]) -> BigUint {
    let halves = limbs
        .iter()
        .flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
    BigUint::new(halves.collect())
}
