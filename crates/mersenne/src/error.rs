//! What can go wrong, and what to do about it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;

use crate::lock::Holder;

/// Why a test cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No transform is long enough for the exponent.
    #[error(
        "no transform is long enough for 2^{p} - 1 with rounding errors below {limit}; \
         `--arithmetic exact` needs none"
    )]
    TooLong {
        /// The exponent.
        p: u32,
        /// The rounding error above which a transform is too short.
        limit: f64,
    },
    /// The same iterations failed their check again and again.
    #[error(
        "the check failed {times} times between iterations {from} and {to}: \
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
    /// A device is missing, or failed.
    #[error(transparent)]
    Device(#[from] bigint_host::Error),
    /// The host lacks memory. The test can be taken up from its save file.
    #[error(transparent)]
    Memory(#[from] bigint_cpu::Error),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file is damaged, or is not a save file.
    #[error("{}: {what}", path.display())]
    Save {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Another process is at work on the same test.
    #[error("{}: {holder} is at work on this", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The process that holds it.
        holder: Holder,
    },
}

/// The result of `work`, or [`Error::Memory`] where it or a thread of it lacked memory.
pub(crate) fn or_out_of_memory<R>(work: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    // The caller gets an error, and makes no use of what `work` left half done.
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|panic| match panic.downcast::<bigint_cpu::Error>() {
        Ok(error) => Err(Error::Memory(*error)),
        Err(panic) => resume_unwind(panic),
    })
}
