//! Words that every room speaks: errors, back ends, options, jobs, and limbs in host memory.
//!
//! This room is at the bottom: it uses no other room of the crate.

pub(crate) mod back_end;
pub(crate) mod error;
pub(crate) mod job;
pub(crate) mod limbs;
pub(crate) mod options;
pub(crate) mod pool;
