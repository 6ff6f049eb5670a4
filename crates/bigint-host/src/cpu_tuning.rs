//! Thresholds of the CPU back end: measured on the user's machine, kept in a file.

use crate::{Error, Provenance};
use bigint_cpu::Cpu;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Where one algorithm of the CPU back end takes over from another, and on which
/// machine that was found.
///
/// ```no_run
/// use bigint_host::CpuTuning;
/// # use std::path::Path;
/// let file = Path::new("cpu.toml");
/// CpuTuning::measure("this machine", "2026-11-20")?.write(file)?;
/// CpuTuning::read(file)?.install()?; // before the first batch is computed
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CpuTuning {
    /// Where the thresholds come from.
    pub provenance: Provenance,
    /// The thresholds.
    pub thresholds: bigint_cpu::Tuning,
}

impl CpuTuning {
    /// Measures this machine's thresholds on the path it would use. Takes seconds,
    /// and wants the machine for itself.
    ///
    /// # Errors
    /// [`Error::Cpu`] where the path cannot run.
    pub fn measure(machine: &str, date: &str) -> Result<Self, Error> {
        let path = Cpu::detect().path();
        Ok(CpuTuning {
            provenance: Provenance {
                machine: machine.to_owned(),
                date: date.to_owned(),
                how: format!("measured on the path {}", path.name()),
            },
            thresholds: bigint_cpu::tune(path)?,
        })
    }

    /// Reads a file that [`CpuTuning::write`] wrote.
    ///
    /// # Errors
    /// [`Error::Tuning`] with the file, and the line and column where it is wrong.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| refused(path, &error))?;
        toml::from_str(&text).map_err(|error| refused(path, &error))
    }

    /// Writes a file, over the one that may be there, and the folders to it.
    ///
    /// # Errors
    /// [`Error::Tuning`] where that is not possible.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = toml::to_string_pretty(self).map_err(|error| refused(path, &error))?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| refused(path, &error))?;
        }
        std::fs::write(path, text).map_err(|error| refused(path, &error))
    }

    /// Makes every engine of this process compute by these thresholds.
    ///
    /// # Errors
    /// [`Error::TuningInUse`] once something has been computed: thresholds are
    /// chosen once, at the start.
    pub fn install(self) -> Result<(), Error> {
        let cpu = Cpu::detect().with_tuning(self.thresholds);
        cpu.install().map_err(|_| Error::TuningInUse)
    }
}

fn refused(path: &Path, error: &dyn std::error::Error) -> Error {
    Error::Tuning {
        path: path.display().to_string(),
        message: error.to_string().trim_end().to_owned(),
    }
}
