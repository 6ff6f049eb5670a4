//! `bigint selftest`: the conformance suite on this machine.

use std::num::NonZeroUsize;

use bigint_core::Operation;
use bigint_host::Engine;
use bigint_testing::Extent;

use crate::backend::{BackendName, operation};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;

/// Compare a back end with num-bigint, case by case
///
/// Random and adversarial operands, every width, layout and algorithm. The first
/// wrong answer ends it, with all that is needed to see it again.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Who is tested: auto, cpu, cuda, cuda:N or cuda:N,M,...
    #[arg(long, default_value_t, value_name = "BACKEND")]
    backend: BackendName,

    /// Which operations; all where none is named
    #[arg(long, value_delimiter = ',', value_name = "NAME,...", value_parser = operation)]
    operations: Vec<Operation>,

    /// Pairs of numbers per operation, at least
    #[arg(long, default_value = "10000", value_name = "N")]
    cases: NonZeroUsize,

    /// Every width up to 32,768 bits in steps of 32 with every choice, however many pairs that are
    #[arg(long, conflicts_with = "cases")]
    every_width: bool,

    /// Where the sequence of cases starts
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
}

/// Runs the command. A line for each operation is printed when its cases are done.
///
/// # Errors
/// [`Failure::Running`] with the first wrong answer.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let engine = arguments.backend.waiting_engine()?;
    let outcome = arguments.compare(&engine);
    for warning in engine.warnings() {
        output::tell(format_args!("warning: {warning}"));
    }
    outcome
}

impl Arguments {
    fn compare(&self, engine: &Engine) -> Result<(), Failure> {
        let cases = self.cases.get();
        let operations = match &*self.operations {
            [] => &Operation::ALL,
            named => named,
        };
        let extent = match self.every_width {
            true => Extent::EveryWidth,
            false => Extent::Cases(cases),
        };
        let mut progress = Progress::of_cases((cases * operations.len()) as u64);
        for (index, &operation) in operations.iter().enumerate() {
            progress.message(operation.name());
            let report =
                bigint_testing::run(engine, &[operation], extent, self.seed, &mut |_, done| {
                    progress.set((index * cases + done) as u64)
                })
                .map_err(|failure| Failure::Running(failure.to_string()))?;
            for tally in &report.tallies {
                let line = format!(
                    "{} on {}: {} cases in {} batches agree with num-bigint\n",
                    operation.name(),
                    engine.back_end(),
                    tally.cases,
                    tally.batches
                );
                progress.aside(|| output::print(&line))?;
            }
        }
        Ok(())
    }
}
