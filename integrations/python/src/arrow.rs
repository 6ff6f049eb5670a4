//! Columns to and from Arrow's C structures.

use crate::array::Array;
use crate::place::Place;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub fn imported(_source: &Bound<'_, PyAny>, _place: Place) -> PyResult<Option<Array>> {
    Ok(None)
}

pub fn exported<'py>(
    _py: Python<'py>,
    _array: &Array,
    _requested: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    Err(PyNotImplementedError::new_err(()))
}

pub fn schema(_py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Err(PyNotImplementedError::new_err(()))
}
