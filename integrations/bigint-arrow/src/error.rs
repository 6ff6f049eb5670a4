//! What can go wrong, and in which column and row.

use arrow_schema::{ArrowError, DataType};

/// An error of a conversion.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A type that holds no integers.
    #[error(
        "column {column:?} is of type {found}: integers are read from and written to Int, UInt, \
         Decimal of scale 0, FixedSizeBinary, Binary, Utf8, their views, and dictionaries of them"
    )]
    Type {
        /// The column's name.
        column: String,
        /// Its type.
        found: DataType,
    },
    /// A value that is no integer, or an integer that its type cannot hold.
    #[error("column {column:?}, row {row}: {what}")]
    Row {
        /// The column's name.
        column: String,
        /// The row, from 0.
        row: usize,
        /// What is wrong.
        what: String,
    },
    /// Columns of which one row is missing.
    #[error("columns of {a} and {b} rows do not go together")]
    Lengths {
        /// Rows of one.
        a: usize,
        /// Rows of the other.
        b: usize,
    },
    /// A column that a file does not have.
    #[error("there is no column {column:?}: the file has {}", .has.join(", "))]
    NoColumn {
        /// The name that was looked for.
        column: String,
        /// The names that there are.
        has: Vec<String>,
    },
    /// An error of Arrow.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// An error of the engine.
    #[error(transparent)]
    Engine(#[from] bigint_host::Error),
    /// An error of Parquet.
    #[cfg(feature = "files")]
    #[error(transparent)]
    Parquet(#[from] parquet::errors::ParquetError),
    /// A file that cannot be read or written.
    #[error(transparent)]
    File(#[from] std::io::Error),
}
