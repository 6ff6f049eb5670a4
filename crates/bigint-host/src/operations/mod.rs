//! Operations on batches, as methods of [`Engine`](crate::Engine): the first room that a call enters.
//!
//! [`forms`] has one method for each form of each operation that `bigint-core` declares; it fixes the
//! widths of the results and makes a [`Job`](crate::common::job::Job) of the call. The other files
//! make operations of these: of signed numbers, modulo numbers, powers, primes, reductions. None of
//! them knows who computes.

pub(crate) mod column;
pub(crate) mod cyclic;
pub(crate) mod decimals;
pub(crate) mod division;
pub(crate) mod divisor;
pub(crate) mod elementary;
pub(crate) mod euclid;
pub(crate) mod even_modulus;
pub(crate) mod fixed_base;
pub(crate) mod forms;
pub(crate) mod fractions;
pub(crate) mod into;
pub(crate) mod kernel;
pub(crate) mod newton;
pub(crate) mod power;
pub(crate) mod preconditions;
pub(crate) mod primes;
pub(crate) mod reduce;
pub(crate) mod residues;
mod shifts;
pub(crate) mod signed;
mod waiting;
