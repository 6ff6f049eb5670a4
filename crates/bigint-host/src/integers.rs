//! Signed integers of any lengths in one place: limbs, offsets, signs.

use crate::{BigInt, BigUint, Error, SignedBatch};
use bigint_core::{LIMB_BITS, Limb};
use num_bigint::Sign;
use std::ops::Range;

/// Bytes of a limb.
const LIMB_BYTES: usize = size_of::<Limb>();

/// Signed integers, each as long as it is.
///
/// The limbs of all magnitudes stand one after another, least significant first; offset `i`
/// is where number `i` begins, in bytes, and bit `i` of the signs says whether it is
/// negative. So the magnitudes are the values and offsets of an Arrow large-binary column,
/// and the signs a bitmap of Arrow's, as they lie. There is one way to write a number: limbs
/// that are zero on top are never stored, zero has none and is not negative.
///
/// ```
/// use bigint_host::{BigInt, Integers};
/// let integers: Integers = [BigInt::from(-7), BigInt::from(0), BigInt::from(1) << 64]
///     .into_iter()
///     .collect();
/// assert_eq!(integers.limbs(), [7, 0, 0, 1]);
/// assert_eq!(integers.offsets(), [0, 4, 4, 16]);
/// assert_eq!(integers.signs(), [0b001]);
/// assert_eq!(integers.get(0), Some(BigInt::from(-7)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integers {
    limbs: Vec<Limb>,
    offsets: Vec<i64>,
    signs: Vec<u8>,
}

impl Default for Integers {
    fn default() -> Self {
        Integers {
            limbs: Vec::new(),
            offsets: vec![0],
            signs: Vec::new(),
        }
    }
}

impl Integers {
    /// No integers.
    pub fn new() -> Self {
        Integers::default()
    }

    /// The integers that stand in `limbs`, which grow no more: room for `count` of them.
    pub(crate) fn within(limbs: Vec<Limb>, count: usize) -> Result<Self, Error> {
        let mut offsets = bigint_cpu::with_capacity(count + 1)?;
        offsets.push(0);
        Ok(Integers {
            limbs,
            offsets,
            signs: bigint_cpu::with_capacity(count.div_ceil(8))?,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The limbs of all magnitudes.
    pub fn limbs(&self) -> &[Limb] {
        &self.limbs
    }

    /// Where each magnitude begins, and the last one ends, in bytes from the first limb's.
    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// Bit `i mod 8` of byte `i div 8` is 1 where number `i` is negative; bits past the last
    /// number are 0.
    pub fn signs(&self) -> &[u8] {
        &self.signs
    }

    fn place(&self, index: usize) -> Range<usize> {
        let limb = |at: usize| self.offsets[at] as usize / LIMB_BYTES;
        limb(index)..limb(index + 1)
    }

    /// The magnitude of number `index`, least significant limb first.
    ///
    /// # Panics
    /// Where there is no such number.
    pub fn magnitude(&self, index: usize) -> &[Limb] {
        &self.limbs[self.place(index)]
    }

    /// Whether number `index` is negative.
    ///
    /// # Panics
    /// Where there is no such number.
    pub fn is_negative(&self, index: usize) -> bool {
        assert!(index < self.len(), "there is no number {index}");
        self.signs[index / 8] >> (index % 8) & 1 == 1
    }

    /// Number `index`, if there is one.
    pub fn get(&self, index: usize) -> Option<BigInt> {
        (index < self.len()).then(|| {
            let sign = match self.is_negative(index) {
                true => Sign::Minus,
                false => Sign::Plus,
            };
            BigInt::from_slice(sign, self.magnitude(index))
        })
    }

    /// The numbers one after another, each made when it is asked for.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = BigInt> + '_ {
        let number = |index| self.get(index).expect("indices end with the numbers");
        (0..self.len()).map(number)
    }

    /// Takes the number of these limbs in, least significant first; zeros on top are left
    /// out.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; nothing has changed then.
    pub fn push(&mut self, negative: bool, magnitude: &[Limb]) -> Result<(), Error> {
        let magnitude = trimmed(magnitude);
        room(&mut self.limbs, magnitude.len())?;
        self.make_room()?;
        self.limbs.extend_from_slice(magnitude);
        self.end_number(negative, magnitude.len());
        Ok(())
    }

    /// Room for one more offset and sign.
    fn make_room(&mut self) -> Result<(), Error> {
        room(&mut self.offsets, 1)?;
        room(&mut self.signs, 1)
    }

    /// The next number is the next `length` limbs.
    pub(crate) fn end_number(&mut self, negative: bool, length: usize) {
        let index = self.len();
        if index.is_multiple_of(8) {
            self.signs.push(0);
        }
        self.signs[index / 8] |= u8::from(negative && length > 0) << (index % 8);
        let end = self.place_of_next() + length;
        self.offsets.push((end * LIMB_BYTES) as i64);
    }

    /// The limb that the next number begins with.
    pub(crate) fn place_of_next(&self) -> usize {
        self.offsets[self.len()] as usize / LIMB_BYTES
    }

    /// The limbs, to be written within.
    pub(crate) fn limbs_mut(&mut self) -> &mut Vec<Limb> {
        &mut self.limbs
    }

    /// Takes numbers of a batch in. Waits for the device.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Device`] where they are on a device that fails.
    ///
    /// # Panics
    /// Where the batch has no such numbers.
    pub fn extend_from(&mut self, batch: &SignedBatch, numbers: Range<usize>) -> Result<(), Error> {
        let (rows, width) = (batch.magnitude().rows()?, batch.magnitude().width());
        let negative = batch.negative()?;
        for i in numbers {
            self.push(negative[i], &rows[i * width..][..width])?;
        }
        Ok(())
    }

    /// Takes the number of these little-endian bytes in.
    ///
    /// # Errors
    /// As [`Integers::push`].
    pub fn push_bytes_le(&mut self, negative: bool, bytes: &[u8]) -> Result<(), Error> {
        let limb = |bytes: &[u8]| {
            let limb = |low: Limb, &byte: &u8| low << 8 | Limb::from(byte);
            bytes.iter().rev().fold(0, limb)
        };
        let magnitude = bigint_cpu::collect(bytes.chunks(LIMB_BYTES).map(limb))?;
        self.push(negative, &magnitude)
    }

    /// The magnitude of number `index` in little-endian bytes, four to each limb.
    ///
    /// # Panics
    /// Where there is no such number.
    pub fn to_bytes_le(&self, index: usize) -> Vec<u8> {
        let limbs = self.magnitude(index).iter();
        limbs.flat_map(|limb| limb.to_le_bytes()).collect()
    }

    /// Takes a number in that is written in decimal digits, `-` before them or not.
    ///
    /// ```
    /// use bigint_host::Integers;
    /// let mut integers = Integers::new();
    /// integers.push_decimal(b"-18446744073709551616")?;
    /// assert_eq!(integers.magnitude(0), [0, 0, 1]);
    /// let mut text = Vec::new();
    /// integers.write_decimal(0, &mut text)?;
    /// assert_eq!(text, b"-18446744073709551616");
    /// assert!(integers.push_decimal(b"").is_err());
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoDigits`] of no digits, [`Error::Cpu`] names the first byte that is none;
    /// [`Error::OutOfMemory`].
    pub fn push_decimal(&mut self, text: &[u8]) -> Result<(), Error> {
        let digits = text.strip_prefix(b"-");
        let (negative, digits) = (digits.is_some(), digits.unwrap_or(text));
        if digits.is_empty() {
            return Err(Error::NoDigits);
        }
        let magnitude = bigint_cpu::radix::parse_decimal(digits)?;
        self.push(negative, &magnitude)
    }

    /// Appends the decimal digits of number `index`, with `-` before those of a negative one.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Panics
    /// Where there is no such number.
    pub fn write_decimal(&self, index: usize, text: &mut Vec<u8>) -> Result<(), Error> {
        if self.is_negative(index) {
            text.push(b'-');
        }
        Ok(bigint_cpu::radix::write_decimal(
            self.magnitude(index),
            text,
        )?)
    }

    /// These numbers.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn from_bigints(numbers: &[BigInt]) -> Result<Self, Error> {
        let signed = numbers.iter();
        of_numbers(signed.map(|n| (n.sign() == Sign::Minus, n.magnitude())))
    }

    /// These numbers.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn from_biguints(numbers: &[BigUint]) -> Result<Self, Error> {
        of_numbers(numbers.iter().map(|n| (false, n)))
    }

    /// The numbers.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_bigints(&self) -> Result<Vec<BigInt>, Error> {
        Ok(bigint_cpu::collect(self.iter())?)
    }
}

/// Numbers and whether they are negative.
fn of_numbers<'a>(
    numbers: impl ExactSizeIterator<Item = (bool, &'a BigUint)> + Clone,
) -> Result<Integers, Error> {
    let length = |n: &BigUint| n.bits().div_ceil(LIMB_BITS as u64) as usize;
    let limbs = numbers.clone().map(|(_, n)| length(n)).sum();
    let mut integers = Integers::within(bigint_cpu::with_capacity(limbs)?, numbers.len())?;
    for (negative, number) in numbers {
        integers.limbs.extend(number.iter_u32_digits());
        integers.end_number(negative, length(number));
    }
    Ok(integers)
}

impl FromIterator<BigInt> for Integers {
    /// # Panics
    /// Where memory ends, as collections do.
    fn from_iter<T: IntoIterator<Item = BigInt>>(numbers: T) -> Self {
        let mut integers = Integers::new();
        for number in numbers {
            let (sign, limbs) = number.to_u32_digits();
            let pushed = integers.push(sign == Sign::Minus, &limbs);
            pushed.unwrap_or_else(|error| panic!("{error}"));
        }
        integers
    }
}

impl FromIterator<BigUint> for Integers {
    /// # Panics
    /// Where memory ends, as collections do.
    fn from_iter<T: IntoIterator<Item = BigUint>>(numbers: T) -> Self {
        numbers.into_iter().map(BigInt::from).collect()
    }
}

/// `magnitude` without the zeros on top.
pub(crate) fn trimmed(magnitude: &[Limb]) -> &[Limb] {
    let top = magnitude.iter().rposition(|&limb| limb != 0);
    &magnitude[..top.map_or(0, |top| top + 1)]
}

/// Room for `more` elements, and for as many again.
fn room<T>(vector: &mut Vec<T>, more: usize) -> Result<(), Error> {
    let bytes = more.saturating_mul(size_of::<T>());
    let reserved = vector.try_reserve(more);
    reserved.map_err(|_| Error::OutOfMemory { bytes })
}
