//! What the CPU does: a task on limbs that the host has, by `bigint-cpu`, on all cores.
//!
//! [`job`] computes one operation, [`program`] a chain of sums and products, block by block.

pub(crate) mod job;
mod program;
