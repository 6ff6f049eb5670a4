//! `libcuda_sim.so`: the CUDA driver API and the CUDA runtime API on the PTX simulator of
//! `cuda-sim`. What `cust`, cudarc, Numba, thrust and this project's host crate use of them
//! works; the rest says that it is not supported. See README.md for the environment
//! variables, for what is supported and what is not.
//!
//! - [`ffi`] has the entry points, by subject, and everything unsafe;
//! - [`driver`] the state they work on: devices, and tables of what handles name;
//! - [`context`], [`schedule`], [`stream`] the order of asynchronous work;
//! - [`memory`], [`pool`], [`copy`] who owns which addresses, and what moves between them;
//! - [`graph`] work that is remembered, to be run again;
//! - [`module`], [`library`], [`linker`], [`fatbin`] from images to functions;
//! - [`gpu`] what touches the simulator;
//! - [`environment`], [`faults`], [`failures`], [`leaks`], [`log`] what makes it a test
//!   bench.

mod context;
mod copy;
mod driver;
mod environment;
mod error;
mod failures;
mod fatbin;
mod faults;
mod ffi;
mod gpu;
mod graph;
mod handle;
mod launch;
mod leaks;
mod library;
mod linker;
mod log;
mod memory;
mod module;
mod pool;
mod schedule;
mod stream;
mod version;

#[cfg(test)]
mod tests;
