//! The choice of who computes.

use std::fmt;
use std::str::FromStr;

use bigint_core::{Algorithm, Operation};
use bigint_host::Engine;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::failure::Failure;

/// A back end as it is named on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendName {
    /// A GPU where there is one, else the CPU.
    #[default]
    Auto,
    /// Every core of the CPU.
    Cpu,
    /// The CUDA device of this number, and nothing else.
    Cuda(usize),
}

impl FromStr for BackendName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(BackendName::Auto),
            "cpu" => Ok(BackendName::Cpu),
            "cuda" => Ok(BackendName::Cuda(0)),
            _ => {
                let device = text.strip_prefix("cuda:");
                let device = device.and_then(|device| device.parse().ok());
                device
                    .map(BackendName::Cuda)
                    .ok_or_else(|| "expected auto, cpu, cuda or cuda:N".to_owned())
            }
        }
    }
}

impl fmt::Display for BackendName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackendName::Auto => f.write_str("auto"),
            BackendName::Cpu => f.write_str("cpu"),
            BackendName::Cuda(device) => write!(f, "cuda:{device}"),
        }
    }
}

impl BackendName {
    /// The engine of this name.
    ///
    /// # Errors
    /// [`Failure::Running`] says why a device cannot be used.
    pub fn engine(self) -> Result<Engine, Failure> {
        match self {
            BackendName::Auto => Ok(Engine::auto()),
            BackendName::Cpu => Ok(Engine::cpu()),
            BackendName::Cuda(device) => {
                Engine::cuda(device).map_err(|error| Failure::Running(error.to_string()))
            }
        }
    }
}

/// Reads an algorithm's name.
pub fn algorithm_parser() -> impl TypedValueParser<Value = Algorithm> {
    let known = || std::iter::once(Algorithm::Auto).chain(Algorithm::NAMED);
    PossibleValuesParser::new(known().map(Algorithm::name)).map(move |name| {
        let named = known().find(|algorithm| algorithm.name() == name);
        named.unwrap_or_default()
    })
}

/// Reads the name of an operation.
pub fn operation(name: &str) -> Result<Operation, String> {
    let found = Operation::ALL
        .iter()
        .find(|operation| operation.name() == name);
    found.copied().ok_or_else(|| {
        format!(
            "expected one of {}",
            Operation::ALL.map(Operation::name).join(", ")
        )
    })
}
