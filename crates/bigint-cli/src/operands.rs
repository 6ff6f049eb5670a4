//! The inputs of formulas: columns of files, and single numbers for all lines.

use bigint_host::Integers;
use bigint_host::expression::Formulas;

use crate::failure::SourcePlace;

/// The origin of an input.
#[derive(Clone, Debug)]
pub enum Origin {
    /// One number that stands for all lines, and where it is written.
    Constant(Integers, SourcePlace),
    /// A column of numbers, one for each line: the index of the column among those of all inputs.
    Column(usize),
}

/// Formulas and their inputs.
#[derive(Debug)]
pub struct Operands {
    /// The formulas.
    pub formulas: Formulas,
    /// The origin of each input.
    pub origins: Vec<Origin>,
    /// For each column, which one it is of those that the readers have, file by file.
    pub order: Vec<usize>,
}

impl Operands {
    /// What there is of each column of the readers, in the order of the inputs.
    pub fn in_order<T>(&self, of_readers: Vec<T>) -> Vec<T> {
        let mut rest: Vec<Option<T>> = of_readers.into_iter().map(Some).collect();
        let columns = self.order.iter();
        columns.filter_map(|&column| rest[column].take()).collect()
    }
}
