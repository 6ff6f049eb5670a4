//! The conformance suite on the back ends that every machine has.

use bigint_host::{Engine, Operation};
use bigint_testing::trial::{ROUND, weight};
use bigint_testing::{Extent, sweep};
use std::thread;

/// Threads that share the operations, as most batches are too small for more than one.
const THREADS: usize = 2;

#[test]
fn every_operation_agrees_with_num_bigint_on_the_cpu() {
    let engine = Engine::cpu();
    thread::scope(|scope| {
        for first in 0..THREADS {
            let engine = &engine;
            scope.spawn(move || {
                for &operation in Operation::ALL.iter().skip(first).step_by(THREADS) {
                    check(engine, operation);
                }
            });
        }
    });
}

fn check(engine: &Engine, operation: Operation) {
    // Every width meets every algorithm; of the many several times.
    let most = sweep(2_000, 100_000);
    let cases = most / weight(operation);
    let extent = Extent::Cases(cases);
    let report = bigint_testing::run(engine, &[operation], extent, 1, &mut |_, _| {})
        .unwrap_or_else(|failure| panic!("{failure}"));
    let tally = &report.tallies[0];
    assert!(tally.cases >= cases);
    let pairings = ROUND * engine.choices(operation).len();
    assert!(tally.batches >= sweep(1, pairings));
}
