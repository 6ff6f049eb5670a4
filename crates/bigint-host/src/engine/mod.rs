//! The engine: the devices that it has, its thresholds, and its memory.
//!
//! [`handle`] is what users clone and pass around; [`inner`] is what all clones and all batches of an
//! engine share. [`members`] are its devices with their shares of a batch, [`start`] opens them (for
//! the engine `auto` in the background) by the [`driver`] of this build, [`rehearsal`] has their
//! kernels compiled side by side, and [`ceilings`] measures what a device can do at most.

pub(crate) mod ceilings;
pub(crate) mod driver;
pub(crate) mod handle;
pub(crate) mod inner;
pub(crate) mod members;
pub(crate) mod rehearsal;
pub(crate) mod start;
