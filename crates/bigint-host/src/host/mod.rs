//! What the CPU does: a task on limbs that the host has, by `bigint-cpu`, on all cores.

pub(crate) mod on_host;
