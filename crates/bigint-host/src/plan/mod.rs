//! Who computes a job, and how: the room that chooses.
//!
//! [`compute`] takes a job from the operations, [`readiness`] says whether the CPU or devices compute
//! it, and [`spread`] gives each device its share and makes good what a device cannot do.
//! [`task`] is what is given to them; [`work`] estimates how long it takes, [`transform_tuning`] chooses
//! among transforms of long products.
//!
//! In public the room also shows what formulas cost and how they are evaluated, row after row.

pub(crate) mod compute;
pub(crate) mod program;
pub(crate) mod readiness;
pub(crate) mod spread;
pub(crate) mod task;
mod transform_tuning;
pub(crate) mod whole_product;
pub(crate) mod work;

pub use crate::expression::cost::{Cost, Extent};
pub use crate::expression::evaluate::{Blame, Evaluator, Tallies, Tally, Totals};
pub use crate::expression::grouping::{Bin, Bins, Grouping, InBin};
