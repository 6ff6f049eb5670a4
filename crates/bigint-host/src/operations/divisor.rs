//! One divisor for all numbers, prepared once [Barrett 1986].
//!
//! With `B` = 2^32, dividends `a < B^n` and `v = floor(B^n / b)`, which is what is prepared,
//!
//! ```text
//! q = floor(a v / B^n),    r = a - q b
//! ```
//!
//! are the quotient and remainder, or the quotient is one more: `v` is off by less than 1, so
//! that `a v / B^n` is off by less than `a / B^n < 1`, and rounding down by less than 1. By
//! hand, with `B` = 10: 85 by 7 with `v` = 14 gives `q` = 11 and `r` = 8, which is 7 too much.
//!
//! Cost: two products and some passes over memory, where a division takes as many
//! multiply-adds as a product by rows: it pays where products are computed by less than rows,
//! and on a device where no registers hold the divisor.

use crate::operations::forms::Form;
use crate::{Batch, BigUint, Engine, Error};
use bigint_core::{LIMB_BITS, Limb, Operation};

/// The narrowest divisor, in limbs, that is worth a reciprocal.
const LEAST_WIDTH: usize = 128;

/// One divisor, prepared for dividends of up to some width.
///
/// ```
/// use bigint_host::{Divisor, Engine};
/// let engine = Engine::auto();
/// let divisor = Divisor::new(&engine, &7u32.into(), 1)?;
/// let a = engine.batch_from_biguints(&[85u32.into(), 6u32.into()])?;
/// let (quotient, remainder) = divisor.div_rem(&a)?;
/// assert_eq!(quotient.to_biguints()?, [12u32, 0].map(Into::into));
/// assert_eq!(remainder.to_biguints()?, [1u32, 6].map(Into::into));
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Divisor {
    engine: Engine,
    divisor: Batch,
    /// `floor(B^n / b)`, where it pays.
    reciprocal: Option<Batch>,
    /// `n`.
    width: usize,
}

impl Divisor {
    /// `divisor`, for dividends of up to `width` limbs; wider ones are divided as
    /// [`Engine::div_rem`] does.
    ///
    /// # Errors
    /// [`Error::ZeroDivisor`]; [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub fn new(engine: &Engine, divisor: &BigUint, width: usize) -> Result<Self, Error> {
        Divisor::from_width(engine, divisor, width, LEAST_WIDTH)
    }

    /// With a reciprocal from so many limbs on.
    fn from_width(
        engine: &Engine,
        divisor: &BigUint,
        width: usize,
        least: usize,
    ) -> Result<Self, Error> {
        if *divisor == BigUint::ZERO {
            return Err(Error::ZeroDivisor { index: 0 });
        }
        let divisor = engine.batch_from_biguints(std::slice::from_ref(divisor))?;
        // Of one limb the reciprocal may be wider than dividends are.
        let pays = divisor.width() >= least.max(2) && width >= divisor.width();
        let reciprocal = pays.then(|| {
            let power = BigUint::from(1u8) << (LIMB_BITS * width);
            let quotient = engine.div(&engine.batch_from_biguints(&[power])?, &divisor)?;
            // Without the zeros on top.
            engine.batch_from_biguints(&quotient.to_biguints()?)
        });
        Ok(Divisor {
            engine: engine.clone(),
            reciprocal: reciprocal.transpose()?,
            divisor,
            width,
        })
    }

    /// Quotients and remainders.
    ///
    /// # Errors
    /// As for [`Engine::div_rem`].
    pub fn div_rem(&self, a: &Batch) -> Result<(Batch, Batch), Error> {
        let (engine, divisor) = (&self.engine, &self.divisor);
        let Some(reciprocal) = self.reciprocal.as_ref().filter(|_| a.width() <= self.width) else {
            return engine.div_rem(a, divisor);
        };
        let number = |number: Limb| engine.batch_from_biguints(&[number.into()]);
        let one = number(1)?;
        let of = |operation, width, operands: &[&Batch]| {
            engine.first_of(operation, Form::Modulo(width), operands)
        };
        let wide;
        let a = match a.width() == self.width {
            true => a,
            false => {
                wide = of(Operation::Or, self.width, &[a, &number(0)?])?;
                &wide
            }
        };
        let quotient = engine.mul_high(a, reciprocal)?;
        // Less than twice the divisor.
        let width = divisor.width() + 1;
        let product = of(Operation::Mul, width, &[&quotient, divisor])?;
        let rest = of(Operation::Sub, width, &[a, &product])?;
        let less = of(Operation::Sub, divisor.width(), &[&rest, divisor])?;
        // 1 where the rest is not less than the divisor.
        let more = engine.min(&engine.order(&rest, divisor)?, &one)?;
        let quotient = of(Operation::Add, quotient.width(), &[&quotient, &more])?;
        let remainder = of(Operation::Select, divisor.width(), &[&less, &rest, &more])?;
        Ok((quotient, remainder))
    }

    /// Quotients alone.
    ///
    /// # Errors
    /// As for [`Divisor::div_rem`].
    pub fn div(&self, a: &Batch) -> Result<Batch, Error> {
        Ok(self.div_rem(a)?.0)
    }

    /// Remainders alone.
    ///
    /// # Errors
    /// As for [`Divisor::div_rem`].
    pub fn rem(&self, a: &Batch) -> Result<Batch, Error> {
        Ok(self.div_rem(a)?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_by_a_prepared_divisor_are_those_of_num_bigint() {
        let engine = Engine::cpu();
        let one = BigUint::from(1u8);
        let ones = |limbs: usize| (BigUint::from(1u8) << (32 * limbs)) - 1u8;
        for (n, m) in [(2, 1), (2, 2), (4, 2), (9, 5), (20, 9), (260, 130)] {
            let mut divisors = vec![ones(m), &one << (32 * m - 1), (&one << (32 * m - 32)) + 1u8];
            divisors.extend([
                &one << (32 * m - 32),
                ones(m) / 7u8,
                one.clone(),
                3u8.into(),
            ]);
            for b in divisors {
                let least = &b - &one;
                let most = ones(n);
                let mut numbers = vec![BigUint::ZERO, one.clone(), least, b.clone(), most.clone()];
                let multiple = &most / &b * &b;
                numbers.extend([&multiple - &one, multiple, &most / 3u8, &most / &b]);
                let a = engine.batch_from_biguints(&numbers).unwrap();
                for (width, least) in [(n, 1), (n, 1000), (n + 3, 1), (m, 1)] {
                    let divisor = Divisor::from_width(&engine, &b, width, least).unwrap();
                    let (q, r) = divisor.div_rem(&a).unwrap();
                    let (q, r) = (q.to_biguints().unwrap(), r.to_biguints().unwrap());
                    for (i, a) in numbers.iter().enumerate() {
                        assert_eq!((&q[i], &r[i]), (&(a / &b), &(a % &b)), "{a:x} by {b:x}");
                    }
                }
            }
        }
        let refused = Divisor::new(&engine, &BigUint::ZERO, 4).unwrap_err();
        assert!(matches!(refused, Error::ZeroDivisor { index: 0 }));
    }
}
