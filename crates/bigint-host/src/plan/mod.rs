//! The room that chooses what computes a job, and how.
//!
//! `compute` is the door: it takes a task from the operations. `choose` answers, from lengths and
//! thresholds alone, whether the CPU or devices compute it and by which launches, with the help of
//! `products` (transforms of long products), `newton` (those of Newton's steps) and `kernels` (one launch); `why` and `explain` put
//! the answer into words. `readiness` says whether devices are worth their start, `spread` gives
//! each its share and makes good what it cannot do, and `task` is what they are given. `cases` are the
//! jobs by which the thresholds of a GPU are measured.
//!
//! The room also shows in public what was computed of formulas, and what is to blame for an error.

pub(crate) mod cases;
pub(crate) mod choose;
pub(crate) mod compute;
pub(crate) mod explain;
mod kernels;
mod mersenne;
mod newton;
mod powers;
mod products;
pub(crate) mod readiness;
mod scans;
mod spread;
pub(crate) mod task;
#[cfg(test)]
mod tests;
pub(crate) mod whole_product;
pub(crate) mod why;
pub(crate) mod work;

pub(crate) use powers::is_chain;

pub use explain::{Explanation, Part};
pub use mersenne::mersenne_by_doubles;

pub use crate::expression::evaluate::{Blame, Tallies, Tally};
