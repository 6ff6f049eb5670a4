//! The command, from outside: its contracts with users and their scripts.

#[cfg(target_os = "linux")]
mod allocations;
mod at_once;
mod bad_input;
mod batch_gcd;
mod calc;
mod columns;
mod commands;
mod common;
#[cfg(target_os = "linux")]
mod descriptors;
#[cfg(target_os = "linux")]
mod faults;
mod functions;
#[cfg(target_os = "linux")]
mod memory;
mod output;
mod papers;
#[cfg(feature = "arrow")]
mod parquet;
mod rows;
mod rsa_moduli;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod simulated_gpu;
mod sources;
mod tables;
#[cfg(target_os = "linux")]
mod threads;
