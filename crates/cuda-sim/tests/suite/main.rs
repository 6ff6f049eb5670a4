//! The simulator's tests on PTX.

mod common;
mod control;
mod faults;
mod float;
mod integer;
mod memory;
mod rustc;
mod warp;
