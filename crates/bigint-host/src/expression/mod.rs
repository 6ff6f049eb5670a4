//! Expressions: what is to be computed, before it is.

mod formula;
mod function;

pub(crate) use formula::Term;
pub use formula::{Formula, Misplaced, Part, Terms};
pub use function::Function;
