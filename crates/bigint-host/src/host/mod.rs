//! The work of the CPU: tasks on limbs in host memory, by `bigint-cpu`, on all cores.
//!
//! [`job`] computes one operation, [`program`] a chain of sums and products, block by block.

pub(crate) mod job;
mod program;
