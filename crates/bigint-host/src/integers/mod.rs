//! Integers of any lengths: a column of them, and what is computed of whole columns and of lists.
//!
//! An engine computes batches, whose numbers all have one width; here numbers have the lengths that
//! they have. Rows of alike lengths are brought together as batches ([`rows`], [`bins`],
//! [`schedule`]), on a device sums of any lengths lie one behind the other ([`segments`]), and what
//! the CPU computes faster where the numbers lie is computed there ([`passing`], [`orders`],
//! [`short`], [`narrow`], [`total`], [`shifts`]). Nothing in the library calls this room but a user.

pub(crate) mod bins;
pub(crate) mod list;
pub(crate) mod narrow;
pub(crate) mod on_integers;
pub(crate) mod orders;
pub(crate) mod passing;
pub(crate) mod rationals;
pub(crate) mod rows;
pub(crate) mod schedule;
pub(crate) mod segments;
pub(crate) mod shifts;
pub(crate) mod short;
pub(crate) mod total;

use crate::expression::{Expression, Value};
use crate::{Engine, Error, Integers};

impl Value for Integers {
    fn evaluated(engine: &Engine, expression: &Expression<Self>) -> Result<Self, Error> {
        let (formula, columns) = expression.of_integers()?;
        engine.eval_rows(formula, &columns)
    }
}
