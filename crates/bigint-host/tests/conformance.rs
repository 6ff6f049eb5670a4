//! The conformance suite on the back ends that every machine has.

use bigint_host::{Engine, Operation};
use bigint_testing::trial::{WIDTHS, weight};
use bigint_testing::{Extent, sweep};

#[test]
fn every_operation_agrees_with_num_bigint_on_the_cpu() {
    let engine = Engine::cpu();
    // Every width meets every algorithm; of the many several times.
    let most = sweep(4_000, 100_000);
    for operation in Operation::ALL {
        let cases = most / weight(operation);
        let extent = Extent::Cases(cases);
        let report = bigint_testing::run(&engine, &[operation], extent, 1, &mut |_, _| {})
            .unwrap_or_else(|failure| panic!("{failure}"));
        let tally = &report.tallies[0];
        assert!(tally.cases >= cases);
        let pairings = WIDTHS.len() * engine.choices(operation).len();
        assert!(tally.batches >= sweep(1, pairings));
    }
}
