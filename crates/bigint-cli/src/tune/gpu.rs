//! The thresholds of a GPU: jobs whose times the table gives, measured on this machine's.

use std::time::Duration;

use bigint_core::{LIMB_BITS, Operation};
use bigint_host::{Case, Engine, Error, Extent, Provenance, Tuning};

use crate::backend::{BackendName, operation};
use crate::bench::sample::{Times, arranged, operand, time};
use crate::failure::Failure;
use crate::hardware::Hardware;
use crate::progress::Progress;
use crate::table;

/// The time that a job takes at most, about.
const LIMIT: Duration = Duration::from_secs(2);

/// What is measured of a GPU.
#[derive(Debug, clap::Args)]
pub struct Effort {
    /// The widest numbers to measure, on a GPU; wider ones keep their modelled times
    #[arg(long, value_name = "BITS")]
    widest: Option<usize>,

    /// The operations to measure, on a GPU; others keep their modelled times
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = operation,
        default_value = "mul,square,gcd,pow_mod")]
    operations: Vec<Operation>,

    /// The most numbers in a batch, on a GPU; by default as many as leave its cache
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,

    /// Samples of each measurement, on a GPU
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
}

/// Measures the table of a device. The text is of the times, beside those of the table that ships with the
/// program.
///
/// # Errors
/// [`Failure::Running`] where the engine fails.
pub fn measure(
    backend: BackendName,
    arguments: &Effort,
    date: &str,
) -> Result<(Tuning, String), Failure> {
    let engine = backend.waiting_engine()?;
    let facts = engine.facts().ok_or_else(|| {
        Failure::Running("the driver does not tell how fast the device is".to_owned())
    })?;
    let shipped = Tuning::default();
    let extent = Extent {
        bits: arguments.widest.unwrap_or(usize::MAX),
        count: arguments.count.map_or(usize::MAX, |count| count as usize),
    };
    let mut cases = shipped.cases(&facts, extent);
    cases.retain(|case| arguments.operations.contains(&case.operation));
    let mut progress = Progress::of_cases(cases.len() as u64);
    let mut measured = Vec::new();
    for case in cases {
        progress.message(case.operation.name());
        let times = once(&engine, &case, arguments.samples)?;
        measured.push((case, times));
        progress.set(measured.len() as u64);
    }
    drop(progress);
    let table = tabulate(&measured, shipped.device == Some(facts));
    let measured: Vec<_> = measured
        .into_iter()
        .map(|(case, times)| (case, times.median))
        .collect();
    let devices = Hardware::detect().cuda;
    let device = match backend {
        BackendName::Cuda(devices) => devices.first(),
        _ => 0,
    };
    let machine = devices.get(device).map(|device| device.name.clone());
    let provenance = Provenance {
        machine: machine.unwrap_or_else(|| facts.to_string()),
        date: date.to_owned(),
        how: "bigint tune --backend cuda: products, powers and common divisors; all else as in the table \
              that ships"
            .to_owned(),
    };
    Ok((shipped.measured(facts, provenance, &measured)?, table))
}

/// The times of a job, for one of its numbers.
fn once(engine: &Engine, case: &Case, samples: u32) -> Result<Times, Error> {
    let engine = engine.using(case.options);
    let (bits, count) = (case.limbs * LIMB_BITS, case.count);
    let greater = operand(&engine, bits, count, 1, true)?;
    let other = operand(&engine, bits, count, 0, false)?;
    let operands = arranged(case.operation, &greater, [&other, &other]);
    let compute = || engine.compute(case.operation, bigint_host::Form::Exact, &operands);
    let times = Times::of(samples, LIMIT, |repeats| time(&engine, repeats, compute))?;
    Ok(times.each(count))
}

/// The measured times beside those of the table that ships, which another GPU has by a model.
fn tabulate(measured: &[(Case, Times)], is_same: bool) -> String {
    let other = if is_same { "as shipped" } else { "modelled" };
    let mut table = table::new([
        "job", "numbers", "ns each", "least", "greatest", other, "ratio",
    ]);
    for (case, times) in measured {
        let given = case.nanoseconds;
        let given_text = given.map_or_else(String::new, |given| format!("{given:.4}"));
        let ratio = given.map_or_else(String::new, |given| format!("{:.2}", times.median / given));
        table.add_row([
            case.name(),
            case.count.to_string(),
            format!("{:.4}", times.median),
            format!("{:.4}", times.least),
            format!("{:.4}", times.greatest),
            given_text,
            ratio,
        ]);
    }
    format!("{table}\n")
}
