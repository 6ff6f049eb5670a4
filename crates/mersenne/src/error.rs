//! What can go wrong, and what to do about it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;

use crate::lock::Holder;

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
    /// The host has not the memory. What was at work is to be taken up from its save file.
    #[error(transparent)]
    Memory(#[from] bigint_cpu::Error),
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
    /// Another process has what is asked for.
    #[error(
        "{}: {holder} is at work on this", path.display()
    )]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// Who has it.
        holder: Holder,
    },
}

/// What `work` answers, if it and the threads that worked for it had their memory.
pub(crate) fn or_out_of_memory<R>(work: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    // What `work` leaves half done is of no use to the caller, whom the error tells.
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|panic| match panic.downcast::<bigint_cpu::Error>() {
        Ok(error) => Err(Error::Memory(*error)),
        Err(panic) => resume_unwind(panic),
    })
}
