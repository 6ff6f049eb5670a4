//! From formulas to operations on batches: sizes, order, and what is kept how long.

pub(crate) mod choose;
mod cost;
mod evaluate;
mod grouping;
mod program;
mod segment;
pub(crate) mod work;

pub use cost::{Cost, Extent};
pub use evaluate::{Blame, Evaluator, Tallies, Tally, Totals};
pub use grouping::Grouping;
pub(crate) use grouping::{multiple_of, padded};
pub(crate) use program::Program;
