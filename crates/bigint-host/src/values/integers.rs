//! Signed integers of any lengths in one place: limbs, offsets, signs.

use crate::common::limbs;
use crate::common::pool::Pool;
use crate::values::column::{Column, Packer, SIGNS_OF_BYTE, each_group, trimmed};
use crate::values::foreign::Limbs;
use crate::values::number::{BadNumber, Number, Unread};
use crate::{BigInt, BigUint, Error, SignedBatch};
use bigint_core::{LIMB_BITS, Limb};
use bigint_cpu::radix::{self, Decimals};
use num_bigint::Sign;
use std::mem::take;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes in a limb.
const LIMB_BYTES: usize = size_of::<Limb>();

/// Numbers of others that a thread looks at before it takes more.
const LOOKED_AT: usize = 1 << 14;

/// Signed integers, each as long as it is.
///
/// The limbs of all magnitudes stand one after another, least significant first; offset `i`
/// is where number `i` begins, in bytes, and bit `i` of the signs says whether it is
/// negative. So the magnitudes are the values and offsets of an Arrow large-binary column,
/// and the signs a bitmap of Arrow's, as they lie. There is one way to write a number: limbs
/// that are zero on top are never stored, zero has none and is not negative.
///
/// Cloning is free: clones share their numbers until one of them is added to. Operators on
/// references build expressions, which [`Engine::eval`](crate::Engine::eval) computes.
///
/// ```
/// use bigint_host::{BigInt, Engine, Integers};
/// let a = Integers::from_texts(["-7", "0", "0x10000000000000000"])?;
/// assert_eq!(a.limbs(), [7, 0, 0, 1]);
/// assert_eq!(a.offsets(), [0, 4, 4, 16]);
/// assert_eq!(a.signs(), [0b001]);
/// assert_eq!(a.get(0), Some(BigInt::from(-7)));
/// let found = Engine::auto().eval(&(&a * &a + &a - 2))?;
/// assert_eq!(found.decimals().take(2).collect::<Vec<_>>(), ["40", "-2"]);
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Integers {
    column: Arc<Column>,
}

impl From<Column> for Integers {
    fn from(column: Column) -> Self {
        Integers {
            column: Arc::new(column),
        }
    }
}

impl Integers {
    /// A column without integers.
    pub fn new() -> Self {
        Integers::default()
    }

    /// A column without integers, with room for `count` numbers of `limbs` limbs together.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn with_capacity(count: usize, limbs: usize) -> Result<Self, Error> {
        Ok(Column::with_capacity(count, limbs)?.into())
    }

    /// The parts of the column, which no other clone shares after this.
    pub(crate) fn column_mut(&mut self) -> &mut Column {
        Arc::make_mut(&mut self.column)
    }

    /// The parts of the column.
    pub(crate) fn column(&self) -> &Column {
        &self.column
    }

    /// The identity of the numbers, which clones share.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.column) as usize
    }

    /// The number of integers.
    pub fn len(&self) -> usize {
        self.column.len()
    }

    /// Whether there are no integers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The limbs of all magnitudes.
    pub fn limbs(&self) -> &[Limb] {
        &self.column.limbs
    }

    /// Where each magnitude begins, and the last one ends, in bytes from the first limb's.
    pub fn offsets(&self) -> &[i64] {
        &self.column.offsets
    }

    /// Bit `i mod 8` of byte `i div 8` is 1 where number `i` is negative; bits past the last
    /// number are 0.
    pub fn signs(&self) -> &[u8] {
        &self.column.signs
    }

    /// [`limbs`](Self::limbs), [`offsets`](Self::offsets) and [`signs`](Self::signs); not
    /// copied where there is no clone.
    pub fn into_parts(self) -> (Vec<Limb>, Vec<i64>, Vec<u8>) {
        let mut column = Arc::unwrap_or_clone(self.column);
        let column = &mut column;
        (
            take(column.limbs.own()),
            take(&mut column.offsets),
            take(&mut column.signs),
        )
    }

    /// Makes integers of such parts, without a copy.
    ///
    /// ```
    /// use bigint_host::{Error, Integers};
    /// let integers = Integers::from_parts(vec![7, 0, 1], vec![0, 4, 12], vec![0b01])?;
    /// assert_eq!(integers.decimals().collect::<Vec<_>>(), ["-7", "4294967296"]);
    /// let zero_on_top = Integers::from_parts(vec![7, 0], vec![0, 8], vec![0]);
    /// assert!(matches!(zero_on_top, Err(Error::NotWrittenSo { index: 0 })));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotWrittenSo`] names the first number that is not written in the one way
    /// there is; [`Error::Length`] where the parts do not go together.
    pub fn from_parts(limbs: Vec<Limb>, offsets: Vec<i64>, signs: Vec<u8>) -> Result<Self, Error> {
        Ok(Integers::checked(limbs.into(), offsets, signs)?.into())
    }

    /// [`from_parts`](Self::from_parts) of limbs that stay where they are, in the memory of somebody
    /// else, for as long as the integers or a clone of them live: they are copied only when a number
    /// is added. They must not change.
    ///
    /// ```
    /// use bigint_host::Integers;
    /// use std::sync::Arc;
    /// let limbs: Arc<[u32]> = Arc::new([7, 0, 0, 1]);
    /// let lent = Integers::from_foreign(Arc::clone(&limbs), vec![0, 4, 16], vec![0b01])?;
    /// assert_eq!(lent.limbs().as_ptr(), limbs.as_ptr());
    /// assert_eq!(lent, Integers::from_texts(["-7", "0x10000000000000000"])?);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`from_parts`](Self::from_parts).
    pub fn from_foreign(
        limbs: impl AsRef<[Limb]> + Send + Sync + 'static,
        offsets: Vec<i64>,
        signs: Vec<u8>,
    ) -> Result<Self, Error> {
        Ok(Integers::checked(Limbs::Foreign(Arc::new(limbs)), offsets, signs)?.into())
    }

    /// A column of these parts, if they are written in the one way there is.
    pub(crate) fn checked(
        limbs: Limbs,
        offsets: Vec<i64>,
        signs: Vec<u8>,
    ) -> Result<Column, Error> {
        let all = &limbs[..];
        let of_length = |expected, found, unit| match expected == found {
            true => Ok(()),
            false => Err(Error::Length {
                expected,
                found,
                unit,
            }),
        };
        let count = offsets.len().saturating_sub(1);
        of_length(count + 1, offsets.len(), "offsets")?;
        of_length(count.div_ceil(8), signs.len(), "bytes of signs")?;
        let end = all.len() * LIMB_BYTES;
        if offsets[0] != 0 {
            return Err(Error::NotWrittenSo { index: 0 });
        }
        let is_wrong = |index: usize| {
            let (from, to) = (offsets[index], offsets[index + 1]);
            let is_within = from % 4 == 0 && to % 4 == 0 && 0 <= from && from <= to;
            let top = to as usize / LIMB_BYTES;
            let negative = signs[index / 8] >> (index % 8) & 1 == 1;
            let is_trimmed = match from == to {
                true => !negative,
                false => all.get(top.wrapping_sub(1)).is_some_and(|&top| top != 0),
            };
            !(is_within && is_trimmed && to as usize <= end)
        };
        // Every number is looked at where it ends: memory is waited for, by all cores.
        let wrong = AtomicUsize::new(count);
        let parts = (0..count).step_by(LOOKED_AT);
        bigint_cpu::share(parts, count.div_ceil(LOOKED_AT), |start| {
            let mut part = start..count.min(start + LOOKED_AT);
            if let Some(index) = part.find(|&index| is_wrong(index)) {
                wrong.fetch_min(index, Ordering::Relaxed);
            }
        });
        let index = wrong.into_inner();
        if index < count {
            return Err(Error::NotWrittenSo { index });
        }
        of_length(offsets[count] as usize, end, "bytes of limbs")?;
        if !count.is_multiple_of(8) && signs[count / 8] >> (count % 8) != 0 {
            return Err(Error::NotWrittenSo { index: count });
        }
        Ok(Column::of_parts(limbs, offsets, signs))
    }

    /// Makes `count` integers of about `limbs` limbs each: `length` gives the length and the sign
    /// of each, and `fill` writes the limbs, without zeros on top. Several threads share the work
    /// where that is worth it.
    ///
    /// ```
    /// use bigint_host::{Error, Integers};
    /// let odd = Integers::from_fn(3, 1, |i| (1, i == 2), |i, limbs| limbs[0] = 2 * i as u32 + 1)?;
    /// assert_eq!(odd.decimals().collect::<Vec<_>>(), ["1", "3", "-5"]);
    /// let zeros = Integers::from_fn(3, 1, |_| (1, false), |_, _| ());
    /// assert!(matches!(zeros, Err(Error::NotWrittenSo { index: 0 })));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotWrittenSo`] names the first number with a zero on top; [`Error::OutOfMemory`].
    pub fn from_fn(
        count: usize,
        limbs: usize,
        length: impl Fn(usize) -> (usize, bool) + Sync,
        fill: impl Fn(usize, &mut [Limb]) + Sync,
    ) -> Result<Self, Error> {
        Integers::from_fn_in(None, count, limbs, length, fill)
    }

    /// [`from_fn`](Self::from_fn), in memory of a pool, if there is one.
    pub(crate) fn from_fn_in(
        pool: Option<&Arc<Pool>>,
        count: usize,
        limbs: usize,
        length: impl Fn(usize) -> (usize, bool) + Sync,
        fill: impl Fn(usize, &mut [Limb]) + Sync,
    ) -> Result<Self, Error> {
        let wrong = AtomicUsize::new(count);
        let column = Column::filled(pool, count, limbs, length, |i, place| {
            fill(i, place);
            if place.last() == Some(&0) {
                wrong.fetch_min(i, Ordering::Relaxed);
            }
        })?;
        match wrong.into_inner() {
            index if index < count => Err(Error::NotWrittenSo { index }),
            _ => Ok(column.into()),
        }
    }

    /// The magnitude of number `index`, least significant limb first.
    ///
    /// # Panics
    /// If there is no such number.
    pub fn magnitude(&self, index: usize) -> &[Limb] {
        self.column.magnitude(index)
    }

    /// The limbs of number `index`.
    pub(crate) fn length(&self, index: usize) -> usize {
        let offsets = self.offsets();
        (offsets[index + 1] - offsets[index]) as usize / LIMB_BYTES
    }

    /// Whether number `index` is negative.
    ///
    /// # Panics
    /// If there is no such number.
    pub fn is_negative(&self, index: usize) -> bool {
        assert!(index < self.len(), "there is no number {index}");
        self.column.is_negative(index)
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

    /// The numbers of these indices, in this order; an index may be repeated.
    ///
    /// ```
    /// use bigint_host::Integers;
    /// let a = Integers::from_texts(["-7", "0", "0x10000000000000000"])?;
    /// assert_eq!(a.gather(&[2, 0, 0])?.limbs(), [0, 0, 1, 7, 7]);
    /// assert_eq!(Integers::concatenate(&[&a.slice(1..3)?, &a.slice(0..1)?])?.signs(), [0b100]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`] names the first index past the end; [`Error::OutOfMemory`].
    pub fn gather(&self, indices: &[usize]) -> Result<Self, Error> {
        let count = self.len();
        if let Some(&index) = indices.iter().find(|&&index| index >= count) {
            return Err(Error::NoSuchNumber { index, count });
        }
        let mean = self.limbs().len() / count.max(1);
        let number = |i: usize| {
            let index = indices[i];
            (self.magnitude(index), self.is_negative(index))
        };
        Ok(Column::of_numbers(None, indices.len(), mean, number)?.into())
    }

    /// The numbers of a range of indices.
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`] where the range ends past the end, or before its start;
    /// [`Error::OutOfMemory`].
    pub fn slice(&self, range: Range<usize>) -> Result<Self, Error> {
        let (index, count) = (range.start.max(range.end), self.len());
        if range.end > count || range.start > range.end {
            return Err(Error::NoSuchNumber { index, count });
        }
        Ok(self.column.slice(range)?.into())
    }

    /// The numbers of all columns, one column after another.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn concatenate(columns: &[&Integers]) -> Result<Self, Error> {
        // One alone is not copied.
        if let [alone] = columns {
            return Ok((*alone).clone());
        }
        let columns: Vec<&Column> = columns.iter().map(|column| column.column()).collect();
        Ok(Column::joined(&columns)?.into())
    }

    /// Appends the number of these limbs, least significant first; zeros on top are left out.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; nothing has changed then.
    pub fn push(&mut self, negative: bool, magnitude: &[Limb]) -> Result<(), Error> {
        self.column_mut().push(negative, magnitude)
    }

    /// Appends numbers of a batch. Waits for the device.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Device`] where they are on a device that fails.
    ///
    /// # Panics
    /// If the batch has no such numbers.
    pub fn extend_from(&mut self, batch: &SignedBatch, numbers: Range<usize>) -> Result<(), Error> {
        let (rows, width) = (batch.magnitude().rows()?, batch.magnitude().width());
        let negative = batch.negative()?;
        let column = self.column_mut();
        for i in numbers {
            column.push(negative[i], &rows[i * width..][..width])?;
        }
        Ok(())
    }

    /// Appends the number of these little-endian bytes.
    ///
    /// # Errors
    /// As for [`Integers::push`].
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
    /// If there is no such number.
    pub fn to_bytes_le(&self, index: usize) -> Vec<u8> {
        let limbs = self.magnitude(index).iter();
        limbs.flat_map(|limb| limb.to_le_bytes()).collect()
    }

    /// Appends a number from text, as the `bigint` command reads it: decimal digits, or
    /// hexadecimal, octal or binary ones after `0x`, `0o` or `0b`; a `-` or `+` may stand in front,
    /// and `_` between two digits.
    ///
    /// ```
    /// use bigint_host::{Error, Integers};
    /// let mut integers = Integers::new();
    /// integers.push_text(b"-18446744073709551616")?;
    /// integers.push_text(b"+0xF_f")?;
    /// assert_eq!(integers.limbs(), [0, 0, 1, 255]);
    /// let error = integers.push_text(b"12z").unwrap_err();
    /// assert!(matches!(error, Error::NotADigit { index: 2, position: 2 }));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotADigit`] names the first byte that is none, or the end where there is no
    /// digit, and the number's place; [`Error::OutOfMemory`]. Nothing has changed then.
    pub fn push_text(&mut self, text: &[u8]) -> Result<(), Error> {
        self.push_text_by(text, &mut Decimals::default())
    }

    pub(crate) fn push_text_by(
        &mut self,
        text: &[u8],
        decimals: &mut Decimals,
    ) -> Result<(), Error> {
        let index = self.len();
        let bad = |bad: BadNumber| Error::NotADigit {
            index,
            position: bad.offset,
        };
        let number = Number::scan(text).map_err(bad)?;
        let column = self.column_mut();
        let start = column.limbs.len();
        column.make_room(number.width())?;
        column.limbs.own().resize(start + number.width(), 0);
        if let Err(unread) = number.write(&mut column.limbs[start..], decimals) {
            column.limbs.own().truncate(start);
            return Err(match unread {
                Unread::Bad(none) => bad(none),
                Unread::Memory(error) => error,
            });
        }
        column.end_number(number.negative);
        Ok(())
    }

    /// Makes `count` integers: `width` gives an upper bound of the length of each; `write` writes
    /// all those limbs, zeros on top included, and answers whether the number is negative.
    ///
    /// # Errors
    /// Those of `write`, and [`Error::OutOfMemory`].
    pub fn try_from_fn<E: From<Error>>(
        count: usize,
        width: impl Fn(usize) -> usize,
        mut write: impl FnMut(usize, &mut [Limb]) -> Result<bool, E>,
    ) -> Result<Self, E> {
        let mut column = Column::with_capacity(count, 0)?;
        let limbs = (0..count).map(&width).sum();
        column.limbs = bigint_cpu::zeroed(limbs).map_err(Error::from)?.into();
        let mut end = 0;
        for index in 0..count {
            let place = &mut column.limbs[end..end + width(index)];
            let negative = write(index, place)?;
            let length = trimmed(place).len();
            end += length;
            column.end_at(end, negative && length > 0);
        }
        column.limbs.own().truncate(end);
        Ok(column.into())
    }

    /// Makes integers of texts, each as [`Integers::push_text`] reads it.
    ///
    /// # Errors
    /// As for [`Integers::push_text`].
    pub fn from_texts<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> Result<Self, Error> {
        let (mut integers, mut decimals) = (Integers::new(), Decimals::default());
        for text in texts {
            integers.push_text_by(text.as_ref(), &mut decimals)?;
        }
        Ok(integers)
    }

    /// Appends the decimal digits of number `index`, with `-` before those of a negative one.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Panics
    /// If there is no such number.
    pub fn write_decimal(&self, index: usize, text: &mut Vec<u8>) -> Result<(), Error> {
        self.write_decimal_by(index, text, &mut Decimals::default())
    }

    fn write_decimal_by(
        &self,
        index: usize,
        text: &mut Vec<u8>,
        decimals: &mut Decimals,
    ) -> Result<(), Error> {
        if self.is_negative(index) {
            text.try_reserve(1)
                .map_err(|_| Error::OutOfMemory { bytes: 1 })?;
            text.push(b'-');
        }
        Ok(decimals.write(self.magnitude(index), text)?)
    }

    /// Appends `0x` and the hexadecimal digits of number `index`, with `-` before those of a
    /// negative one.
    ///
    /// # Panics
    /// If there is no such number, or if memory ends.
    pub fn write_hexadecimal(&self, index: usize, text: &mut Vec<u8>) {
        if self.is_negative(index) {
            text.push(b'-');
        }
        radix::hex::write(self.magnitude(index), text);
    }

    /// Each number in decimal digits, as [`Integers::write_decimal`] writes it.
    ///
    /// # Panics
    /// If memory ends, as collections do.
    pub fn decimals(&self) -> impl ExactSizeIterator<Item = String> + '_ {
        let mut decimals = Decimals::default();
        self.texts(move |index, text| {
            let written = self.write_decimal_by(index, text, &mut decimals);
            written.unwrap_or_else(|error| panic!("{error}"));
        })
    }

    /// Each number in hexadecimal digits, as [`Integers::write_hexadecimal`] writes it.
    ///
    /// # Panics
    /// If memory ends, as collections do.
    pub fn hexadecimals(&self) -> impl ExactSizeIterator<Item = String> + '_ {
        self.texts(|index, text| self.write_hexadecimal(index, text))
    }

    fn texts(
        &self,
        mut write: impl FnMut(usize, &mut Vec<u8>),
    ) -> impl ExactSizeIterator<Item = String> {
        (0..self.len()).map(move |index| {
            let mut text = Vec::new();
            write(index, &mut text);
            String::from_utf8(text).expect("digits are characters")
        })
    }

    /// Makes integers of these numbers.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn from_bigints(numbers: &[BigInt]) -> Result<Self, Error> {
        of_numbers(numbers.len(), |i| {
            let number = &numbers[i];
            (number.sign() == Sign::Minus, number.magnitude())
        })
    }

    /// Makes integers of these numbers.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn from_biguints(numbers: &[BigUint]) -> Result<Self, Error> {
        of_numbers(numbers.len(), |i| (false, &numbers[i]))
    }

    /// The numbers.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_bigints(&self) -> Result<Vec<BigInt>, Error> {
        let mut numbers = bigint_cpu::with_capacity(self.len())?;
        let bytes = size_of_val(self.limbs());
        limbs::leave_for_numbers(self.len(), bytes)?;
        numbers.resize(self.len(), BigInt::ZERO);
        let mean = self.limbs().len() / self.len().max(1);
        limbs::each_part(&mut numbers, mean, SIGNS_OF_BYTE, |first, part| {
            let ends = &self.offsets()[first..];
            let mut start = ends[0] as usize / LIMB_BYTES;
            let groups = part.chunks_mut(SIGNS_OF_BYTE);
            let groups = groups.zip(ends[1..].chunks(SIGNS_OF_BYTE));
            let signs = &self.signs()[first / SIGNS_OF_BYTE..];
            for ((numbers, ends), &signs) in groups.zip(signs) {
                for (at, (number, &end)) in numbers.iter_mut().zip(ends).enumerate() {
                    let end = end as usize / LIMB_BYTES;
                    assign(number, signs >> at & 1 == 1, &self.limbs()[start..end]);
                    start = end;
                }
            }
        });
        Ok(numbers)
    }
}

/// Sets `number` to a magnitude and a sign.
#[inline(always)]
fn assign(number: &mut BigInt, negative: bool, magnitude: &[Limb]) {
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    let word = |[low, high]: [Limb; 2]| u64::from(high) << LIMB_BITS | u64::from(low);
    let wide = |low, high| u128::from(word(high)) << 64 | u128::from(word(low));
    // Numbers of a word or two are made without a loop, and those of one in no memory of their own.
    let magnitude = match *magnitude {
        [] => BigUint::ZERO,
        [x] => x.into(),
        [x, y] => word([x, y]).into(),
        [x, y, z] => wide([x, y], [z, 0]).into(),
        [x, y, z, w] => wide([x, y], [z, w]).into(),
        _ => return number.assign_from_slice(sign, magnitude),
    };
    *number = BigInt::from_biguint(sign, magnitude);
}

/// Numbers and their signs.
fn of_numbers<'a>(
    count: usize,
    number: impl Fn(usize) -> (bool, &'a BigUint) + Sync,
) -> Result<Integers, Error> {
    let mean = match count {
        0 => 0,
        count => 2 * number(count / 2).1.iter_u64_digits().len(),
    };
    let columns = Column::gathered(count, 2 * mean, |rows| {
        let words = rows.clone().map(|i| number(i).1.iter_u64_digits().len());
        let mut made = Packer::new(rows.len(), 2 * words.sum::<usize>())?;
        each_group(rows, |group, rows| {
            made.put(rows, |at, place| {
                let (negative, number) = number(SIGNS_OF_BYTE * group + at);
                let digits = number.iter_u64_digits();
                let length = 2 * digits.len();
                let (pairs, _) = place[..length].as_chunks_mut::<2>();
                for (pair, digit) in pairs.iter_mut().zip(digits) {
                    *pair = [digit as Limb, (digit >> LIMB_BITS) as Limb];
                }
                let is_short = pairs.last().is_some_and(|[_, top]| *top == 0);
                (length - usize::from(is_short), negative)
            });
        });
        Ok(vec![made.column()])
    })?;
    Ok(columns.into_iter().next().unwrap_or_default().into())
}
