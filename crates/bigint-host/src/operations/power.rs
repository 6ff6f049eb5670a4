//! Powers of integers, exact: one exponent for all numbers, or one for each.

use crate::operations::column::Column;
use crate::operations::forms::Form;
use crate::{Batch, BigUint, Engine, Error, SignedBatch};
use bigint_core::{LIMB_BITS, Layout, MAX_WIDTH, Operation, Shape};

impl Engine {
    /// `a^e`, as wide as the longest power; `0^0` is 1.
    ///
    /// Exponents and the lengths of the bases are looked at on the host. Cost: for each bit of
    /// the greatest exponent a square, and a product where some exponent has the bit.
    ///
    /// ```
    /// use bigint_host::{BigUint, Engine};
    /// let engine = Engine::auto();
    /// let a = engine.batch_from_biguints(&[3u32.into(), 10u32.into()])?;
    /// let e = engine.batch_from_biguints(&[0u32.into(), 30u32.into()])?;
    /// let powers = engine.pow(&a, &e)?.to_biguints()?;
    /// assert_eq!(powers, [BigUint::from(1u32), BigUint::from(10u32).pow(30)]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Width`] where a power is longer than numbers may be; [`Error::NegativeExponent`]
    /// names the first exponent below zero; otherwise as [`Engine::mul`].
    pub fn pow<C: Column>(&self, a: &C, e: &C) -> Result<C, Error> {
        C::pow(self, a, e)
    }

    /// [`Engine::pow`] of batches.
    pub(crate) fn pow_batch(&self, a: &Batch, e: &Batch) -> Result<Batch, Error> {
        let count = match (a.len(), e.len()) {
            (a, b) if a == b || b == 1 => a,
            (1, b) => b,
            (a, b) => return Err(Error::CountMismatch { a, b }),
        };
        let exponents = e.to_biguints()?;
        let lengths: Vec<u64> = a.iter()?.map(|base| base.bits()).collect();
        let of = |i: usize, of: usize| if of == 1 { 0 } else { i };
        let mut pairs: Vec<_> = (0..count)
            .map(|i| (lengths[of(i, a.len())], &exponents[of(i, e.len())]))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        // Limbs of the longest power by what exponents are without their `k` lowest bits.
        let width = |k: u64| {
            let bits = |&(length, exponent): &(u64, &BigUint)| match length {
                0 | 1 => 1,
                _ => u64::try_from(exponent >> k).map_or(u64::MAX, |e| length.saturating_mul(e)),
            };
            let bits = pairs.iter().map(bits).max().unwrap_or(1).max(1);
            usize::try_from(bits.div_ceil(LIMB_BITS as u64)).unwrap_or(usize::MAX)
        };
        let longest = width(0);
        if longest > MAX_WIDTH {
            return Err(Error::Width { width: longest });
        }
        let one = self.mask(&[true])?;
        let mut power: Option<Batch> = None;
        let bits = exponents.iter().map(BigUint::bits).max().unwrap_or(0);
        for k in (0..bits).rev() {
            let form = Form::Modulo(width(k));
            if let Some(root) = &power {
                power = Some(self.first_of(Operation::Square, form, &[root])?);
            }
            let have_bit: Vec<bool> = exponents.iter().map(|e| e.bit(k)).collect();
            if !have_bit.contains(&true) {
                continue;
            }
            let product = match &power {
                Some(power) => self.first_of(Operation::Mul, form, &[power, a])?,
                None => a.clone(),
            };
            power = Some(match have_bit.contains(&false) {
                true => {
                    let other = power.as_ref().unwrap_or(&one);
                    self.select(&product, other, &self.mask(&have_bit)?)?
                }
                false => product,
            });
        }
        match power {
            Some(power) if power.len() == count => Ok(power),
            // One power for all.
            Some(power) => self.gather(&power, &vec![0; count]),
            None => self.batch_from_limbs(vec![1; count], Shape::new(count, 1, Layout::Contiguous)),
        }
    }

    /// [`Engine::pow`] of signed numbers.
    pub(crate) fn signed_pow(
        &self,
        a: &SignedBatch,
        e: &SignedBatch,
    ) -> Result<SignedBatch, Error> {
        if let Some(index) = e.first_negative()? {
            return Err(Error::NegativeExponent { index });
        }
        let magnitude = self.pow(a.magnitude(), e.magnitude())?;
        // Odd powers have the base's sign.
        let signs = a.signs().map(|signs| {
            let odd = &[e.magnitude(), signs];
            self.first_of(Operation::And, Form::Modulo(1), odd)
        });
        Ok(SignedBatch::of(magnitude, signs.transpose()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BigInt;

    #[test]
    fn powers_of_signed_numbers_are_those_of_num_bigint() {
        let engine = Engine::cpu();
        let bases = [0, 1, -1, 2, -2, 7, -3, i64::MAX, i64::MIN];
        let exponents = [0u32, 1, 2, 3, 5, 16, 31, 64, 100];
        let pairs: Vec<_> = bases
            .iter()
            .flat_map(|&a| exponents.iter().map(move |&e| (BigInt::from(a), e)))
            .collect();
        let a: Vec<_> = pairs.iter().map(|(a, _)| a.clone()).collect();
        let e: Vec<_> = pairs.iter().map(|&(_, e)| BigInt::from(e)).collect();
        let signed = |numbers: &[BigInt]| engine.signed_from_bigints(numbers).unwrap();
        let found = engine.signed_pow(&signed(&a), &signed(&e)).unwrap();
        let expected: Vec<_> = pairs.iter().map(|(a, e)| a.pow(*e)).collect();
        assert_eq!(found.to_bigints().unwrap(), expected);
        // One exponent for all, and one base for all.
        for exponent in exponents {
            let e = signed(&[exponent.into()]);
            let found = engine.signed_pow(&signed(&a), &e).unwrap();
            let expected: Vec<_> = a.iter().map(|a| a.pow(exponent)).collect();
            assert_eq!(found.to_bigints().unwrap(), expected);
        }
        let base = signed(&[BigInt::from(-7)]);
        let found = engine.signed_pow(&base, &signed(&e)).unwrap();
        let expected: Vec<_> = pairs
            .iter()
            .map(|&(_, e)| BigInt::from(-7).pow(e))
            .collect();
        assert_eq!(found.to_bigints().unwrap(), expected);
        let same = signed(&vec![BigInt::from(5); 4]);
        let found = engine.signed_pow(&base, &same).unwrap();
        assert_eq!(found.to_bigints().unwrap(), vec![BigInt::from(-16807); 4]);
    }

    #[test]
    fn powers_that_no_width_holds_are_refused_and_those_of_one_are_not() {
        let engine = Engine::cpu();
        let batch = |numbers: &[u64]| {
            let numbers: Vec<_> = numbers.iter().map(|&n| n.into()).collect();
            engine.batch_from_biguints(&numbers).unwrap()
        };
        let long = batch(&[1 << 60]);
        let refused = engine.pow(&batch(&[1, 3]), &long).unwrap_err();
        assert!(matches!(refused, Error::Width { .. }), "{refused}");
        let kept = engine.pow(&batch(&[1, 0]), &long).unwrap();
        assert_eq!(kept.to_biguints().unwrap(), [1u32, 0].map(BigUint::from));
        let signed = |n: i32| engine.signed_from_bigints(&[n.into()]).unwrap();
        let refused = engine.signed_pow(&signed(2), &signed(-1)).unwrap_err();
        assert!(matches!(refused, Error::NegativeExponent { index: 0 }));
    }
}
