//! The simulator's tests on PTX.

mod bits;
mod carry;
mod common;
mod control;
mod faults;
mod float;
mod forms;
mod integer;
mod memory;
mod operands;
mod robust;
mod rustc;
mod warp;
