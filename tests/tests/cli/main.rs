//! The command, from outside: its contracts with users and their scripts.

mod bad_input;
mod calc;
mod columns;
mod commands;
mod common;
mod functions;
#[cfg(target_os = "linux")]
mod memory;
mod output;
mod papers;
mod rows;
mod rsa_moduli;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod simulated_gpu;
mod sources;
#[path = "../../../crates/cuda-sim-driver/tests/support/mod.rs"]
mod support;
#[cfg(target_os = "linux")]
mod threads;
