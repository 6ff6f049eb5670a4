//! Trees of products, above the operations on batches: a level of nodes is a batch.
//!
//! [`product_tree`] multiplies many numbers, and finds what one number, or a sum of fractions, is
//! modulo each of them, of its [`leaves`], with the help of what [`slack`] tells of its [`levels`], not all of which need stay in memory. [`batch_gcd`] finds by it which numbers share factors, some of them at a
//! time, whose trees [`divisors`] are asked of and [`workers`] compute side by side; [`folder`] keeps what it has found; [`shared_factors`] takes such numbers apart.
//! [`evaluation`] has values of a polynomial at many points by it.
//! [`series`] sums fractions by such a tree, and [`constants`] has digits of constants by them.

pub(crate) mod batch_gcd;
pub(crate) mod constants;
mod divisors;
mod evaluation;
pub(crate) mod folder;
mod leaves;
mod levels;
pub(crate) mod product_tree;
pub(crate) mod series;
pub(crate) mod shared_factors;
mod slack;
mod workers;
