//! `libcuda_sim_driver.so`: the CUDA driver API and the CUDA runtime API on the PTX simulator of
//! `cuda-sim`. See README.md for what is supported and what is not, and for the environment
//! variables.
//!
//! Each room knows only those named before it:
//!
//! - [`error`]: the codes that calls answer, and why; [`sync`]: locks;
//! - [`environment`]: the variables that shape the simulated machine, and the log;
//! - [`state`]: contexts, memory, modules, streams, events, pools and graphs;
//! - [`ffi`]: the entry points, by subject.

mod environment;
mod error;
mod ffi;
mod state;
mod sync;

#[cfg(test)]
mod tests;
