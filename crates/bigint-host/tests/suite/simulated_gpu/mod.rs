//! The CUDA back end on the simulated driver: every kernel through `cust`, and every
//! failure that a GPU can have.
//!
//! Each test runs in a process of its own, because a process has one driver; the
//! driver ends it with an error if device memory, modules, streams or contexts are
//! left behind.

mod at_once;
mod capabilities;
mod chains;
mod conformance;
mod decimals;
mod euclid;
mod failures;
mod fork;
mod fused;
mod gather;
mod long;
mod modules;
mod pieces;
mod preconditions;
mod primes;
mod residue_systems;
mod secrets;
mod several;
mod start;
mod wide_moduli;
