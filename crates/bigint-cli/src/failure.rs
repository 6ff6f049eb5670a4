//! What can go wrong, and the exit code that says so.

use std::fmt;

/// A spot in an input: a file, a literal given on the command line, or the
/// expression itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The path as the user wrote it, or a name for what is no file.
    pub source: String,
    /// The line, counted from 1.
    pub line: u64,
    /// The column, counted from 1: in bytes, or for the expression in characters.
    pub column: u64,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.source, self.line, self.column)
    }
}

/// Why a command ended without its answer.
#[derive(Debug)]
pub enum Failure {
    /// The user asked for something that has no meaning. Exit code 2.
    Usage(String),
    /// The input is wrong at this place. Exit code 2.
    Input(SourcePlace, String),
    /// The work itself failed: no device, no space left. Exit code 1.
    Running(String),
    /// Whoever read our output has stopped reading, as `head` does. Not an
    /// error: exit code 0, nothing said.
    ReaderGone,
}

impl Failure {
    /// The exit code scripts rely on.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) | Failure::Input(..) => 2,
            Failure::Running(_) => 1,
            Failure::ReaderGone => 0,
        }
    }

    /// Wraps an error met while writing to `target`.
    pub fn writing(target: &str, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::Running(format!("{target}: cannot write: {error}")),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(what) | Failure::Running(what) => f.write_str(what),
            Failure::Input(place, what) => write!(f, "{place}: {what}"),
            Failure::ReaderGone => f.write_str("the reader of the output is gone"),
        }
    }
}

impl std::error::Error for Failure {}

impl<E: Into<bigint_host::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Running(error.into().to_string())
    }
}
