//! What every room names: errors, options, what is computed ([`job`], [`program`]), limbs in host
//! memory, and the trait that
//! a device implements ([`device`]).
//!
//! This room is at the bottom: it uses no other room of the crate.

pub(crate) mod back_end;
pub(crate) mod device;
pub(crate) mod error;
pub(crate) mod facts;
pub(crate) mod job;
pub(crate) mod limbs;
pub(crate) mod notes;
pub(crate) mod options;
pub(crate) mod pool;
pub(crate) mod program;
pub(crate) mod reach;
pub(crate) mod threads;
