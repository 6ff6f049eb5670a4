//! From formulas to operations on batches: sizes, order, and what is kept how long.

mod cost;
mod evaluate;
mod grouping;

pub use cost::{Cost, Extent};
pub use evaluate::{Evaluator, Tallies, Tally};
pub use grouping::Grouping;
