//! Columns to and from Arrow's C structures, which travel in Python's capsules.

#![expect(
    unsafe_code,
    reason = "Arrow's C data interface is structures behind pointers"
)]

use crate::array::Array;
use crate::call::Rows;
use crate::error::exception;
use crate::place::Place;
use crate::run;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array as _, ArrayRef, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, Field};
use bigint_arrow::{Any, Column, Error};
use bigint_host::Integers;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::{CStr, c_int};
use std::ptr::NonNull;
use std::sync::Arc;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The exception of an error of Arrow's columns.
fn raised(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Engine(error) => exception(&error),
        Error::Type { .. } => PyTypeError::new_err(text),
        Error::Arrow(ArrowError::MemoryError(_)) => PyMemoryError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

fn of_arrow(error: ArrowError) -> PyErr {
    raised(error.into())
}

/// What a capsule of this name points to.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<NonNull<T>> {
    Ok(capsule
        .cast::<PyCapsule>()?
        .pointer_checked(Some(name))?
        .cast())
}

/// The column of an object that has Arrow's methods; `None` of any other.
pub fn imported(source: &Bound<'_, PyAny>, place: Place) -> PyResult<Option<Array>> {
    let chunks = if source.hasattr("__arrow_c_array__")? {
        let capsules = source.call_method0("__arrow_c_array__")?;
        let capsules = capsules.cast::<PyTuple>()?;
        let schema = pointer::<FFI_ArrowSchema>(&capsules.get_item(0)?, SCHEMA)?;
        let array = pointer::<FFI_ArrowArray>(&capsules.get_item(1)?, ARRAY)?;
        // SAFETY: capsules of these names point to these structures, and an array in a capsule is
        // there to be moved out of it.
        let (schema, array) =
            unsafe { (schema.as_ref(), FFI_ArrowArray::from_raw(array.as_ptr())) };
        let field = Field::try_from(schema).map_err(of_arrow)?;
        vec![column(source.py(), array, schema, &field, place)?]
    } else if source.hasattr("__arrow_c_stream__")? {
        let Ok(capsule) = source.call_method0("__arrow_c_stream__") else {
            // As of a column of Python's objects, which Arrow does not know.
            return Ok(None);
        };
        columns(source.py(), pointer(&capsule, STREAM)?, place)?
    } else {
        return Ok(None);
    };
    joined(source.py(), chunks, place).map(Some)
}

/// All chunks of a stream.
fn columns(
    py: Python<'_>,
    stream: NonNull<FFI_ArrowArrayStream>,
    place: Place,
) -> PyResult<Vec<Column>> {
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: a capsule of this name points to a stream, which it releases itself; its functions take
    // the stream and a place for what they answer.
    let (get_schema, get_next) = unsafe { (stream.as_ref().get_schema, stream.as_ref().get_next) };
    let (Some(get_schema), Some(get_next)) = (get_schema, get_next) else {
        return Err(PyValueError::new_err("the stream of columns is at its end"));
    };
    // SAFETY: as above.
    told(unsafe { get_schema(stream.as_ptr(), &mut schema) })?;
    let field = Field::try_from(&schema).map_err(of_arrow)?;
    let mut columns = Vec::new();
    loop {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as above.
        told(unsafe { get_next(stream.as_ptr(), &mut array) })?;
        if array.is_released() {
            return Ok(columns);
        }
        columns.push(column(py, array, &schema, &field, place)?);
    }
}

fn told(code: c_int) -> PyResult<()> {
    match code {
        0 => Ok(()),
        _ => Err(PyRuntimeError::new_err(format!(
            "the stream of columns failed with error {code}"
        ))),
    }
}

/// The numbers of one chunk.
fn column(
    py: Python<'_>,
    array: FFI_ArrowArray,
    schema: &FFI_ArrowSchema,
    field: &Field,
    place: Place,
) -> PyResult<Column> {
    if field.data_type().is_nested() {
        let columns = field.data_type();
        return Err(PyTypeError::new_err(format!(
            "a table is no column: choose one of {columns}"
        )));
    }
    // SAFETY: both structures come from one exporter, which says that they go together.
    let array = make_array(unsafe { from_ffi(array, schema) }.map_err(of_arrow)?);
    let engine = place.of_host(py)?;
    run::whole(py, || bigint_arrow::read_for(&engine, array, field))?.map_err(raised)
}

/// One array of chunks.
fn joined(py: Python<'_>, mut chunks: Vec<Column>, place: Place) -> PyResult<Array> {
    let raise = |error| exception(&error);
    let is_null = |chunk: &Column, row| chunk.is_null(row);
    let nulls = chunks.iter().any(|chunk| chunk.nulls().is_some()).then(|| {
        let rows = chunks
            .iter()
            .flat_map(|chunk| (0..chunk.len()).map(move |row| (chunk, row)));
        rows.map(|(chunk, row)| is_null(chunk, row))
            .collect::<Arc<[bool]>>()
    });
    let numbers = match chunks.len() {
        1 => chunks.swap_remove(0).into_parts().0,
        _ => {
            let parts: Vec<&Integers> = chunks.iter().map(Column::numbers).collect();
            Integers::concatenate(&parts).map_err(raise)?
        }
    };
    let array = Array::of(numbers, nulls, place);
    if array.nulls.is_none() {
        return Ok(array);
    }
    // Where there is no number Arrow may have any.
    let rows = Rows::of(std::slice::from_ref(&array)).map_err(raise)?;
    let known = rows.known(array.numbers(py)?);
    let known = known.and_then(|known| rows.spread(known));
    Ok(Array::of(known.map_err(raise)?, array.nulls, place))
}

/// The numbers as an array of a field's type.
fn of_field(
    py: Python<'_>,
    array: &Array,
    requested: Option<&Bound<'_, PyAny>>,
) -> PyResult<(ArrayRef, Field)> {
    let nulls = array
        .nulls
        .as_ref()
        .map(|nulls| nulls.iter().map(|null| !null).collect::<Vec<_>>());
    let column =
        Column::new(array.numbers(py)?.clone(), nulls.map(NullBuffer::from)).map_err(raised)?;
    let requested = requested.filter(|schema| !schema.is_none());
    let Some(schema) = requested else {
        let any: ArrayRef = Arc::new(bigint_arrow::any(&column));
        return Ok((any, Any::field("", true)));
    };
    let schema = pointer::<FFI_ArrowSchema>(schema, SCHEMA)?;
    // SAFETY: a capsule of this name points to this structure.
    let field = Field::try_from(unsafe { schema.as_ref() }).map_err(of_arrow)?;
    Ok((column.to_array(&field).map_err(raised)?, field))
}

/// Capsules of the type `bigint.any`, or of the one that is asked for, and of the numbers.
pub fn exported<'py>(
    py: Python<'py>,
    array: &Array,
    requested: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (made, field) = of_field(py, array, requested)?;
    let (array, _) = to_ffi(&made.to_data()).map_err(of_arrow)?;
    let schema = FFI_ArrowSchema::try_from(&field).map_err(of_arrow)?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    PyTuple::new(py, [schema, PyCapsule::new_with_value(py, array, ARRAY)?])
}

/// A capsule of the type `bigint.any`.
pub fn schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let schema = FFI_ArrowSchema::try_from(&Any::field("", true)).map_err(of_arrow)?;
    Ok(PyCapsule::new_with_value(py, schema, SCHEMA)?.into_any())
}

/// A pyarrow array of the numbers, for which pyarrow learns of `bigint.any`.
pub fn pyarrow<'py>(
    array: &Bound<'py, Array>,
    r#type: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    static KNOWN: PyOnceLock<()> = PyOnceLock::new();
    let py = array.py();
    KNOWN.get_or_try_init(py, || {
        let code = CStr::from_bytes_with_nul(concat!(include_str!("pyarrow.py"), "\0").as_bytes());
        let code = code.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        PyModule::from_code(py, code, c"pyarrow.py", c"bigint_engine._pyarrow").map(drop)
    })?;
    let pyarrow = py.import("pyarrow")?;
    match r#type {
        Some(r#type) => pyarrow.call_method1("array", (array, r#type)),
        None => pyarrow.call_method1("array", (array,)),
    }
}
