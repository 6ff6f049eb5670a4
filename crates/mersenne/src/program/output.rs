//! What the program writes: results and tables on standard output, all else on standard error, and
//! what matters later in a log.

use std::cell::RefCell;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use super::Failure;

/// Writes a line on standard error and in the log, if it can be written.
macro_rules! note {
    ($($text:tt)*) => {
        $crate::program::output::tell(format_args!($($text)*), true, true)
    };
}

/// Writes a line on standard error alone.
macro_rules! show {
    ($($text:tt)*) => {
        $crate::program::output::tell(format_args!($($text)*), true, false)
    };
}

/// Writes a line in the log alone.
macro_rules! log {
    ($($text:tt)*) => {
        $crate::program::output::tell(format_args!($($text)*), false, true)
    };
}
pub(crate) use {log, note, show};

thread_local! {
    /// The log of this thread's worker.
    static LOG: RefCell<Option<File>> = const { RefCell::new(None) };
}

/// Writes this thread's lines into a log, if there can be one.
pub fn log_to(path: &Path) {
    let file = File::options().append(true).create(true).open(path);
    if let Err(error) = &file {
        note!("warning: {}: {error}; there is no log", path.display());
    }
    LOG.set(file.ok());
}

/// Writes a line on standard error and in the log, as far as it can be written.
pub fn tell(text: fmt::Arguments<'_>, is_shown: bool, is_logged: bool) {
    // One write each, as others may write there too.
    if is_shown {
        let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
    }
    if is_logged {
        LOG.with_borrow_mut(|log| {
            let log = log.as_mut()?;
            let now = humantime::format_rfc3339_seconds(SystemTime::now());
            log.write_all(format!("{now} {text}\n").as_bytes()).ok()
        });
    }
}

/// Writes a line on standard output.
///
/// # Errors
/// [`Failure::ReaderGone`], or [`Failure::Running`] with the system's error.
pub fn print(line: &str) -> Result<(), Failure> {
    let line = format!("{line}\n");
    let mut stdout = io::stdout().lock();
    let written = match at_start::stdout_is_closed() {
        true => Err(io::Error::other("it was closed when the program started")),
        false => stdout.write_all(line.as_bytes()),
    };
    let written = written.and_then(|()| stdout.flush());
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::ReaderGone,
        _ => Failure::Running(format!("standard output: cannot write: {error}")),
    })
}

#[cfg(unix)]
mod at_start {
    use std::sync::atomic::{AtomicBool, Ordering};

    static IS_CLOSED: AtomicBool = AtomicBool::new(false);

    // Before `main` the runtime opens /dev/null in place of each standard stream that is closed,
    // where output is lost without an error.
    ctor::declarative::ctor! {
        // Sound: a call of the system that needs nothing of the runtime.
        #[ctor(unsafe)]
        fn look() {
            let flags = rustix::io::fcntl_getfd(rustix::stdio::stdout());
            IS_CLOSED.store(flags.is_err(), Ordering::Relaxed);
        }
    }

    pub fn stdout_is_closed() -> bool {
        IS_CLOSED.load(Ordering::Relaxed)
    }
}

#[cfg(not(unix))]
mod at_start {
    pub fn stdout_is_closed() -> bool {
        false
    }
}
