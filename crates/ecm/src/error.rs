//! What can go wrong.

use std::path::PathBuf;

use bigint_host::advanced::DeviceErrorKind;

/// Why something was not computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine's.
    #[error(transparent)]
    Engine(#[from] bigint_host::Error),
    /// The CPU's.
    #[error(transparent)]
    Cpu(#[from] bigint_cpu::Error),
    /// An expression that is none.
    #[error("column {column}: {what}")]
    Expression {
        /// Where, in characters from 1.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// A line of a save file that cannot be used.
    #[error("{0}")]
    Line(String),
    /// A file.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A checkpoint of something else, or one that is damaged.
    #[error("{}: {what}: remove it, or name another file", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

impl Error {
    /// Whether a device has no memory left: fewer numbers at a time may do.
    pub(crate) fn is_devices_memory(&self) -> bool {
        let Error::Engine(bigint_host::Error::Device(error)) = self else {
            return false;
        };
        matches!(error.kind, DeviceErrorKind::OutOfMemory { .. })
    }
}
