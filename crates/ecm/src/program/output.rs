//! What the program writes.

use std::io::{self, Write};

use super::Failure;

/// Writes a line on standard error, if it can be written.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write;
        // One write, as others may write there too.
        let _ = std::io::stderr().write_all(format!("{}\n", format_args!($($text)*)).as_bytes());
    }};
}
pub(crate) use say;

/// Writes a line on standard output, at once.
pub fn print(line: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(format!("{line}\n").as_bytes());
    written
        .and_then(|()| stdout.flush())
        .map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::Running(format!("standard output: {error}")),
        })
}
