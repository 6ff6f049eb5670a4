//! Integers into Arrow's arrays.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BinaryViewBuilder, StringBuilder, StringViewBuilder};
use arrow_array::builder::{LargeBinaryBuilder, LargeStringBuilder};
use arrow_array::{ArrayRef, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray, make_array};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayDataBuilder;
use arrow_schema::{DataType, Field};
use bigint_host::{Batch, Integers, Limb};

use crate::bytes::{self, LIMB_BYTES};
use crate::read::Binary;
use crate::{Column, Error, Fixed, Order, Sign};

/// A column of the extension type [`Any`](crate::Any). Where no number is negative, Arrow reads
/// the column's own memory; else numbers are copied.
pub fn any(column: &Column) -> LargeBinaryArray {
    let numbers = column.numbers();
    let nulls = column.nulls().cloned();
    let (values, offsets) = match numbers.signs().iter().all(|&signs| signs == 0) {
        true => bytes::buffers(numbers),
        false => signed(numbers),
    };
    let offsets = ScalarBuffer::new(offsets, 0, numbers.len() + 1);
    LargeBinaryArray::new(OffsetBuffer::new(offsets), values, nulls)
}

fn signed(numbers: &Integers) -> (Buffer, Buffer) {
    let mut values: Vec<u8> = Vec::with_capacity(size_of_val(numbers.limbs()) + numbers.len());
    let mut offsets = Vec::with_capacity(numbers.len() + 1);
    offsets.push(0);
    for row in 0..numbers.len() {
        values.extend_from_slice(bytemuck::cast_slice(numbers.magnitude(row)));
        if numbers.is_negative(row) {
            values.push(1);
        }
        offsets.push(values.len() as i64);
    }
    (Buffer::from_vec(values), Buffer::from_vec(offsets))
}

/// A column of the extension type `bigint.fixed`, unsigned and little-endian, of as many bytes as
/// the batch is wide. Arrow reads the batch's own memory where its layout is contiguous.
///
/// # Errors
/// As [`Batch::rows`].
pub fn fixed(batch: &Batch, nulls: Option<NullBuffer>) -> Result<FixedSizeBinaryArray, Error> {
    let bytes = i32::try_from(batch.width() * LIMB_BYTES).unwrap_or(i32::MAX);
    Ok(FixedSizeBinaryArray::try_new(
        bytes,
        bytes::rows(batch)?,
        nulls,
    )?)
}

/// A field for such a column.
pub fn text_field(name: impl Into<String>, nullable: bool) -> Field {
    Field::new(name, DataType::LargeUtf8, nullable)
}

/// A column of text: decimal digits, or hexadecimal ones after `0x`.
///
/// # Errors
/// As [`Integers::write_decimal`].
pub fn text(column: &Column, hexadecimal: bool) -> Result<LargeStringArray, Error> {
    let mut builder = LargeStringBuilder::new();
    each_text(column, hexadecimal, |text| builder.append_option(text))?;
    Ok(builder.finish())
}

fn each_text(
    column: &Column,
    hexadecimal: bool,
    mut take: impl FnMut(Option<&str>),
) -> Result<(), Error> {
    let mut text = Vec::new();
    for row in 0..column.len() {
        text.clear();
        match (column.is_null(row), hexadecimal) {
            (true, _) => {}
            (false, true) => column.numbers().write_hexadecimal(row, &mut text),
            (false, false) => column.numbers().write_decimal(row, &mut text)?,
        }
        let is_there = !text.is_empty();
        take(is_there.then(|| std::str::from_utf8(&text).unwrap_or_default()));
    }
    Ok(())
}

impl Column {
    /// The column in the type of a field, which is one of those that [`read`](crate::read())
    /// reads, but no dictionary. Text is decimal.
    ///
    /// # Errors
    /// [`Error::Type`]; [`Error::Row`] names the first row whose number the type cannot hold.
    pub fn to_array(&self, field: &Field) -> Result<ArrayRef, Error> {
        use Sign::{TwosComplement, Unsigned};
        let of = |sign| Fixed {
            order: Order::Little,
            sign,
        };
        let (bytes, fixed) = match field.data_type() {
            DataType::Int8 => (1, of(TwosComplement)),
            DataType::Int16 => (2, of(TwosComplement)),
            DataType::Int32 | DataType::Decimal32(_, 0) => (4, of(TwosComplement)),
            DataType::Int64 | DataType::Decimal64(_, 0) => (8, of(TwosComplement)),
            DataType::Decimal128(_, 0) => (16, of(TwosComplement)),
            DataType::Decimal256(_, 0) => (32, of(TwosComplement)),
            DataType::UInt8 => (1, of(Unsigned)),
            DataType::UInt16 => (2, of(Unsigned)),
            DataType::UInt32 => (4, of(Unsigned)),
            DataType::UInt64 => (8, of(Unsigned)),
            DataType::FixedSizeBinary(bytes) => match Binary::of(field)? {
                Binary::Fixed(fixed) => (usize::try_from(*bytes).unwrap_or(0), fixed),
                Binary::Any => return Err(of_type(field)),
            },
            _ => return self.to_lengths(field),
        };
        let least_beyond = match field.data_type() {
            DataType::Decimal32(digits, _)
            | DataType::Decimal64(digits, _)
            | DataType::Decimal128(digits, _)
            | DataType::Decimal256(digits, _) => power_of_ten(*digits)?,
            _ => Vec::new(),
        };
        let length = self.len().saturating_mul(bytes);
        let mut values = bytes::with_room(length)?;
        values.resize(length, 0_u8);
        let places = values.chunks_exact_mut(bytes.max(1));
        for (row, place) in places.enumerate() {
            let magnitude = self.numbers().magnitude(row);
            let is_beyond = !least_beyond.is_empty() && !is_less(magnitude, &least_beyond);
            let negative = self.numbers().is_negative(row);
            if !self.is_null(row) && (is_beyond || !bytes::write(magnitude, negative, fixed, place))
            {
                return Err(of_row(field, row));
            }
        }
        let array = ArrayDataBuilder::new(field.data_type().clone())
            .len(self.len())
            .add_buffer(Buffer::from_vec(values))
            .align_buffers(true)
            .nulls(self.nulls().cloned());
        Ok(make_array(array.build()?))
    }

    /// The column in a type whose values have lengths.
    fn to_lengths(&self, field: &Field) -> Result<ArrayRef, Error> {
        macro_rules! built {
            ($builder:ident, $each:expr) => {{
                let mut builder = $builder::new();
                $each(&mut |value| builder.append_option(value))?;
                Ok(Arc::new(builder.finish()) as ArrayRef)
            }};
        }
        let texts = |take: &mut dyn FnMut(Option<&str>)| each_text(self, false, take);
        let binaries = |take: &mut dyn FnMut(Option<&[u8]>)| self.each_binary(field, take);
        match field.data_type() {
            DataType::LargeBinary if matches!(Binary::of(field)?, Binary::Any) => {
                Ok(Arc::new(any(self)))
            }
            DataType::Utf8 => built!(StringBuilder, texts),
            DataType::LargeUtf8 => built!(LargeStringBuilder, texts),
            DataType::Utf8View => built!(StringViewBuilder, texts),
            DataType::Binary => built!(BinaryBuilder, binaries),
            DataType::LargeBinary => built!(LargeBinaryBuilder, binaries),
            DataType::BinaryView => built!(BinaryViewBuilder, binaries),
            _ => Err(of_type(field)),
        }
    }

    fn each_binary(&self, field: &Field, take: &mut dyn FnMut(Option<&[u8]>)) -> Result<(), Error> {
        let binary = Binary::of(field)?;
        let mut value = Vec::new();
        for row in 0..self.len() {
            let magnitude = self.numbers().magnitude(row);
            let negative = self.numbers().is_negative(row);
            let bytes: &[u8] = bytemuck::cast_slice(magnitude);
            value.clear();
            match binary {
                Binary::Any => {
                    value.extend_from_slice(bytes);
                    value.extend(negative.then_some(1));
                }
                Binary::Fixed(fixed) => {
                    let length = bytes.iter().rposition(|&byte| byte != 0);
                    value.resize(length.map_or(0, |top| top + 1), 0);
                    if !bytes::write(magnitude, negative, fixed, &mut value) && !self.is_null(row) {
                        return Err(of_row(field, row));
                    }
                }
            }
            take((!self.is_null(row)).then_some(&value[..]));
        }
        Ok(())
    }
}

fn of_type(field: &Field) -> Error {
    Error::Type {
        column: field.name().clone(),
        found: field.data_type().clone(),
    }
}

fn of_row(field: &Field, row: usize) -> Error {
    Error::Row {
        column: field.name().clone(),
        row,
        what: format!("{} cannot hold this number", field.data_type()),
    }
}

/// The limbs of the least number of more than so many digits.
fn power_of_ten(digits: u8) -> Result<Vec<Limb>, Error> {
    let text = format!("1{}", "0".repeat(usize::from(digits)));
    Ok(Integers::from_texts([text])?.limbs().to_vec())
}

/// Compares magnitudes without zeros on top.
fn is_less(a: &[Limb], b: &[Limb]) -> bool {
    a.len() < b.len() || a.len() == b.len() && a.iter().rev().lt(b.iter().rev())
}
