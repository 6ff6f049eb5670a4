//! Who computes: one engine for each place, opened when it is first needed.

use crate::error::exception;
use bigint_host::{Engine, Error};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Where an array's operations are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Every device of the machine that pays.
    #[default]
    Auto,
    /// All cores of the CPU.
    Cpu,
    /// One CUDA device.
    Cuda(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Auto => f.write_str("auto"),
            Place::Cpu => f.write_str("cpu"),
            Place::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

impl Place {
    /// The place of this name.
    pub fn named(name: &str) -> PyResult<Self> {
        let ordinal = name.strip_prefix("cuda:").map(str::parse);
        match (name, ordinal) {
            ("auto", _) => Ok(Place::Auto),
            ("cpu", _) => Ok(Place::Cpu),
            ("cuda", _) => Ok(Place::Cuda(0)),
            (_, Some(Ok(ordinal))) => Ok(Place::Cuda(ordinal)),
            _ => Err(PyValueError::new_err(format!(
                "there is no device {name:?}: use \"auto\", \"cpu\", or \"cuda:0\" and its like"
            ))),
        }
    }

    /// The place named, or [`Place::Auto`].
    pub fn chosen(name: Option<&str>) -> PyResult<Self> {
        name.map_or(Ok(Place::Auto), Place::named)
    }

    /// Where arrays of both places meet: `Auto` gives way.
    pub fn and(self, other: Self) -> Self {
        match self {
            Place::Auto => other,
            _ => self,
        }
    }

    /// The engine whose memory on the host columns of the place are read into.
    pub fn of_host(self, py: Python<'_>) -> PyResult<Engine> {
        match self {
            Place::Auto => self.engine(py),
            Place::Cpu | Place::Cuda(_) => Place::Cpu.engine(py),
        }
    }

    /// The engine of the place, which the first caller opens.
    pub fn engine(self, py: Python<'_>) -> PyResult<Engine> {
        static AUTO: OnceLock<Engine> = OnceLock::new();
        static CPU: OnceLock<Engine> = OnceLock::new();
        match self {
            Place::Auto => Ok(AUTO.get_or_init(Engine::auto).clone()),
            Place::Cpu => Ok(CPU.get_or_init(Engine::cpu).clone()),
            Place::Cuda(ordinal) => py
                .detach(|| opened(ordinal))
                .map_err(|error| exception(&error)),
        }
    }
}

/// The engine of a CUDA device.
fn opened(ordinal: usize) -> Result<Engine, Error> {
    static OPEN: Mutex<Vec<(usize, Engine)>> = Mutex::new(Vec::new());
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, engine)) = open.iter().find(|(known, _)| *known == ordinal) {
        return Ok(engine.clone());
    }
    let engine = Engine::cuda(ordinal)?;
    open.push((ordinal, engine.clone()));
    Ok(engine)
}
