//! What the program says: results and tables on standard output, all else on standard error.

use std::fmt;
use std::io::{self, Write};

use super::Failure;

/// A line on standard error. Where nobody hears it, there is nobody to tell that.
macro_rules! note {
    ($($text:tt)*) => {
        $crate::program::output::tell(format_args!($($text)*))
    };
}
pub(crate) use note;

/// As the macro says.
pub fn tell(text: fmt::Arguments<'_>) {
    // One write, as others may write there too.
    let line = format!("{text}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}

/// A line on standard output.
///
/// # Errors
/// Where it cannot be written: [`Failure::ReaderGone`], or what the system says.
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

    // Before `main` the runtime opens /dev/null under each standard number that is free: what
    // is written there is lost without a word.
    ctor::declarative::ctor! {
        // Sound: it asks the system a question, and needs nothing of the runtime.
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
