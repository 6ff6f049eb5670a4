//! What the program writes: results and tables on standard output, all else on standard error.

use std::fmt;
use std::io::{self, Write};

use super::Failure;

/// Writes a line on standard error, if it can be written.
macro_rules! note {
    ($($text:tt)*) => {
        $crate::program::output::tell(format_args!($($text)*))
    };
}
pub(crate) use note;

/// Writes a line on standard error, if it can be written.
pub fn tell(text: fmt::Arguments<'_>) {
    // One write, as other programs may write there too.
    let line = format!("{text}\n");
    let _ = io::stderr().write_all(line.as_bytes());
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
