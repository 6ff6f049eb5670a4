//! Columns as collections of numbers: access to one, iteration, equality, and construction.

use crate::common::limbs;
use crate::values::column::Column;
use crate::{Batch, BigInt, BigUint, Engine, Error, Integers, SignedBatch};
use bigint_core::{Layout, Limb, Shape};
use num_bigint::Sign;
use std::borrow::Cow;
use std::ops::Range;

/// Single numbers from which columns are made: machine integers, [`BigInt`], [`BigUint`], and
/// references to them.
///
/// ```
/// use bigint_host::{BigUint, Engine, Integers};
/// let mut integers: Integers = [7u64, 1 << 40].into_iter().collect();
/// integers.extend([BigUint::from(1u32) << 100]);
/// integers.extend([-1]);
/// assert_eq!(integers.to_string(), "[7, 1099511627776, 1267650600228229401496703205376, -1]");
/// assert_eq!(Engine::auto().batch([2, 3])?, Engine::auto().batch([2u8, 3])?);
/// # Ok::<(), bigint_host::Error>(())
/// ```
pub trait Scalar: private::Push {}

impl<N: private::Push> Scalar for N {}

mod private {
    use super::*;

    /// The column to which a number is added.
    pub struct Place<'a>(pub(super) &'a mut Column);

    pub trait Push {
        fn push_to(&self, place: &mut Place<'_>) -> Result<(), Error>;
    }
}

use private::{Place, Push};

macro_rules! machine_integers {
    ($($integer:ident)*) => {$(
        impl Push for $integer {
            #[inline]
            fn push_to(&self, place: &mut Place<'_>) -> Result<(), Error> {
                #[allow(unused_comparisons, reason = "some have no sign")]
                let negative = *self < 0;
                let magnitude = if negative { !(*self as u128) + 1 } else { *self as u128 };
                let limb = |i: u32| (magnitude >> (Limb::BITS * i)) as Limb;
                place.0.push(negative, &[limb(0), limb(1), limb(2), limb(3)])
            }
        }
    )*};
}

machine_integers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }

impl Push for BigUint {
    fn push_to(&self, place: &mut Place<'_>) -> Result<(), Error> {
        push(place.0, false, self)
    }
}

impl Push for BigInt {
    fn push_to(&self, place: &mut Place<'_>) -> Result<(), Error> {
        push(place.0, self.sign() == Sign::Minus, self.magnitude())
    }
}

impl<N: Push> Push for &N {
    fn push_to(&self, place: &mut Place<'_>) -> Result<(), Error> {
        N::push_to(self, place)
    }
}

/// Adds a number, without memory of its own.
fn push(column: &mut Column, negative: bool, number: &BigUint) -> Result<(), Error> {
    let width = 2 * number.iter_u64_digits().len();
    column.make_room(width)?;
    let start = column.limbs.len();
    column.limbs.own().resize(start + width, 0);
    limbs::fill_with(&mut column.limbs[start..], number);
    column.end_number(negative);
    Ok(())
}

impl<N: Scalar> Extend<N> for Integers {
    /// # Panics
    /// If memory ends, as collections do.
    fn extend<T: IntoIterator<Item = N>>(&mut self, numbers: T) {
        let mut place = Place(self.column_mut());
        for number in numbers {
            let pushed = number.push_to(&mut place);
            pushed.unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

impl<N: Scalar> FromIterator<N> for Integers {
    /// # Panics
    /// If memory ends, as collections do.
    fn from_iter<T: IntoIterator<Item = N>>(numbers: T) -> Self {
        let mut integers = Integers::new();
        integers.extend(numbers);
        integers
    }
}

impl<N: Scalar> From<&[N]> for Integers {
    fn from(numbers: &[N]) -> Self {
        numbers.iter().collect()
    }
}

impl<N: Scalar, const COUNT: usize> From<[N; COUNT]> for Integers {
    fn from(numbers: [N; COUNT]) -> Self {
        numbers.into_iter().collect()
    }
}

impl<N: Scalar> From<Vec<N>> for Integers {
    fn from(numbers: Vec<N>) -> Self {
        numbers.into_iter().collect()
    }
}

impl Engine {
    /// Makes a contiguous batch of numbers, as wide as the widest.
    ///
    /// ```
    /// use bigint_host::Engine;
    /// let engine = Engine::auto();
    /// let (a, b) = (engine.batch([3, 4])?, engine.batch([u128::MAX])?);
    /// assert_eq!(engine.add(&a, &b)?.to_string(), "[340282366920938463463374607431768211458, \
    ///     340282366920938463463374607431768211459]");
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BelowZero`] names the first negative number; [`Error::OutOfMemory`];
    /// [`Error::Device`] on a device.
    pub fn batch<N: Scalar>(&self, numbers: impl IntoIterator<Item = N>) -> Result<Batch, Error> {
        self.batch_from_integers(&integers(numbers)?)
    }

    /// Makes a contiguous signed batch of numbers, as wide as the widest.
    ///
    /// # Errors
    /// As for [`Engine::batch`], except for negative numbers.
    pub fn signed_batch<N: Scalar>(
        &self,
        numbers: impl IntoIterator<Item = N>,
    ) -> Result<SignedBatch, Error> {
        self.signed_from_integers(&integers(numbers)?)
    }

    /// Makes a contiguous batch of integers, as wide as the widest.
    ///
    /// # Errors
    /// As for [`Engine::batch`].
    pub fn batch_from_integers(&self, numbers: &Integers) -> Result<Batch, Error> {
        let set = numbers.signs().iter().position(|&signs| signs != 0);
        if let Some(byte) = set {
            let bit = numbers.signs()[byte].trailing_zeros() as usize;
            return Err(Error::BelowZero {
                index: 8 * byte + bit,
            });
        }
        self.magnitudes(numbers)
    }

    /// Makes a contiguous signed batch of integers, as wide as the widest.
    ///
    /// # Errors
    /// As for [`Engine::signed_batch`].
    pub fn signed_from_integers(&self, numbers: &Integers) -> Result<SignedBatch, Error> {
        let negative = (0..numbers.len()).map(|i| numbers.is_negative(i));
        SignedBatch::new(self.magnitudes(numbers)?, &bigint_cpu::collect(negative)?)
    }

    fn magnitudes(&self, numbers: &Integers) -> Result<Batch, Error> {
        let widths = (0..numbers.len()).map(|i| numbers.length(i));
        let width = widths.max().unwrap_or(0).max(1);
        let shape = Shape::new(numbers.len(), width, Layout::Contiguous);
        let limbs = limbs::build(&self.inner.pool, shape, |index, row| {
            let magnitude = numbers.magnitude(index);
            let (used, above) = row.split_at_mut(magnitude.len());
            used.copy_from_slice(magnitude);
            above.fill(0);
        })?;
        self.inner.admit(shape, limbs)
    }
}

/// The numbers as a column.
fn integers<N: Push>(numbers: impl IntoIterator<Item = N>) -> Result<Integers, Error> {
    let mut column = Column::default();
    for number in numbers {
        number.push_to(&mut Place(&mut column))?;
    }
    Ok(column.into())
}

/// An iterator over the numbers of a column, each made when it is needed.
#[derive(Clone, Debug)]
pub struct Numbers<C, N> {
    column: C,
    number: fn(&C, usize) -> N,
    left: Range<usize>,
}

impl<C, N> Iterator for Numbers<C, N> {
    type Item = N;

    fn next(&mut self) -> Option<N> {
        let index = self.left.next()?;
        Some((self.number)(&self.column, index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<N> {
        let index = self.left.nth(n)?;
        Some((self.number)(&self.column, index))
    }
}

impl<C, N> DoubleEndedIterator for Numbers<C, N> {
    fn next_back(&mut self) -> Option<N> {
        let index = self.left.next_back()?;
        Some((self.number)(&self.column, index))
    }
}

impl<C, N> ExactSizeIterator for Numbers<C, N> {}

/// Iteration over columns and over references to them.
macro_rules! iteration {
    ($column:ty, $number:ty, $at:path $(, $panics:literal)?) => {
        impl<'a> IntoIterator for &'a $column {
            type Item = $number;
            type IntoIter = Numbers<&'a $column, $number>;
            $(#[doc = $panics])?
            fn into_iter(self) -> Self::IntoIter {
                let left = 0..self.len();
                Numbers { column: self, number: |column, index| $at(column, index), left }
            }
        }

        impl IntoIterator for $column {
            type Item = $number;
            type IntoIter = Numbers<$column, $number>;
            $(#[doc = $panics])?
            fn into_iter(self) -> Self::IntoIter {
                let left = 0..self.len();
                Numbers { column: self, number: |column, index| $at(column, index), left }
            }
        }
    };
}

iteration! { Integers, BigInt, Integers::at }
iteration! {
    Batch, BigUint, Batch::at,
    "# Panics\nWhere the numbers are on a device that fails: [`Batch::iter`] tells of it."
}
iteration! {
    SignedBatch, BigInt, SignedBatch::at,
    "# Panics\nWhere the numbers are on a device that fails: [`SignedBatch::iter`] tells of it."
}

impl Integers {
    /// The numbers one after another, each made when it is needed.
    pub fn iter(&self) -> Numbers<&Integers, BigInt> {
        self.into_iter()
    }

    fn at(&self, index: usize) -> BigInt {
        self.get(index).expect("indices end with the numbers")
    }
}

impl Batch {
    /// Number `index`, if there is one.
    ///
    /// # Errors
    /// [`Error::Device`] where they are on a device that fails.
    pub fn get(&self, index: usize) -> Result<Option<BigUint>, Error> {
        Ok(self.iter()?.nth(index))
    }

    /// The numbers one after another, each made when it is needed.
    ///
    /// ```
    /// use bigint_host::{BigUint, Engine};
    /// let batch = Engine::default().batch([2, 3])?;
    /// assert_eq!(batch.iter()?.sum::<BigUint>(), BigUint::from(5u32));
    /// assert_eq!(batch.get(1)?, Some(BigUint::from(3u32)));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Batch::get`].
    pub fn iter(&self) -> Result<Numbers<&Batch, BigUint>, Error> {
        self.node().limbs()?;
        Ok(self.into_iter())
    }

    fn at(&self, index: usize) -> BigUint {
        let limbs = self.node().limbs();
        let limbs = limbs.unwrap_or_else(|error| panic!("a batch cannot be read: {error}"));
        limbs::number(limbs, self.shape(), index)
    }

    /// The numbers, in the type that other columns have.
    ///
    /// # Errors
    /// As for [`Batch::to_biguints`].
    pub fn to_bigints(&self) -> Result<Vec<BigInt>, Error> {
        let numbers = self.to_biguints()?.into_iter();
        Ok(bigint_cpu::collect(numbers.map(BigInt::from))?)
    }

    /// The numbers as integers of any lengths.
    ///
    /// # Errors
    /// As for [`Batch::to_biguints`].
    pub fn to_integers(&self) -> Result<Integers, Error> {
        let (rows, width) = (self.rows()?, self.width());
        let number = |i: usize| (&rows[i * width..][..width], false);
        Ok(Column::of_numbers(None, self.len(), width, number)?.into())
    }

    /// The numbers as big-endian bytes, `4 * width()` to each.
    ///
    /// # Errors
    /// As for [`Batch::to_bytes_le`].
    pub fn to_bytes_be(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = self.to_bytes_le()?;
        let number = size_of::<Limb>() * self.width();
        bytes.chunks_exact_mut(number).for_each(<[u8]>::reverse);
        Ok(bytes)
    }

    /// The limbs that are compared.
    fn compared(&self) -> Cow<'_, [Limb]> {
        self.rows()
            .unwrap_or_else(|error| panic!("a batch cannot be compared: {error}"))
    }
}

impl SignedBatch {
    /// Number `index`, if there is one.
    ///
    /// # Errors
    /// [`Error::Device`] where they are on a device that fails.
    pub fn get(&self, index: usize) -> Result<Option<BigInt>, Error> {
        Ok(self.iter()?.nth(index))
    }

    /// The numbers one after another, each made when it is needed.
    ///
    /// # Errors
    /// As for [`SignedBatch::get`].
    pub fn iter(&self) -> Result<Numbers<&SignedBatch, BigInt>, Error> {
        self.magnitude.node().limbs()?;
        if let Some(signs) = &self.signs {
            signs.node().limbs()?;
        }
        Ok(self.into_iter())
    }

    fn at(&self, index: usize) -> BigInt {
        let sign = |signs: &Batch| signs.at(if signs.len() == 1 { 0 } else { index });
        let is_negative = self.signs.as_ref().is_some_and(|signs| sign(signs).bit(0));
        let sign = if is_negative { Sign::Minus } else { Sign::Plus };
        BigInt::from_biguint(sign, self.magnitude.at(index))
    }

    /// The numbers as integers of any lengths.
    ///
    /// # Errors
    /// As for [`SignedBatch::to_bigints`].
    pub fn to_integers(&self) -> Result<Integers, Error> {
        let (rows, width) = (self.magnitude.rows()?, self.magnitude.width());
        let negative = self.negative()?;
        let number = |i: usize| (&rows[i * width..][..width], negative[i]);
        Ok(Column::of_numbers(None, self.len(), width, number)?.into())
    }
}

/// Batches are equal where their numbers are, whatever their widths and layouts.
///
/// # Panics
/// If the numbers are on a device that fails: [`Batch::to_biguints`] returns an error there.
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

/// A batch equals a slice of the same numbers.
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
