//! What can go wrong, and what to do about it.

use std::path::PathBuf;

/// Why a test cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no transform long enough.
    #[error(
        "no transform is long enough for 2^{p} - 1 with rounding errors below {limit}; \
         `--arithmetic exact` needs none"
    )]
    TooLong {
        /// The exponent.
        p: u32,
        /// The greatest error that is let pass.
        limit: f64,
    },
    /// The same stretch failed its check again and again.
    #[error(
        "the Gerbicz check failed {times} times between iterations {from} and {to}: \
         this machine does not compute reliably"
    )]
    Unstable {
        /// Failures in a row.
        times: u32,
        /// The last iteration known to be right.
        from: u32,
        /// Where the check failed.
        to: u32,
    },
    /// A device is not there, or failed.
    #[error(transparent)]
    Device(#[from] bigint_host::Error),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A save file is not one, or is damaged.
    #[error("{}: {what}", path.display())]
    Save {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}
