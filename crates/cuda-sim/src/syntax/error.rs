//! Places in a PTX source, and what is wrong there.

/// The position of a token, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Position {
    pub line: u32,
    pub column: u32,
}

/// What is wrong with a PTX source, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("PTX line {line}, column {column}: {message}")]
pub struct ParseError {
    /// Line, counted from 1.
    pub line: u32,
    /// Column in bytes, counted from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// Whether the source may well be right: a form that the simulator does not know.
    pub(crate) unknown: bool,
}

impl ParseError {
    pub(crate) fn at(position: Position, message: impl Into<String>) -> Self {
        ParseError {
            line: position.line,
            column: position.column,
            message: message.into(),
            unknown: false,
        }
    }

    /// A form that may be right, but that the simulator does not know.
    pub(crate) fn unknown(position: Position, message: impl Into<String>) -> Self {
        ParseError {
            unknown: true,
            ..ParseError::at(position, message)
        }
    }
}
