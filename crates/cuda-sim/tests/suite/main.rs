//! The simulator's tests on PTX.

mod common;
mod faults;
mod integer;
mod rustc;
