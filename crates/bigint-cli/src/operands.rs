//! The inputs of formulas: columns of files, and single numbers for all lines.

use bigint_host::Integers;
use bigint_host::expression::Formulas;

use crate::failure::SourcePlace;

/// The origin of an input.
#[derive(Clone, Debug)]
pub enum Origin {
    /// One number that stands for all lines, and where it is written.
    Constant(Integers, SourcePlace),
    /// A column of numbers, one for each line: the index of the column.
    Column(usize),
}

/// Formulas and their inputs.
#[derive(Debug)]
pub struct Operands {
    /// The formulas.
    pub formulas: Formulas,
    /// The origin of each input.
    pub origins: Vec<Origin>,
}
