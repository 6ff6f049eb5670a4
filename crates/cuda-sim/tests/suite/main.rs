//! The simulator's tests on PTX.

mod approximate;
mod bits;
mod carry;
mod cluster;
mod common;
mod control;
mod copies;
mod exact;
mod faults;
mod float;
mod forms;
mod half;
mod integer;
mod matrix;
mod memory;
mod operands;
mod order;
mod robust;
mod rustc;
mod schedule;
mod system;
mod trace;
mod undefined;
mod warp;
