//! One conformance suite for every back end.
//!
//! [`run`] takes an engine and compares what it computes, operation by operation,
//! form by form and choice by choice (algorithm, level, lanes), with num-bigint;
//! [`run_against`] with another library.
//! The operands are adversarial ([`operands`]); widths, layouts and batch lengths
//! walk through lists made of the boundaries ([`trial`]). Equal seeds give equal
//! cases on every machine.

mod failing;
pub mod operands;
pub mod oracle;
#[cfg(feature = "simulator")]
pub mod simulator;
mod suite;
pub mod trial;

use std::collections::BTreeSet;

/// `long` where the environment variable `BIGINT_SWEEPS` is set, as `.ci/run` sets it; else
/// `short`, which keeps `cargo test --workspace` to a few minutes.
pub fn sweep<T>(short: T, long: T) -> T {
    match std::env::var_os("BIGINT_SWEEPS") {
        Some(value) if !value.is_empty() => long,
        _ => short,
    }
}

/// `all` where `BIGINT_SWEEPS` is `all`, which takes long; else what [`sweep`] chooses.
pub fn sweep_all<T>(short: T, long: T, all: T) -> T {
    match std::env::var("BIGINT_SWEEPS").as_deref() {
        Ok("all") => all,
        _ => sweep(short, long),
    }
}

/// Which requests for memory of a program a test has fail, one after another: in sweeps the first of
/// every sixtieth stack of calls that asks for memory (of each where `BIGINT_SWEEPS` is `all`), and the
/// last ones; else some, further and further apart.
pub fn failing_requests(told: &Told) -> BTreeSet<u64> {
    let all = told.requests;
    let apart = std::iter::successors(Some(2), |at| Some(6 * at));
    let short = apart.take_while(|&at| at <= all);
    let short = short.chain([1, all.saturating_sub(3).max(1)]).collect();
    let last = all.saturating_sub(20).max(1)..=all;
    let firsts = told.firsts.iter().copied();
    let firsts = firsts.step_by(sweep_all(60, 60, 1));
    sweep(short, firsts.chain(last).collect())
}

pub use failing::{Failing, Told};
pub use suite::{Extent, Failure, Mismatch, Oracle, Report, Tally, run, run_against};
