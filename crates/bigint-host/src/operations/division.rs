//! Quotients and remainders of signed numbers, in each of the ways that signs may go.

use crate::operations::column::Column;
use crate::{Batch, Engine, Error, SignedBatch};

/// Quotients and remainders.
type Divided = (SignedBatch, SignedBatch);

impl Engine {
    /// Quotients rounded down and what they leave, which has the divisor's sign: Python's
    /// `//` and `%`. `-7` by `2` is `-4`, and 1 is left.
    ///
    /// ```
    /// use bigint_host::{Engine, Integers};
    /// let engine = Engine::auto();
    /// let (a, b) = (Integers::from([-7, 7]), Integers::from([2, -2]));
    /// let (quotient, remainder) = engine.div_rem_floor(&a, &b)?;
    /// assert_eq!(quotient, Integers::from([-4, -4]));
    /// assert_eq!(remainder, Integers::from([1, -1]));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ZeroDivisor`] names the first number divided by zero; otherwise as
    /// [`Engine::div_rem`].
    pub fn div_rem_floor<C: Column>(&self, a: &C, b: &C) -> Result<(C, C), Error> {
        C::div_rem_floor(self, a, b)
    }

    /// Quotients rounded towards zero and what they leave, which has the dividend's sign:
    /// Rust's `/` and `%`. `-7` by `2` is `-3`, and -1 is left.
    ///
    /// # Errors
    /// As for [`Engine::div_rem_floor`].
    pub fn div_rem_truncated<C: Column>(&self, a: &C, b: &C) -> Result<(C, C), Error> {
        C::div_rem_truncated(self, a, b)
    }

    /// Quotients whose remainders are not negative: Rust's `div_euclid` and `rem_euclid`.
    /// `-7` by `-2` is 4, and 1 is left.
    ///
    /// # Errors
    /// As for [`Engine::div_rem_floor`].
    pub fn div_rem_euclid<C: Column>(&self, a: &C, b: &C) -> Result<(C, C), Error> {
        C::div_rem_euclid(self, a, b)
    }

    /// Quotients of multiples of their divisors. Looks at the remainders on the host.
    ///
    /// ```
    /// use bigint_host::{Engine, Error, Integers};
    /// let engine = Engine::auto();
    /// let (a, b) = (Integers::from([21, 22]), Integers::from([7, 11]));
    /// assert_eq!(engine.div_exact(&a, &b)?, Integers::from([3, 2]));
    /// let refused = engine.div_exact(&b, &a).unwrap_err();
    /// assert!(matches!(refused, Error::NotDivisible { index: 0 }));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotDivisible`] names the first number that is no multiple of its divisor;
    /// otherwise as [`Engine::div_rem`].
    pub fn div_exact<C: Column>(&self, a: &C, b: &C) -> Result<C, Error> {
        C::div_exact(self, a, b)
    }

    /// [`Engine::div_rem_floor`] of signed batches.
    pub(crate) fn signed_div_rem_floor(
        &self,
        a: &SignedBatch,
        b: &SignedBatch,
    ) -> Result<Divided, Error> {
        Ok((self.div(a, b)?, self.rem(a, b)?))
    }

    /// [`Engine::div_rem_truncated`] of signed batches.
    pub(crate) fn signed_div_rem_truncated(
        &self,
        a: &SignedBatch,
        b: &SignedBatch,
    ) -> Result<Divided, Error> {
        let (quotient, remainder) = self.div_rem(a.magnitude(), b.magnitude())?;
        Ok((
            SignedBatch::of(quotient, self.odd(&[a, b])?),
            SignedBatch::of(remainder, a.signs().cloned()),
        ))
    }

    /// [`Engine::div_rem_euclid`] of signed batches.
    pub(crate) fn signed_div_rem_euclid(
        &self,
        a: &SignedBatch,
        b: &SignedBatch,
    ) -> Result<Divided, Error> {
        let divisor = SignedBatch::natural(b.magnitude().clone());
        let (quotient, remainder) = self.signed_div_rem_floor(a, &divisor)?;
        let signs = self.odd(&[&quotient, b])?;
        Ok((
            SignedBatch::of(quotient.magnitude().clone(), signs),
            remainder,
        ))
    }

    /// [`Engine::div_exact`] of batches.
    pub(crate) fn div_exact_batch(&self, a: &Batch, b: &Batch) -> Result<Batch, Error> {
        let (quotient, remainder) = self.div_rem(a, b)?;
        let (rows, width) = (remainder.rows()?, remainder.width());
        let mut rows = rows.chunks_exact(width);
        match rows.position(|row| row.iter().any(|&limb| limb != 0)) {
            Some(index) => Err(Error::NotDivisible { index }),
            None => Ok(quotient),
        }
    }

    /// [`Engine::div_exact`] of signed batches.
    pub(crate) fn signed_div_exact(
        &self,
        a: &SignedBatch,
        b: &SignedBatch,
    ) -> Result<SignedBatch, Error> {
        let quotient = self.div_exact(a.magnitude(), b.magnitude())?;
        Ok(SignedBatch::of(quotient, self.odd(&[a, b])?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BigInt;

    /// Numbers around zero and limbs' ends, of both signs.
    fn numbers() -> Vec<i128> {
        let magnitudes = [
            0,
            1,
            2,
            3,
            7,
            (1 << 32) - 1,
            1 << 32,
            (1 << 64) + 5,
            1 << 95,
        ];
        magnitudes.iter().flat_map(|&n| [n, -n]).collect()
    }

    #[test]
    fn signs_go_the_three_ways_that_are_asked_for() {
        let engine = Engine::cpu();
        let pairs: Vec<(i128, i128)> = numbers()
            .into_iter()
            .flat_map(|a| numbers().into_iter().map(move |b| (a, b)))
            .filter(|&(_, b)| b != 0)
            .collect();
        let batch = |of: fn(&(i128, i128)) -> i128| {
            let numbers: Vec<BigInt> = pairs.iter().map(|pair| of(pair).into()).collect();
            engine.signed_from_bigints(&numbers).unwrap()
        };
        let (a, b) = (batch(|pair| pair.0), batch(|pair| pair.1));
        let check = |divided: Result<Divided, Error>, meant: fn(i128, i128) -> (i128, i128)| {
            let (quotient, remainder) = divided.unwrap();
            let quotients = quotient.to_bigints().unwrap();
            let found = quotients.into_iter().zip(remainder.to_bigints().unwrap());
            for (found, &(a, b)) in found.zip(&pairs) {
                let (quotient, remainder) = meant(a, b);
                assert_eq!(found, (quotient.into(), remainder.into()), "{a} by {b}");
            }
        };
        check(engine.div_rem_truncated(&a, &b), |a, b| (a / b, a % b));
        check(engine.div_rem_euclid(&a, &b), |a, b| {
            (a.div_euclid(b), a.rem_euclid(b))
        });
        check(engine.div_rem_floor(&a, &b), |a, b| {
            let rest = ((a % b) + b) % b;
            ((a - rest) / b, rest)
        });
    }

    #[test]
    fn exact_quotients_are_of_multiples_alone() {
        let engine = Engine::cpu();
        let signed = |numbers: &[i128]| {
            let numbers: Vec<BigInt> = numbers.iter().map(|&n| n.into()).collect();
            engine.signed_from_bigints(&numbers).unwrap()
        };
        let (a, b) = ([-(7 << 90), 0, 5 << 64, -6], [-7, -3, 1 << 64, 3]);
        let quotients = engine.div_exact(&signed(&a), &signed(&b)).unwrap();
        let expected = [1 << 90, 0, 5, -2].map(|n: i128| BigInt::from(n));
        assert_eq!(quotients.to_bigints().unwrap(), expected);
        let refused = engine.div_exact(&signed(&[6, -7]), &signed(&[3]));
        assert!(matches!(
            refused.unwrap_err(),
            Error::NotDivisible { index: 1 }
        ));
    }

    #[test]
    fn a_zero_divisor_is_named_or_told_by_a_flag() {
        let engine = Engine::cpu();
        let make = |numbers: &[u32]| {
            let numbers: Vec<_> = numbers.iter().map(|&n| n.into()).collect();
            engine.batch_from_biguints(&numbers).unwrap()
        };
        let (a, b) = (make(&[7, 8, 9]), make(&[2, 0, 0]));
        let refused = engine.div(&a, &b).unwrap_err();
        assert!(matches!(refused, Error::ZeroDivisor { index: 1 }));
        let ((q, r), flags) = engine.masked_div_rem(&a, &b).unwrap();
        assert_eq!(flags, [false, true, true]);
        let (q, r) = (q.to_biguints().unwrap(), r.to_biguints().unwrap());
        assert_eq!(q, [3, 0, 0].map(|n: u32| n.into()));
        assert_eq!(r, [1, 0, 0].map(|n: u32| n.into()));
    }
}
