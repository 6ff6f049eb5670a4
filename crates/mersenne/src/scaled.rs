//! Squares modulo `k b^n + c` on the CPU.

use bigint_cpu::Path;
use bigint_cpu::fast::number::weighted::{Length, Modulus, Weighted};

use crate::stage_2::gcd;
use crate::{Error, Number, Residue, Squaring};

/// Squares modulo `k b^n + c` by the weighted transform: of residues divided by the `k` of its modulus, which
/// may have some of the number's powers of `b`.
pub(crate) struct Scaled {
    number: Number,
    /// The factors of that `k`.
    factors: Vec<u32>,
    weighted: Weighted,
    error: f64,
}

impl Scaled {
    /// `None` where there is no transform for the number.
    pub(crate) fn new(number: Number, longer_than: Option<Length>, path: Path) -> Option<Self> {
        let (base, exponent) = root(number.base());
        let n = number.n().checked_mul(exponent)?;
        let modulus = Modulus::new(number.k().into(), base, n, number.c().into())?;
        let mut factors = vec![number.k()];
        let mut left = modulus.k / u64::from(number.k());
        while left > 1 {
            factors.push(base);
            left /= u64::from(base);
        }
        // A factor that divides the number has no inverse.
        let divides = |&factor: &u32| gcd(factor.into(), number.modulo(factor).into()) != 1;
        if factors.iter().any(divides) {
            return None;
        }
        let length = modulus.length(longer_than)?;
        let weighted = Weighted::modulo(modulus, length, path)?;
        let error = 0.0;
        Some(Scaled {
            number,
            factors,
            weighted,
            error,
        })
    }
}

impl Squaring for Scaled {
    fn set(&mut self, x: &Residue) -> Result<(), Error> {
        let divided = self.factors.iter().fold(x.clone(), |x, &k| x.divided_by(k));
        self.weighted.set(divided.limbs());
        Ok(())
    }

    fn residue(&self) -> Result<Residue, Error> {
        let (limbs, is_negative) = self.weighted.signed_residue();
        let mut x = Residue::reduce(self.number, &limbs);
        if is_negative {
            x = Residue::from_u64(self.number, 0).minus(&x);
        }
        Ok(self.factors.iter().fold(x, |x, &k| x.times(k)))
    }

    fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error> {
        for _ in 0..times {
            let error = self.weighted.square(by, minus);
            self.error = match error.is_nan() {
                true => f64::INFINITY,
                false => self.error.max(error),
            };
        }
        Ok(())
    }

    fn error(&self) -> Result<f64, Error> {
        Ok(self.error)
    }

    fn words(&self) -> Option<usize> {
        Some(self.weighted.length().words())
    }
}

/// The number of which `b` is the greatest power, and the power's exponent.
fn root(b: u32) -> (u32, u32) {
    let roots = (2..u32::BITS).rev().filter_map(|exponent| {
        let near = f64::from(b).powf(1.0 / f64::from(exponent)).round() as u32;
        (near.checked_pow(exponent) == Some(b)).then_some((near, exponent))
    });
    roots.into_iter().next().unwrap_or((b, 1))
}
