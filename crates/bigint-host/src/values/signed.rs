//! Signed numbers: a batch of magnitudes, and a sign for each.

use crate::{Batch, BigInt, Engine, Error};
use bigint_core::{Layout, Limb, Shape};
use bigint_cpu::collect;
use num_bigint::Sign;

/// A batch of signed integers: magnitudes, and which of them are negative.
///
/// Signs are where the magnitudes are: what is computed on a device stays there. The sign of
/// a zero means nothing.
///
/// ```
/// use bigint_host::Engine;
/// let engine = Engine::auto();
/// let a = engine.signed_from_bigints(&[(-7).into(), 7.into()])?;
/// let b = engine.signed_from_bigints(&[5.into()])?;
/// assert_eq!(engine.add(&a, &b)?.to_bigints()?, [(-2).into(), 12.into()]);
/// assert_eq!(engine.mul(&a, &b)?.to_bigints()?, [(-35).into(), 35.into()]);
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone)]
pub struct SignedBatch {
    pub(crate) magnitude: Batch,
    /// One limb for each number, or one for all: 1 where it is negative, otherwise 0. None where no
    /// number is negative.
    pub(crate) signs: Option<Batch>,
}

impl SignedBatch {
    /// Puts signs before magnitudes.
    ///
    /// # Errors
    /// [`Error::CountMismatch`] where there are not as many signs as numbers;
    /// [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub fn new(magnitude: Batch, negative: &[bool]) -> Result<Self, Error> {
        if magnitude.len() != negative.len() {
            return Err(Error::CountMismatch {
                a: magnitude.len(),
                b: negative.len(),
            });
        }
        if !negative.contains(&true) {
            return Ok(SignedBatch::natural(magnitude));
        }
        let shape = Shape::new(negative.len(), 1, Layout::Contiguous);
        let signs = collect(negative.iter().map(|&sign| Limb::from(sign)))?;
        let signs = magnitude.node().engine.admit(shape, signs)?;
        Ok(SignedBatch::of(magnitude, Some(signs)))
    }

    /// Takes the numbers of a batch, of which none is negative.
    pub fn natural(magnitude: Batch) -> Self {
        SignedBatch {
            magnitude,
            signs: None,
        }
    }

    /// Combines magnitudes and signs. Signs on the host of which none is set are left out.
    pub(crate) fn of(magnitude: Batch, signs: Option<Batch>) -> Self {
        let may_be_set = |signs: &Batch| {
            let known = signs.node().host.get();
            known.is_none_or(|limbs| limbs.iter().any(|&limb| limb != 0))
        };
        SignedBatch {
            magnitude,
            signs: signs.filter(may_be_set),
        }
    }

    /// The number of numbers in the batch.
    pub fn len(&self) -> usize {
        self.magnitude.len()
    }

    /// Whether the batch holds no number.
    pub fn is_empty(&self) -> bool {
        self.magnitude.is_empty()
    }

    /// The absolute values.
    pub fn magnitude(&self) -> &Batch {
        &self.magnitude
    }

    pub(crate) fn into_magnitude(self) -> Batch {
        self.magnitude
    }

    /// Whether each number is negative; without meaning for zeros. Waits for the device.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Device`] where they are on a device that fails.
    pub fn negative(&self) -> Result<Vec<bool>, Error> {
        let Some(signs) = &self.signs else {
            return Ok(collect((0..self.len()).map(|_| false))?);
        };
        let rows = signs.rows()?;
        let sign = |i| rows[if rows.len() == 1 { 0 } else { i }] != 0;
        Ok(collect((0..self.len()).map(sign))?)
    }

    /// The numbers.
    ///
    /// # Errors
    /// [`Error::Device`] where they are on a device that fails.
    pub fn to_bigints(&self) -> Result<Vec<BigInt>, Error> {
        let negative = self.negative()?;
        let magnitudes = self.magnitude.to_biguints()?.into_iter();
        let signed = magnitudes.zip(negative).map(|(magnitude, negative)| {
            let sign = if negative { Sign::Minus } else { Sign::Plus };
            BigInt::from_biguint(sign, magnitude)
        });
        Ok(collect(signed)?)
    }

    /// The signs, one limb for each number or for all, if some may be negative.
    pub(crate) fn signs(&self) -> Option<&Batch> {
        self.signs.as_ref()
    }

    /// The index of the first negative number, if there is one. Waits for the device if there are
    /// signs.
    pub(crate) fn first_negative(&self) -> Result<Option<usize>, Error> {
        if self.signs.is_none() {
            return Ok(None);
        }
        let negative = self.negative()?;
        if !negative.contains(&true) {
            return Ok(None);
        }
        let (rows, width) = (self.magnitude.rows()?, self.magnitude.width());
        let mut numbers = rows.chunks_exact(width).zip(negative);
        Ok(numbers.position(|(limbs, sign)| sign && limbs.iter().any(|&limb| limb != 0)))
    }
}

impl Engine {
    /// A contiguous signed batch as wide as its widest number.
    ///
    /// # Errors
    /// [`Error::Device`] on a device.
    pub fn signed_from_bigints(&self, numbers: &[BigInt]) -> Result<SignedBatch, Error> {
        let negative = collect(numbers.iter().map(|n| n.sign() == Sign::Minus))?;
        let magnitude = self.batch_of(numbers.len(), |i| numbers[i].magnitude())?;
        SignedBatch::new(magnitude, &negative)
    }
}
