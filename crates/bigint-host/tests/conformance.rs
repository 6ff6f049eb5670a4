//! The conformance suite on the back ends that every machine has.

use bigint_host::{Engine, Operation};
use bigint_testing::trial::WIDTHS;

/// Enough that every width meets every algorithm several times.
const CASES: usize = 100_000;

#[test]
fn a_hundred_thousand_cases_of_every_operation_agree_on_the_cpu() {
    let engine = Engine::cpu();
    let report = bigint_testing::run(&engine, &Operation::ALL, CASES, 1, &mut |_, _| {})
        .unwrap_or_else(|failure| panic!("{failure}"));
    let operations: Vec<_> = report.tallies.iter().map(|t| t.operation).collect();
    assert_eq!(operations, Operation::ALL);
    for tally in report.tallies {
        assert!(tally.cases >= CASES);
        let pairings = WIDTHS.len() * engine.choices(tally.operation).len();
        assert!(tally.batches >= pairings);
    }
}
