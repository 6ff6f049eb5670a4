//! What can go wrong.

use std::path::{Path, PathBuf};

/// Why no logarithm was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine's.
    #[error(transparent)]
    Engine(#[from] bigint_host::Error),
    /// A problem that is none: a point that is not on the curve, an order that is not the point's.
    #[error("{0}")]
    Problem(String),
    /// Walks that a machine cannot take.
    #[error("{0}")]
    Walks(String),
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
        /// What is wrong.
        what: String,
    },
    /// A machine that computed wrong.
    #[error("{0}: what this machine computes is not right")]
    Wrong(String),
}

impl Error {
    pub(crate) fn file(path: &Path, source: std::io::Error) -> Self {
        Error::File {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn checkpoint(path: &Path, what: impl Into<String>) -> Self {
        Error::Checkpoint {
            path: path.to_owned(),
            what: what.into(),
        }
    }
}
