//! Columns of integers to and from what DataFusion computes with.

use std::sync::Arc;

use arrow_schema::extension::{EXTENSION_TYPE_NAME_KEY, ExtensionType};
use bigint_arrow::{Any, Column, Fixed};
use bigint_host::Integers;
use datafusion::arrow::array::{ArrayRef, new_null_array};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::ColumnarValue;

/// Whether a column is of one of the extension types of integers.
pub(crate) fn is_big(field: &Field) -> bool {
    let name = field.metadata().get(EXTENSION_TYPE_NAME_KEY);
    name.is_some_and(|name| name == Any::NAME || name == Fixed::NAME)
}

/// Whether a column may be of integers when all of a query is known: bytes, of which a union of several
/// types does not say more before, and for which DataFusion has neither arithmetic nor totals.
pub(crate) fn may_be_big(field: &Field) -> bool {
    let is_bytes = matches!(
        field.data_type(),
        DataType::LargeBinary | DataType::FixedSizeBinary(_)
    );
    is_big(field) || is_bytes
}

/// An error of Arrow's conversions or of the engine. It keeps its type, so that callers find it by
/// `DataFusionError::find_root`.
pub(crate) fn failed(error: impl Into<bigint_arrow::Error>) -> DataFusionError {
    DataFusionError::External(Box::new(error.into()))
}

/// Refuses operands of types that hold no integers, or not all of them.
pub(crate) fn refuse_others(function: &str, field: &Field) -> Result<()> {
    let name = field.name();
    match field.data_type() {
        DataType::Float16 | DataType::Float32 | DataType::Float64 => plan_err!(
            "{function}: {name} is a floating-point number, which is no integer: write \
             integers of more than 19 digits in quotes"
        ),
        DataType::Decimal32(_, 1..)
        | DataType::Decimal64(_, 1..)
        | DataType::Decimal128(_, 1..)
        | DataType::Decimal256(_, 1..) => {
            plan_err!("{function}: {name} is a decimal fraction, which is no integer")
        }
        DataType::Null
        | DataType::Dictionary(..)
        | DataType::FixedSizeBinary(_)
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => Ok(()),
        other if other.is_integer() => Ok(()),
        other => plan_err!("{function}: {name} is of type {other}, which holds no integers"),
    }
}

/// Reads a column of integers.
///
/// `LargeBinary` without an extension type is `bigint.any`: that is what these functions make,
/// and a plan that goes from a scheduler to an executor loses the extension types of what
/// functions make. [`crate::plan`] refuses such columns of tables.
pub(crate) fn read(array: ArrayRef, field: &Field) -> Result<Column> {
    let is_made = *field.data_type() == DataType::LargeBinary && !is_big(field);
    let column = match is_made {
        true => bigint_arrow::read(array, &field.clone().with_extension_type(Any)),
        false => bigint_arrow::read(array, field),
    };
    column.map_err(failed)
}

/// `bigint.any`, and which rows are null.
pub(crate) fn written(numbers: Integers, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let column = Column::new(numbers, nulls).map_err(failed)?;
    Ok(Arc::new(bigint_arrow::any(&column)))
}

/// The operands of a function, row by row.
pub(crate) enum Operands {
    /// No row has a value: a constant is null, or a column everywhere.
    Null,
    /// Numbers for every row, or one for all rows; 1 where a row is null.
    Numbers(Vec<Integers>, Option<NullBuffer>),
}

/// Reads the operands of a function.
pub(crate) fn operands(values: &[ColumnarValue], fields: &[Arc<Field>]) -> Result<Operands> {
    let mut constants = Vec::with_capacity(values.len());
    let mut columns = Vec::with_capacity(values.len());
    for (value, field) in values.iter().zip(fields) {
        match value {
            ColumnarValue::Scalar(constant) if constant.is_null() => return Ok(Operands::Null),
            ColumnarValue::Scalar(constant) => {
                constants.push(Some(read(constant.to_array()?, field)?));
            }
            ColumnarValue::Array(array) => {
                columns.push(read(Arc::clone(array), field)?);
                constants.push(None);
            }
        }
    }
    let is_null = |column: &Column| {
        let nulls = column.nulls().map_or(0, NullBuffer::null_count);
        !column.is_empty() && nulls == column.len()
    };
    if columns.iter().any(is_null) {
        return Ok(Operands::Null);
    }
    let (columns, nulls) = Column::prepared(&columns.iter().collect::<Vec<_>>()).map_err(failed)?;
    let mut columns = columns.into_iter();
    let numbers = constants.into_iter().map(|constant| match constant {
        Some(constant) => constant.into_parts().0,
        None => columns.next().expect("there are as many as arrays"),
    });
    Ok(Operands::Numbers(numbers.collect(), nulls))
}

/// A result as a constant where all operands are constants.
pub(crate) fn result(array: ArrayRef, values: &[ColumnarValue]) -> Result<ColumnarValue> {
    let is_constant = |value: &ColumnarValue| matches!(value, ColumnarValue::Scalar(_));
    Ok(match values.iter().all(is_constant) {
        true => ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?),
        false => ColumnarValue::Array(array),
    })
}

/// Null in every row.
pub(crate) fn nulls(data_type: &DataType, values: &[ColumnarValue]) -> Result<ColumnarValue> {
    let rows = values.iter().find_map(|value| match value {
        ColumnarValue::Array(array) => Some(array.len()),
        ColumnarValue::Scalar(_) => None,
    });
    result(new_null_array(data_type, rows.unwrap_or(1)), values)
}
