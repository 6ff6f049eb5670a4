//! The choice of who computes.

use std::fmt;
use std::str::FromStr;

use bigint_core::{Algorithm, Operation};
use bigint_host::{DeviceSet, Engine};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::failure::Failure;
use crate::tune;

/// A back end as it is named on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendName {
    /// Every GPU of the machine; the CPU where there is none.
    #[default]
    Auto,
    /// Every core of the CPU.
    Cpu,
    /// One CUDA device, or several, and never the CPU.
    Cuda(DeviceSet),
}

impl FromStr for BackendName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(BackendName::Auto),
            "cpu" => Ok(BackendName::Cpu),
            "cuda" => Ok(BackendName::Cuda(DeviceSet::from(0))),
            _ => {
                let devices = text.strip_prefix("cuda:");
                let devices = devices.and_then(|devices| devices.parse().ok());
                devices
                    .map(BackendName::Cuda)
                    .ok_or_else(|| "expected auto, cpu, cuda, cuda:N or cuda:N,M,...".to_owned())
            }
        }
    }
}

impl fmt::Display for BackendName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackendName::Auto => f.write_str("auto"),
            BackendName::Cpu => f.write_str("cpu"),
            BackendName::Cuda(devices) => write!(f, "cuda:{devices}"),
        }
    }
}

impl BackendName {
    /// Makes the engine of this name.
    ///
    /// # Errors
    /// [`Failure::Running`] says why a device cannot be used, and [`Failure::Usage`] what is wrong
    /// with the file of thresholds that the environment names.
    pub fn engine(self) -> Result<Engine, Failure> {
        let tuning = tune::of_gpus()?;
        let engine = match self {
            BackendName::Auto => Ok(Engine::auto()),
            BackendName::Cpu => Ok(Engine::cpu()),
            BackendName::Cuda(devices) => {
                let is_one = devices.ordinals().nth(1).is_none();
                match is_one {
                    true => Engine::cuda(devices.first()),
                    false => Engine::cuda_devices(devices),
                }
            }
        };
        let engine = engine?;
        Ok(match tuning {
            Some(tuning) => engine.with_tuning(tuning),
            None => engine,
        })
    }

    /// Makes an engine for measurements and tests: `auto` waits for devices and kernels, and does
    /// not compute on the CPU meanwhile.
    ///
    /// # Errors
    /// As for [`BackendName::engine`].
    pub fn waiting_engine(self) -> Result<Engine, Failure> {
        let engine = self.engine()?;
        let mut tuning = engine.tuning().clone();
        tuning.start.driver_ms = 0.0;
        tuning.start.module_ms = 0.0;
        Ok(engine.with_tuning(tuning))
    }
}

/// Reads an algorithm's name.
pub fn algorithm_parser() -> impl TypedValueParser<Value = Algorithm> {
    let known = || {
        let choosing = [Algorithm::Auto, Algorithm::AutoVartime];
        choosing.into_iter().chain(Algorithm::NAMED)
    };
    PossibleValuesParser::new(known().map(Algorithm::name)).map(move |name| {
        let named = known().find(|algorithm| algorithm.name() == name);
        named.unwrap_or_default()
    })
}

/// Whether an algorithm's name says something of an operation.
pub fn binds(algorithm: Algorithm, operation: Operation) -> bool {
    match algorithm {
        Algorithm::AutoVartime => operation.has(Algorithm::WindowVartime),
        named => operation.has(named),
    }
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
