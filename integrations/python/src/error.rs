//! The engine's errors as Python's exceptions.

use bigint_host::{DeviceErrorKind, Error};
use pyo3::PyErr;
use pyo3::exceptions::{
    PyIndexError, PyMemoryError, PyOverflowError, PyRuntimeError, PyValueError, PyZeroDivisionError,
};

/// Why there is no result.
pub enum Failure {
    /// The engine refused or failed.
    Engine(Error),
    /// A panic, with its message.
    Defect(String),
}

/// The exception of a failure.
pub fn raised(failure: Failure) -> PyErr {
    match failure {
        Failure::Engine(error) => exception(&error),
        Failure::Defect(message) => PyRuntimeError::new_err(format!(
            "a defect of bigint_engine, please report it: {message}"
        )),
    }
}

/// The exception of an error.
pub fn exception(error: &Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::OutOfMemory { .. } => PyMemoryError::new_err(text),
        Error::Device(device) => match device.kind {
            DeviceErrorKind::OutOfMemory { .. } => PyMemoryError::new_err(text),
            _ => PyRuntimeError::new_err(text),
        },
        Error::ZeroDivisor { .. } => PyZeroDivisionError::new_err(text),
        Error::NoSuchNumber { .. } => PyIndexError::new_err(text),
        Error::Width { .. }
        | Error::TooWide { .. }
        | Error::TooManyBits { .. }
        | Error::TooLarge { .. } => PyOverflowError::new_err(text),
        Error::Cpu(_) | Error::Tuning { .. } | Error::TuningInUse => PyRuntimeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
