//! Thresholds: measured data in files, and their reader.
//!
//! Every table names its machine, its date and how it was measured. `gpu.rs` is the form of the
//! table of a GPU's kernels: one file a machine stands in `tuning/` beside the sources, the one
//! that ships is built in, and users may read another. `cpu.rs` is the table of the CPU's
//! algorithms. `bigint tune` measures both. `model.rs` says what a GPU's table is on another GPU. What follows from the thresholds is `plan`'s.

pub(crate) mod cpu;
pub(crate) mod decimals;
pub(crate) mod gpu;
pub(crate) mod model;

pub use cpu::CpuTuning;
pub use gpu::{
    AddTuning, CoreTuning, DevicesTuning, FewTuning, FusedTuning, LanesTuning, LimbwiseTuning,
    MersenneTuning, ModularTuning, MulTuning, Provenance, RnsTuning, ScanTuning, StartTuning,
    Tuning,
};

use crate::Error;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The length in bytes from which on a file is not read: thresholds take less than 4 KiB.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a file of thresholds.
fn read_file(path: &Path) -> Result<String, Error> {
    read_to_string(path).map_err(|error| refused(path.display(), error))
}

/// Reads an ordinary file. A pipe would be waited for, and a device may never end.
fn read_to_string(path: &Path) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not an ordinary file"));
    }
    let mut text = String::new();
    let file = File::open(path)?;
    if file.take(MOST_BYTES).read_to_string(&mut text)? as u64 == MOST_BYTES {
        return Err(io::Error::other("it is too long to be one"));
    }
    Ok(text)
}

/// Reads thresholds from the text of a file; an error names file, line and column.
fn parse<T: DeserializeOwned>(text: &str, path: &str) -> Result<T, Error> {
    toml::from_str(text).map_err(|error| refused(path, error))
}

/// The error for a file.
pub(crate) fn refused(path: impl Display, message: impl Display) -> Error {
    Error::Tuning {
        path: path.to_string(),
        message: message.to_string().trim_end().to_owned(),
    }
}
