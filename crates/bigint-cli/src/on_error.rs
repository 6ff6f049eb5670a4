//! Rows without a value: what becomes of them, and how many there were.

use crate::failure::Failure;
use crate::output;

/// What becomes of a row that is no number, or that the expression has no value for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum OnError {
    /// It is told, and nothing is computed of the rows after it
    #[default]
    Stop,
    /// It is left out of the results, and counted
    Skip,
    /// Its result is an empty line, and it is counted
    Null,
}

/// Rows without a value.
#[derive(Debug, Default)]
pub struct Valueless {
    count: usize,
    first: Option<Failure>,
}

impl Valueless {
    /// Counts `count` more rows, of which `first` is the first.
    pub fn add(&mut self, count: usize, first: Failure) {
        self.count += count;
        self.first.get_or_insert(first);
    }

    /// Says on standard error how many there were.
    pub fn print(&self, on_error: OnError) {
        let Some(first) = &self.first else {
            return;
        };
        let rows = match (on_error, self.count) {
            (OnError::Null, 1) => "1 row has no value".to_owned(),
            (OnError::Null, count) => format!("{count} rows have no value"),
            (_, 1) => "1 row was left out".to_owned(),
            (_, count) => format!("{count} rows were left out"),
        };
        output::tell(format_args!("warning: {rows} (the first: {first})"));
    }
}
