//! The conformance suite on the back ends that every machine has.

use bigint_host::{Engine, Operation};
use bigint_testing::Extent;
use bigint_testing::trial::{WIDTHS, weight};

/// Enough that every width meets every algorithm several times.
const CASES: usize = 100_000;

#[test]
fn a_hundred_thousand_cases_of_every_operation_agree_on_the_cpu() {
    let engine = Engine::cpu();
    for operation in Operation::ALL {
        let cases = CASES / weight(operation);
        let extent = Extent::Cases(cases);
        let report = bigint_testing::run(&engine, &[operation], extent, 1, &mut |_, _| {})
            .unwrap_or_else(|failure| panic!("{failure}"));
        let tally = &report.tallies[0];
        assert!(tally.cases >= cases);
        let pairings = WIDTHS.len() * engine.choices(operation).len();
        assert!(tally.batches >= pairings);
    }
}
