//! Signed numbers: a batch of magnitudes, and a sign for each.

use crate::{Batch, BigInt, Engine, Error};
use bigint_core::{Layout, Shape};
use num_bigint::Sign;

/// A batch of signed integers: magnitudes, and which of them are negative.
///
/// The sign of a zero means nothing.
///
/// ```
/// use bigint_host::Engine;
/// let engine = Engine::auto();
/// let a = engine.signed_from_bigints(&[(-7).into(), 7.into()])?;
/// let b = engine.signed_from_bigints(&[5.into()])?;
/// assert_eq!(engine.signed_add(&a, &b)?.to_bigints()?, [(-2).into(), 12.into()]);
/// assert_eq!(engine.signed_mul(&a, &b)?.to_bigints()?, [(-35).into(), 35.into()]);
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SignedBatch {
    magnitude: Batch,
    negative: Vec<bool>,
}

impl SignedBatch {
    /// Signs put before magnitudes.
    ///
    /// # Errors
    /// [`Error::CountMismatch`] where there are not as many signs as numbers.
    pub fn new(magnitude: Batch, negative: Vec<bool>) -> Result<Self, Error> {
        if magnitude.len() != negative.len() {
            return Err(Error::CountMismatch {
                a: magnitude.len(),
                b: negative.len(),
            });
        }
        Ok(SignedBatch {
            magnitude,
            negative,
        })
    }

    /// Numbers in the batch.
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

    /// Which numbers are negative; for zeros it means nothing.
    pub fn negative(&self) -> &[bool] {
        &self.negative
    }

    /// The numbers with the other sign.
    #[must_use]
    pub fn negated(mut self) -> Self {
        self.negative.iter_mut().for_each(|sign| *sign = !*sign);
        self
    }

    /// The numbers.
    ///
    /// # Errors
    /// [`Error::Device`] where they are on a device that fails.
    pub fn to_bigints(&self) -> Result<Vec<BigInt>, Error> {
        let magnitudes = self.magnitude.to_biguints()?.into_iter();
        let signed = magnitudes
            .zip(&self.negative)
            .map(|(magnitude, &negative)| {
                let sign = if negative { Sign::Minus } else { Sign::Plus };
                BigInt::from_biguint(sign, magnitude)
            });
        Ok(signed.collect())
    }

    fn sign(&self, index: usize) -> bool {
        self.negative[if self.negative.len() == 1 { 0 } else { index }]
    }
}

impl Engine {
    /// A contiguous signed batch as wide as its widest number.
    ///
    /// # Errors
    /// [`Error::Device`] on a device.
    pub fn signed_from_bigints(&self, numbers: &[BigInt]) -> Result<SignedBatch, Error> {
        let negative = numbers.iter().map(|n| n.sign() == Sign::Minus).collect();
        let magnitude = self.batch_of(numbers.len(), |i| numbers[i].magnitude())?;
        SignedBatch::new(magnitude, negative)
    }

    /// `a * b`, exact.
    ///
    /// # Errors
    /// As [`Engine::mul`].
    pub fn signed_mul(&self, a: &SignedBatch, b: &SignedBatch) -> Result<SignedBatch, Error> {
        let magnitude = self.mul(&a.magnitude, &b.magnitude)?;
        let negative = (0..magnitude.len()).map(|i| a.sign(i) != b.sign(i));
        SignedBatch::new(magnitude, negative.collect())
    }

    /// `a - b`, exact.
    ///
    /// # Errors
    /// As [`Engine::signed_add`].
    pub fn signed_sub(&self, a: &SignedBatch, b: &SignedBatch) -> Result<SignedBatch, Error> {
        self.signed_add(a, &b.clone().negated())
    }

    /// `a + b`, exact.
    ///
    /// Where all pairs have equal signs this is one addition, where none has and
    /// all differences have one sign, one or two subtractions. A mixture is put
    /// together on the host.
    ///
    /// # Errors
    /// As [`Engine::add`].
    pub fn signed_add(&self, a: &SignedBatch, b: &SignedBatch) -> Result<SignedBatch, Error> {
        let (x, y) = (&a.magnitude, &b.magnitude);
        let count = match (x.len(), y.len()) {
            (n, m) if n == m || m == 1 => n,
            (1, m) => m,
            (a, b) => return Err(Error::CountMismatch { a, b }),
        };
        let differ: Vec<bool> = (0..count).map(|i| a.sign(i) != b.sign(i)).collect();
        let signs = |of: &SignedBatch| (0..count).map(|i| of.sign(i)).collect::<Vec<_>>();
        if !differ.contains(&true) {
            return SignedBatch::new(self.add(x, y)?, signs(a));
        }
        let (difference, borrow) = self.overflowing_sub(x, y)?;
        let none_equal = !differ.contains(&false);
        if none_equal && !borrow.contains(&true) {
            return SignedBatch::new(difference, signs(a));
        }
        let reverse = self.wrapping_sub(y, x)?;
        if none_equal && !borrow.contains(&false) {
            return SignedBatch::new(reverse, signs(b));
        }
        let sum = self.add(x, y)?;
        let (sums, differences, reverses) = (sum.rows()?, difference.rows()?, reverse.rows()?);
        let (width, narrow) = (sum.width(), difference.width());
        let shape = Shape::new(count, width, Layout::Contiguous);
        let mut limbs = bigint_cpu::zeroed(shape.limbs())?;
        let mut negative = signs(a);
        for (i, row) in limbs.chunks_mut(width).enumerate() {
            match (differ[i], borrow[i]) {
                (false, _) => row.copy_from_slice(&sums[i * width..][..width]),
                (true, false) => {
                    row[..narrow].copy_from_slice(&differences[i * narrow..][..narrow])
                }
                (true, true) => {
                    row[..narrow].copy_from_slice(&reverses[i * narrow..][..narrow]);
                    negative[i] = b.sign(i);
                }
            }
        }
        let magnitude = self.batch_from_limbs(limbs, shape)?;
        SignedBatch::new(self.to_layout(&magnitude, x.shape().layout)?, negative)
    }
}
