//! One conformance suite for every back end.
//!
//! [`run`] takes an engine and compares what it computes, operation by operation,
//! form by form and choice by choice (algorithm, level, lanes), with num-bigint;
//! [`run_against`] with another library.
//! The operands are adversarial ([`operands`]); widths, layouts and batch lengths
//! walk through lists made of the boundaries ([`trial`]). Equal seeds give equal
//! cases on every machine.

pub mod operands;
pub mod oracle;
mod suite;
pub mod trial;

/// `long` where the environment variable `BIGINT_SWEEPS` is set, as `.ci/run` sets it; else
/// `short`, which keeps `cargo test --workspace` to a few minutes.
pub fn sweep<T>(short: T, long: T) -> T {
    match std::env::var_os("BIGINT_SWEEPS") {
        Some(value) if !value.is_empty() => long,
        _ => short,
    }
}

pub use suite::{Extent, Failure, Mismatch, Oracle, Report, Tally, run, run_against};
