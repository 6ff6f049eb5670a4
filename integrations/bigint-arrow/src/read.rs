//! Integers out of Arrow's arrays.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, FixedSizeBinaryArray, LargeBinaryArray};
use arrow_buffer::{Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::extension::{EXTENSION_TYPE_NAME_KEY, ExtensionType};
use arrow_schema::{DataType, Field};
use bigint_host::{Engine, Integers, Layout, Limb, Shape, SignedBatch};

use crate::bytes::{LIMB_BYTES, Parts, into_vec, with_room};
use crate::{Any, Column, Error, Fixed, Order, Sign};

/// What the bytes of a binary column mean.
pub(crate) enum Binary {
    Any,
    Fixed(Fixed),
}

impl Binary {
    /// What the extension type says, or else [`Fixed::PLAIN`].
    pub fn of(field: &Field) -> Result<Self, Error> {
        match field.metadata().get(EXTENSION_TYPE_NAME_KEY) {
            Some(name) if name == Any::NAME => {
                field.try_extension_type::<Any>()?;
                Ok(Binary::Any)
            }
            Some(name) if name == Fixed::NAME => Ok(Binary::Fixed(field.try_extension_type()?)),
            _ => Ok(Binary::Fixed(Fixed::PLAIN)),
        }
    }
}

/// Reads a column of integers: of the extension types [`Any`] and [`Fixed`], `Int8` to `Int64`,
/// `UInt8` to `UInt64`, `Decimal32` to `Decimal256` of scale 0, `FixedSizeBinary` and `Binary`
/// (without an extension type: unsigned, most significant byte first), `Utf8` in decimal or, after
/// `0x`, hexadecimal digits, large columns and views of the last two, dictionaries of all of them,
/// and `Null`.
///
/// The numbers of a `bigint.any` column without negative ones stay where they are, whoever
/// allocated them: the result holds their buffer. Everything else is copied once.
///
/// # Errors
/// [`Error::Type`]; [`Error::Row`] names the first row that is no integer.
pub fn read(array: ArrayRef, field: &Field) -> Result<Column, Error> {
    right(read_or_null(array, field)?, field)
}

/// [`read`], into memory that an engine's earlier results have given back, where numbers of one width are
/// copied. That pays for large columns: fresh memory takes longer to come than they to copy.
///
/// # Errors
/// As [`read`].
pub fn read_for(engine: &Engine, array: ArrayRef, field: &Field) -> Result<Column, Error> {
    right(read_in(Some(engine), array, field)?, field)
}

fn right((column, wrong): (Column, Wrong), field: &Field) -> Result<Column, Error> {
    match wrong.into_iter().next() {
        None => Ok(column),
        Some((row, what)) => Err(Error::Row {
            column: field.name().clone(),
            row,
            what,
        }),
    }
}

/// Rows whose values are no integers, and what is wrong with them.
pub(crate) type Wrong = Vec<(usize, String)>;

/// [`read`], with null in the place of values that are no integers, and these.
pub(crate) fn read_or_null(array: ArrayRef, field: &Field) -> Result<(Column, Wrong), Error> {
    read_in(None, array, field)
}

fn read_in(
    engine: Option<&Engine>,
    array: ArrayRef,
    field: &Field,
) -> Result<(Column, Wrong), Error> {
    let nulls = array.logical_nulls();
    let mut wrong = Wrong::new();
    let numbers = match array.data_type() {
        DataType::Null => zeros(array.len())?,
        DataType::Dictionary(_, values) => return read_dictionary(&array, field, values),
        DataType::LargeBinary if matches!(Binary::of(field)?, Binary::Any) => {
            let binary: &LargeBinaryArray = array.as_binary();
            match taken_over(binary)? {
                Some(numbers) => numbers,
                None => read_any(binary.iter(), &mut wrong)?,
            }
        }
        DataType::FixedSizeBinary(bytes) => {
            let Binary::Fixed(fixed) = Binary::of(field)? else {
                return Err(of_type(field, &array));
            };
            let bytes = (*bytes).try_into().unwrap_or(0);
            let values = array.as_fixed_size_binary().value_data();
            read_fixed(engine, values, bytes, fixed, nulls.as_ref(), array.len())?
        }
        DataType::Binary => read_binary(array.as_binary::<i32>().iter(), field, &mut wrong)?,
        DataType::LargeBinary => read_binary(array.as_binary::<i64>().iter(), field, &mut wrong)?,
        DataType::BinaryView => read_binary(array.as_binary_view().iter(), field, &mut wrong)?,
        DataType::Utf8 => read_text(array.as_string::<i32>().iter(), &mut wrong)?,
        DataType::LargeUtf8 => read_text(array.as_string::<i64>().iter(), &mut wrong)?,
        DataType::Utf8View => read_text(array.as_string_view().iter(), &mut wrong)?,
        _ => match primitive(&array) {
            Some((values, bytes, fixed)) => {
                read_fixed(engine, values, bytes, fixed, nulls.as_ref(), array.len())?
            }
            None => return Err(of_type(field, &array)),
        },
    };
    let nulls = without(nulls, &wrong, numbers.len());
    Ok((Column::new(numbers, nulls)?, wrong))
}

/// Nulls, and those of rows that are wrong.
fn without(nulls: Option<NullBuffer>, wrong: &Wrong, count: usize) -> Option<NullBuffer> {
    if wrong.is_empty() {
        return nulls;
    }
    let mut is_number = vec![true; count];
    wrong.iter().for_each(|(row, _)| is_number[*row] = false);
    NullBuffer::union(nulls.as_ref(), Some(&NullBuffer::from(is_number)))
}

/// Reads a column as a batch of an engine and the rows that are null, in whose places any number
/// is.
///
/// A `bigint.fixed` column that is unsigned, little-endian and of whole limbs (4 bytes) is taken
/// over without a copy where its buffer was allocated as a `Vec<u32>`, begins with the first row,
/// and nobody else has it; or else copied once. All other columns are copied twice.
///
/// # Errors
/// As [`read`] and [`Engine::batch_from_limbs`].
pub fn batch(
    engine: &Engine,
    array: ArrayRef,
    field: &Field,
) -> Result<(SignedBatch, Option<NullBuffer>), Error> {
    let bytes = match array.data_type() {
        DataType::FixedSizeBinary(bytes) => usize::try_from(*bytes).unwrap_or(0),
        _ => 0,
    };
    let is_as_batches = matches!(
        Binary::of(field)?,
        Binary::Fixed(Fixed {
            order: Order::Little,
            sign: Sign::Unsigned
        })
    );
    if bytes == 0 || !bytes.is_multiple_of(LIMB_BYTES) || !is_as_batches {
        let column = read(array, field)?;
        let numbers = column.batch(engine)?;
        return Ok((numbers, column.into_parts().1));
    }
    let fixed: FixedSizeBinaryArray = array.as_fixed_size_binary().clone();
    drop(array);
    let shape = Shape::new(fixed.len(), bytes / LIMB_BYTES, Layout::Contiguous);
    let (_, values, nulls) = fixed.into_parts();
    let mut limbs: Vec<Limb> = into_vec(values);
    limbs.truncate(shape.limbs());
    let numbers = engine.batch_from_limbs(limbs, shape)?;
    Ok((SignedBatch::natural(numbers), nulls))
}

fn of_type(field: &Field, array: &dyn Array) -> Error {
    Error::Type {
        column: field.name().clone(),
        found: array.data_type().clone(),
    }
}

fn zeros(count: usize) -> Result<Integers, Error> {
    let signs = vec![0; count.div_ceil(8)];
    Ok(Integers::from_parts(Vec::new(), vec![0; count + 1], signs)?)
}

/// Each value is read once, however often it occurs.
fn read_dictionary(
    array: &ArrayRef,
    field: &Field,
    values: &DataType,
) -> Result<(Column, Wrong), Error> {
    let dictionary = array.as_any_dictionary();
    let nulls = array.logical_nulls();
    if dictionary.values().is_empty() {
        return Ok((Column::new(zeros(array.len())?, nulls)?, Wrong::new()));
    }
    let of_values = field.clone().with_data_type(values.clone());
    let (values, wrong_values) = read_or_null(dictionary.values().clone(), &of_values)?;
    let keys = dictionary.normalized_keys();
    let mut wrong = Wrong::new();
    if !wrong_values.is_empty() {
        let is_null = |row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        for (row, key) in keys.iter().enumerate().filter(|(row, _)| !is_null(*row)) {
            let found = wrong_values.iter().find(|(value, _)| value == key);
            wrong.extend(found.map(|(_, what)| (row, what.clone())));
        }
    }
    let nulls = without(nulls, &wrong, array.len());
    Ok((Column::new(values.numbers().gather(&keys)?, nulls)?, wrong))
}

/// The bytes of an array of machine integers or decimals, bytes of each number, and what they
/// mean.
fn primitive(array: &dyn Array) -> Option<(&[u8], usize, Fixed)> {
    fn of<T: ArrowPrimitiveType>(array: &dyn Array, sign: Sign) -> (&[u8], usize, Fixed) {
        let values = array.as_primitive::<T>().values().inner().as_slice();
        let order = Order::Little;
        (values, size_of::<T::Native>(), Fixed { order, sign })
    }
    use Sign::{TwosComplement, Unsigned};
    Some(match array.data_type() {
        DataType::Int8 => of::<Int8Type>(array, TwosComplement),
        DataType::Int16 => of::<Int16Type>(array, TwosComplement),
        DataType::Int32 => of::<Int32Type>(array, TwosComplement),
        DataType::Int64 => of::<Int64Type>(array, TwosComplement),
        DataType::UInt8 => of::<UInt8Type>(array, Unsigned),
        DataType::UInt16 => of::<UInt16Type>(array, Unsigned),
        DataType::UInt32 => of::<UInt32Type>(array, Unsigned),
        DataType::UInt64 => of::<UInt64Type>(array, Unsigned),
        DataType::Decimal32(_, 0) => of::<Decimal32Type>(array, TwosComplement),
        DataType::Decimal64(_, 0) => of::<Decimal64Type>(array, TwosComplement),
        DataType::Decimal128(_, 0) => of::<Decimal128Type>(array, TwosComplement),
        DataType::Decimal256(_, 0) => of::<Decimal256Type>(array, TwosComplement),
        _ => return None,
    })
}

/// Zero where a row is null.
fn read_fixed(
    engine: Option<&Engine>,
    values: &[u8],
    bytes: usize,
    fixed: Fixed,
    nulls: Option<&NullBuffer>,
    count: usize,
) -> Result<Integers, Error> {
    let number = |row: usize| &values[row * bytes..][..bytes];
    let length = |row| match nulls.is_some_and(|nulls| nulls.is_null(row)) {
        true => (0, false),
        false => fixed.length(number(row)),
    };
    let fill = |row, limbs: &mut [Limb]| fixed.fill(number(row), limbs);
    let width = bytes.div_ceil(LIMB_BYTES);
    Ok(match engine {
        Some(engine) => engine.integers_from_fn(count, width, length, fill),
        None => Integers::from_fn(count, width, length, fill),
    }?)
}

fn read_binary<'a>(
    values: impl Iterator<Item = Option<&'a [u8]>>,
    field: &Field,
    wrong: &mut Wrong,
) -> Result<Integers, Error> {
    let fixed = match Binary::of(field)? {
        Binary::Any => return read_any(values, wrong),
        Binary::Fixed(fixed) => fixed,
    };
    let mut parts = Parts::with_capacity(values.size_hint().0)?;
    for value in values {
        parts.push(value.unwrap_or_default(), fixed)?;
    }
    parts.finish()
}

fn read_any<'a>(
    values: impl Iterator<Item = Option<&'a [u8]>>,
    wrong: &mut Wrong,
) -> Result<Integers, Error> {
    let magnitude_of = Fixed {
        order: Order::Little,
        sign: Sign::Unsigned,
    };
    let mut parts = Parts::with_capacity(values.size_hint().0)?;
    for (row, value) in values.enumerate() {
        let value = value.unwrap_or_default();
        let (magnitude, sign) = value.split_at(value.len() / LIMB_BYTES * LIMB_BYTES);
        let top = magnitude.last_chunk::<LIMB_BYTES>();
        let is_trimmed = top.is_none_or(|top| *top != [0; LIMB_BYTES]);
        if !is_trimmed || !(sign.is_empty() || sign == [1] && !magnitude.is_empty()) {
            let what = "not written as bigint.any is: limbs of 4 bytes, the last of them not zero, \
                        and a byte 1 behind those of a negative number";
            wrong.push((row, what.to_owned()));
            parts.end(false);
            continue;
        }
        parts.push(magnitude, magnitude_of)?;
        if !sign.is_empty() {
            parts.negate_last();
        }
    }
    parts.finish()
}

fn read_text<'a>(
    values: impl Iterator<Item = Option<&'a str>>,
    wrong: &mut Wrong,
) -> Result<Integers, Error> {
    let mut numbers = Integers::new();
    for (row, value) in values.enumerate() {
        let text = value.map_or("0", str::trim_ascii);
        match numbers.push_text(text.as_bytes()) {
            Ok(()) => {}
            Err(bigint_host::Error::NotADigit { position, .. }) => {
                let what = format!(
                    "a digit must stand at byte {position} of {:?}: numbers are written in decimal \
                     digits, or in hexadecimal ones after 0x, with - before them or not",
                    shortened(text)
                );
                wrong.push((row, what));
                numbers.push(false, &[])?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(numbers)
}

/// The beginning of a text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

/// The numbers of a `bigint.any` column where they are; `None` where they are not laid out as
/// [`Integers`] are: some are negative, or the limbs lie across words.
fn taken_over(array: &LargeBinaryArray) -> Result<Option<Integers>, Error> {
    let offsets = array.value_offsets();
    let (start, end) = (offsets[0], offsets[array.len()]);
    if offsets
        .iter()
        .any(|at| (at - start) % LIMB_BYTES as i64 != 0)
    {
        return Ok(None);
    }
    let values = match start == end {
        // Of an empty column the buffer may end before the offset.
        true => Buffer::default(),
        false => (array.values()).slice_with_length(start as usize, (end - start) as usize),
    };
    if values.as_ptr().align_offset(align_of::<Limb>()) != 0 {
        return Ok(None);
    }
    let (mut ends, mut signs) = (
        with_room(offsets.len())?,
        with_room(array.len().div_ceil(8))?,
    );
    ends.extend(offsets.iter().map(|at| at - start));
    signs.resize(array.len().div_ceil(8), 0);
    match Integers::from_foreign(ScalarBuffer::<Limb>::from(values), ends, signs) {
        Ok(numbers) => Ok(Some(numbers)),
        // The other way says which.
        Err(bigint_host::Error::NotWrittenSo { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
