//! The inputs of formulas: which are columns of files, and which are numbers for all lines.

use bigint_host::Integers;
use bigint_host::expression::Formulas;

use crate::failure::SourcePlace;

/// What an input is.
#[derive(Clone, Debug)]
pub enum Origin {
    /// One number that stands for all, and where it is written.
    Constant(Integers, SourcePlace),
    /// One number for each line: file number `.0`.
    Column(usize),
}

/// Formulas and their inputs.
#[derive(Debug)]
pub struct Operands {
    /// What is computed.
    pub formulas: Formulas,
    /// What each of their inputs is.
    pub origins: Vec<Origin>,
}
