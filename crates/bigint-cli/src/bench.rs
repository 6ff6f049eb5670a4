//! `bigint bench`: how fast this machine is, on one back end.

use std::time::{Duration, Instant};

use bigint_core::{Algorithm, LIMB_BITS, Layout, Limb, Operation, Shape};
use bigint_host::{Batch, Engine, Error};
use serde::Serialize;

use crate::backend::{BackendName, algorithm_parser};
use crate::failure::Failure;
use crate::hardware::Hardware;
use crate::output;
use crate::table;

/// Limbs in the two operands and the result of one batch, about.
const BATCH_LIMBS: usize = 1 << 24;

/// A sample is as many operations as take this long, so that a clock and a
/// launch do not show.
const SAMPLE: Duration = Duration::from_millis(5);

/// Measure operations over widths, on batches that stay where they are computed
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Who is measured: auto, cpu, cuda or cuda:N
    #[arg(long, default_value_t, value_name = "BACKEND")]
    backend: BackendName,

    /// What is measured
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = operation,
        default_value = "add,mul")]
    operations: Vec<Operation>,

    /// Widths of both operands, in bits
    #[arg(long, value_delimiter = ',', value_name = "BITS", value_parser = width,
        default_value = "32,64,128,256,512,1024,2048,4096,8192,16384,32768")]
    widths: Vec<usize>,

    /// Numbers in a batch; by default as many as fill 64 MiB
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,

    /// Samples of each measurement
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,

    /// Force an algorithm where the operation has it
    #[arg(long, default_value = "auto", value_name = "NAME", value_parser = algorithm_parser())]
    algorithm: Algorithm,

    /// Print JSON in place of a table
    #[arg(long)]
    json: bool,
}

fn operation(name: &str) -> Result<Operation, String> {
    let found = Operation::ALL
        .iter()
        .find(|operation| operation.name() == name);
    found
        .copied()
        .ok_or_else(|| "expected add, sub or mul".to_owned())
}

fn width(bits: &str) -> Result<usize, String> {
    let bits: usize = bits.parse().map_err(|error| format!("{error}"))?;
    if bits == 0 || bits > bigint_core::MAX_WIDTH * LIMB_BITS / 2 {
        return Err("no such width".to_owned());
    }
    Ok(bits)
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Record {
    version: &'static str,
    hardware: Hardware,
    rows: Vec<Row>,
}

/// One measurement. Times are for one number of the batch, in nanoseconds.
#[derive(Clone, Debug, Serialize)]
struct Row {
    operation: &'static str,
    algorithm: &'static str,
    back_end: String,
    bits: usize,
    count: usize,
    samples: usize,
    median_ns: f64,
    least_ns: f64,
    greatest_ns: f64,
    /// Limbs read and written, in bytes per nanosecond.
    gigabytes_per_second: f64,
    /// For products: 32x32->64 multiply-adds of the schoolbook method.
    giga_multiply_adds_per_second: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Running`] where the engine fails.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let engine = arguments.backend.engine()?.using(arguments.algorithm);
    let mut rows = Vec::new();
    for &operation in &arguments.operations {
        for &bits in &arguments.widths {
            let row = measure(&engine, arguments, operation, bits);
            rows.push(row.map_err(|error| Failure::Running(error.to_string()))?);
        }
    }
    for warning in engine.warnings() {
        eprintln!("warning: {warning}");
    }
    let text = if arguments.json {
        let record = Record {
            version: env!("CARGO_PKG_VERSION"),
            hardware: Hardware::detect(),
            rows,
        };
        let text = serde_json::to_string_pretty(&record);
        text.map_err(|error| Failure::Running(error.to_string()))? + "\n"
    } else {
        tabulate(&rows)
    };
    output::print(&text)
}

fn measure(
    engine: &Engine,
    arguments: &Arguments,
    operation: Operation,
    bits: usize,
) -> Result<Row, Error> {
    let width = bits.div_ceil(LIMB_BITS);
    let limbs = 2 * width + operation.exact_width(width, width);
    let count = arguments
        .count
        .map_or((BATCH_LIMBS / limbs).max(1), |n| n as usize);
    // Greater first, so that exact differences exist.
    let a = operand(engine, bits, count, true)?;
    let b = operand(engine, bits, count, false)?;
    let once = || match operation {
        Operation::Add => engine.add(&a, &b),
        Operation::Sub => engine.sub(&a, &b),
        Operation::Mul => engine.mul(&a, &b),
    };
    let probe = engine.batch_from_limbs(vec![1], Shape::new(1, 1, Layout::Contiguous))?;
    let sample = |repeats: u32| {
        let started = Instant::now();
        for _ in 0..repeats {
            once()?;
        }
        // Work on a device is in order: when this answer is here, so is all else.
        engine.add(&probe, &probe)?.rows()?;
        Ok::<_, Error>(started.elapsed())
    };
    let back_end = once()?.location().to_string();
    let mut repeats = 1;
    while sample(repeats)? < SAMPLE && repeats < 1 << 20 {
        repeats *= 2;
    }
    let mut times = Vec::new();
    for _ in 0..arguments.samples {
        let operations = f64::from(repeats) * count as f64;
        times.push(sample(repeats)?.as_secs_f64() * 1e9 / operations);
    }
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    let is_product = operation == Operation::Mul;
    Ok(Row {
        operation: operation.name(),
        algorithm: arguments.algorithm.name(),
        back_end,
        bits,
        count,
        samples: times.len(),
        median_ns: median,
        least_ns: times[0],
        greatest_ns: times[times.len() - 1],
        gigabytes_per_second: (limbs * size_of::<Limb>()) as f64 / median,
        giga_multiply_adds_per_second: is_product.then(|| (width * width) as f64 / median),
    })
}

/// Numbers of exactly `bits` bits, or of one less.
fn operand(engine: &Engine, bits: usize, count: usize, top: bool) -> Result<Batch, Error> {
    let width = bits.div_ceil(LIMB_BITS);
    let shape = Shape::new(count, width, Layout::Contiguous);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 + u64::from(top);
    let mut random = || {
        // SplitMix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 32) as Limb
    };
    let mut limbs: Vec<Limb> = (0..shape.limbs()).map(|_| random()).collect();
    let top_bit = 1 << ((bits - 1) % LIMB_BITS);
    for row in limbs.chunks_exact_mut(width) {
        let limb = &mut row[width - 1];
        *limb &= top_bit - 1;
        if top {
            *limb |= top_bit;
        }
    }
    engine.batch_from_limbs(limbs, shape)
}

fn tabulate(rows: &[Row]) -> String {
    let header = [
        "operation",
        "bits",
        "numbers",
        "back end",
        "ns each",
        "least",
        "greatest",
        "GB/s",
        "Gmad/s",
    ];
    let mut table = table::new(header);
    for row in rows {
        table.add_row([
            row.operation.to_owned(),
            row.bits.to_string(),
            row.count.to_string(),
            row.back_end.clone(),
            format!("{:.2}", row.median_ns),
            format!("{:.2}", row.least_ns),
            format!("{:.2}", row.greatest_ns),
            format!("{:.2}", row.gigabytes_per_second),
            row.giga_multiply_adds_per_second
                .map_or_else(String::new, |rate| format!("{rate:.2}")),
        ]);
    }
    format!("{table}\n")
}
