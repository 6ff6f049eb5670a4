//! A batch as a collection of numbers: one of them, all in turn, equality, conversions.

use crate::common::limbs;
use crate::{Batch, BigInt, BigUint, Error, SignedBatch};
use bigint_core::Limb;

impl Batch {
    /// Number `index`, if there is one.
    ///
    /// # Errors
    /// [`Error::Device`] where they are on a device that fails.
    pub fn get(&self, index: usize) -> Result<Option<BigUint>, Error> {
        Ok(self.iter()?.nth(index))
    }

    /// The numbers one after another, each made when it is asked for.
    ///
    /// ```
    /// use bigint_host::{BigUint, Engine};
    /// let engine = Engine::default();
    /// let batch = engine.batch_from_biguints(&[2u32.into(), 3u32.into()])?;
    /// assert_eq!(batch.iter()?.sum::<BigUint>(), BigUint::from(5u32));
    /// assert_eq!(batch.get(1)?, Some(BigUint::from(3u32)));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Batch::get`].
    pub fn iter(&self) -> Result<impl ExactSizeIterator<Item = BigUint> + '_, Error> {
        let (limbs, shape) = (self.node().limbs()?, self.shape());
        Ok((0..shape.count).map(move |i| limbs::number(limbs, shape, i)))
    }

    /// The numbers as big-endian bytes, `4 * width()` to each.
    ///
    /// # Errors
    /// As [`Batch::to_bytes_le`].
    pub fn to_bytes_be(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = self.to_bytes_le()?;
        let number = size_of::<Limb>() * self.width();
        bytes.chunks_exact_mut(number).for_each(<[u8]>::reverse);
        Ok(bytes)
    }

    /// The limbs, for a comparison.
    fn compared(&self) -> std::borrow::Cow<'_, [Limb]> {
        self.rows()
            .unwrap_or_else(|error| panic!("a batch cannot be compared: {error}"))
    }
}

/// Batches are equal where their numbers are, whatever their widths and layouts.
///
/// # Panics
/// Where the numbers are on a device that fails: compare what [`Batch::to_biguints`]
/// answers to be told of it.
impl PartialEq for Batch {
    fn eq(&self, other: &Batch) -> bool {
        if self.len() != other.len() {
            return false;
        }
        let (a, b) = (self.compared(), other.compared());
        let mut pairs = a
            .chunks_exact(self.width())
            .zip(b.chunks_exact(other.width()));
        pairs.all(|(a, b)| {
            let both = a.len().min(b.len());
            let above = a[both..].iter().chain(&b[both..]);
            a[..both] == b[..both] && above.copied().all(|limb| limb == 0)
        })
    }
}

impl Eq for Batch {}

/// As batches are compared.
impl PartialEq<[BigUint]> for Batch {
    fn eq(&self, other: &[BigUint]) -> bool {
        let rows = self.compared();
        let mut pairs = rows.chunks_exact(self.width()).zip(other);
        self.len() == other.len() && pairs.all(|(row, number)| &BigUint::from_slice(row) == number)
    }
}

impl<const N: usize> PartialEq<[BigUint; N]> for Batch {
    fn eq(&self, other: &[BigUint; N]) -> bool {
        *self == other[..]
    }
}

impl PartialEq<Vec<BigUint>> for Batch {
    fn eq(&self, other: &Vec<BigUint>) -> bool {
        *self == other[..]
    }
}

impl TryFrom<&Batch> for Vec<BigUint> {
    type Error = Error;

    /// [`Batch::to_biguints`].
    fn try_from(batch: &Batch) -> Result<Self, Error> {
        batch.to_biguints()
    }
}

impl TryFrom<&SignedBatch> for Vec<BigInt> {
    type Error = Error;

    /// [`SignedBatch::to_bigints`].
    fn try_from(batch: &SignedBatch) -> Result<Self, Error> {
        batch.to_bigints()
    }
}
