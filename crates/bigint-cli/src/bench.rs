//! `bigint bench`: how fast this machine is, on one back end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use bigint_core::kernel::WARP_LANES;
use bigint_core::{Algorithm, LIMB_BITS, Layout, Level, Limb, Operation, Shape};
use bigint_host::{BackEnd, Batch, Engine, Error, Options};
use serde::Serialize;

use crate::backend::{BackendName, algorithm_parser};
use crate::failure::Failure;
use crate::hardware::Hardware;
use crate::output;
use crate::progress::Progress;
use crate::table;

/// Bytes of the two operands and the result of one batch on the CPU, about.
const CPU_BATCH_BYTES: usize = 64 << 20;

/// The same on a device, as a part of its memory: many times its cache.
const DEVICE_BATCH_PART: usize = 128;

/// A sample is as many operations as take this long, so that a clock and a
/// launch do not show.
const SAMPLE: Duration = Duration::from_millis(5);

/// Measure operations over widths, on batches that stay where they are computed
///
/// On a GPU, the rates are also told as shares of the GPU's own, which are measured
/// first: of a copy's bytes, and of multiply-adds.
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

    /// Results as wide as the operands, in place of exact ones
    #[arg(long)]
    wrapping: bool,

    /// How operands and results lie in memory: contiguous or interleaved
    #[arg(long, value_name = "LAYOUT", value_parser = layout, default_value = "contiguous")]
    layout: Layout,

    /// Numbers in a batch; by default as many as fill 64 MiB, or a 128th of a GPU's memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,

    /// Samples of each measurement
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,

    /// Force an algorithm where the operation has it
    #[arg(long, default_value = "auto", value_name = "NAME", value_parser = algorithm_parser())]
    algorithm: Algorithm,

    /// Force who works on one number, on a GPU: thread or warp
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    level: Option<Level>,

    /// Force how many lanes of a warp share a number: 4, 8, 16 or 32
    #[arg(long, value_name = "N", value_parser = lanes)]
    lanes: Option<u32>,

    /// Measure every algorithm, level and number of lanes in turn
    #[arg(long, conflicts_with_all = ["algorithm", "level", "lanes"])]
    every_choice: bool,

    /// Print JSON in place of a table
    #[arg(long)]
    json: bool,
}

fn level(name: &str) -> Result<Level, String> {
    let found = Level::ALL.iter().find(|level| level.name() == name);
    found
        .copied()
        .ok_or_else(|| "expected thread or warp".to_owned())
}

fn lanes(number: &str) -> Result<u32, String> {
    let found = WARP_LANES.iter().find(|lanes| lanes.to_string() == number);
    found
        .copied()
        .ok_or_else(|| "expected 4, 8, 16 or 32".to_owned())
}

fn layout(name: &str) -> Result<Layout, String> {
    let found = Layout::ALL.iter().find(|layout| layout.name() == name);
    found
        .copied()
        .ok_or_else(|| "expected contiguous or interleaved".to_owned())
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
    date: String,
    hardware: Hardware,
    /// Hash of each module of the kernels' PTX.
    ptx: BTreeMap<String, String>,
    ceilings: Option<Ceilings>,
    rows: Vec<Row>,
}

/// What the device can do at most, measured in the same run.
#[derive(Clone, Copy, Debug, Serialize)]
struct Ceilings {
    copy_gigabytes_per_second: f64,
    giga_multiply_adds_per_second: f64,
}

/// One measurement. Times are for one number of the batch, in nanoseconds.
#[derive(Clone, Debug, Serialize)]
struct Row {
    operation: &'static str,
    is_wrapping: bool,
    layout: &'static str,
    algorithm: &'static str,
    level: Option<&'static str>,
    lanes: Option<u32>,
    back_end: String,
    bits: usize,
    count: usize,
    samples: usize,
    median_ns: f64,
    least_ns: f64,
    greatest_ns: f64,
    /// Limbs read and written, in bytes per nanosecond.
    gigabytes_per_second: f64,
    /// For exact products: 32x32->64 multiply-adds of the schoolbook method.
    giga_multiply_adds_per_second: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Running`] where the engine fails.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let engine = arguments.backend.engine()?;
    let hardware = Hardware::detect();
    let bytes = match engine.back_end() {
        BackEnd::Cpu => CPU_BATCH_BYTES,
        // The list is made anew, and a device that has failed since is not on it.
        BackEnd::Cuda(ordinal) => hardware
            .cuda
            .get(ordinal)
            .map_or(CPU_BATCH_BYTES, |device| {
                device.memory_bytes / DEVICE_BATCH_PART
            }),
    };
    let measured =
        measure_all(&engine, arguments, bytes).map_err(|error| Failure::Running(error.to_string()));
    for warning in engine.warnings() {
        eprintln!("warning: {warning}");
    }
    let (ceilings, rows) = measured?;
    let text = if arguments.json {
        let record = Record {
            version: env!("CARGO_PKG_VERSION"),
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            hardware,
            ptx: bigint_host::ptx_hashes(),
            ceilings,
            rows,
        };
        let text = serde_json::to_string_pretty(&record);
        text.map_err(|error| Failure::Running(error.to_string()))? + "\n"
    } else {
        tabulate(&rows, ceilings)
    };
    output::print(&text)
}

/// Every row that was asked for, and the ceilings of a device.
fn measure_all(
    engine: &Engine,
    arguments: &Arguments,
    bytes: usize,
) -> Result<(Option<Ceilings>, Vec<Row>), Error> {
    let ceilings = engine.ceilings(bytes)?.map(|ceilings| Ceilings {
        copy_gigabytes_per_second: ceilings.copy_bytes_per_second / 1e9,
        giga_multiply_adds_per_second: ceilings.multiply_adds_per_second / 1e9,
    });
    let forced = Options {
        algorithm: arguments.algorithm,
        level: arguments.level,
        lanes: arguments.lanes,
    };
    let choices = |operation| match arguments.every_choice {
        true => engine.choices(operation),
        false => vec![forced],
    };
    let operations = &arguments.operations;
    let to_a_width: usize = operations.iter().map(|&o| choices(o).len()).sum();
    let mut progress = Progress::of_cases((to_a_width * arguments.widths.len()) as u64);
    let mut rows = Vec::new();
    for &bits in &arguments.widths {
        let limbs = 3 * bits.div_ceil(LIMB_BITS);
        let count = arguments.count.map_or_else(
            || (bytes / size_of::<Limb>() / limbs).max(1),
            |count| count as usize,
        );
        // Greater first, so that exact differences exist.
        let operands = (
            engine.to_layout(&operand(engine, bits, count, true)?, arguments.layout)?,
            engine.to_layout(&operand(engine, bits, count, false)?, arguments.layout)?,
        );
        for &operation in operations {
            progress.message(operation.name());
            for options in choices(operation) {
                let engine = engine.using(options);
                let row = measure(&engine, arguments, operation, options, &operands, bits)?;
                rows.push(row);
                progress.set(rows.len() as u64);
            }
        }
    }
    Ok((ceilings, rows))
}

fn measure(
    engine: &Engine,
    arguments: &Arguments,
    operation: Operation,
    options: Options,
    (a, b): &(Batch, Batch),
    bits: usize,
) -> Result<Row, Error> {
    let is_wrapping = arguments.wrapping;
    let once = || match (operation, is_wrapping) {
        (Operation::Add, false) => engine.add(a, b),
        (Operation::Add, true) => engine.wrapping_add(a, b),
        (Operation::Sub, false) => engine.sub(a, b),
        (Operation::Sub, true) => engine.wrapping_sub(a, b),
        (Operation::Mul, false) => engine.mul(a, b),
        (Operation::Mul, true) => engine.wrapping_mul(a, b),
    };
    let probe = engine.batch_from_limbs(vec![1], Shape::new(1, 1, Layout::Contiguous))?;
    let sample = |repeats: u32| {
        let started = Instant::now();
        for _ in 0..repeats {
            once()?;
        }
        // Work on a device is in order: when this answer is here, so is all else.
        engine.wrapping_add(&probe, &probe)?.rows()?;
        Ok::<_, Error>(started.elapsed())
    };
    let result = once()?;
    let (count, width, back_end) = (a.len(), a.width(), result.location().to_string());
    let limbs = 2 * width + result.width();
    drop(result);
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
    let is_product = operation == Operation::Mul && !is_wrapping;
    Ok(Row {
        operation: operation.name(),
        is_wrapping,
        layout: arguments.layout.name(),
        algorithm: options.algorithm.name(),
        level: options.level.map(Level::name),
        lanes: options.lanes,
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

fn tabulate(rows: &[Row], ceilings: Option<Ceilings>) -> String {
    let header = [
        "operation",
        "by",
        "bits",
        "numbers",
        "back end",
        "ns each",
        "least",
        "greatest",
        "GB/s",
        "of a copy",
        "Gmad/s",
        "of the most",
    ];
    let share = |rate: f64, most: Option<f64>| {
        most.map_or_else(String::new, |most| format!("{:.0} %", 100.0 * rate / most))
    };
    let copy = ceilings.map(|ceilings| ceilings.copy_gigabytes_per_second);
    let most = ceilings.map(|ceilings| ceilings.giga_multiply_adds_per_second);
    let mut table = table::new(header);
    for row in rows {
        let rate = row.giga_multiply_adds_per_second;
        table.add_row([
            row.operation.to_owned(),
            row.choice(),
            row.bits.to_string(),
            row.count.to_string(),
            row.back_end.clone(),
            format!("{:.3}", row.median_ns),
            format!("{:.3}", row.least_ns),
            format!("{:.3}", row.greatest_ns),
            format!("{:.2}", row.gigabytes_per_second),
            share(row.gigabytes_per_second, copy),
            rate.map_or_else(String::new, |rate| format!("{rate:.2}")),
            rate.map_or_else(String::new, |rate| share(rate, most)),
        ]);
    }
    let ceilings = ceilings.map_or_else(String::new, |ceilings| {
        format!(
            "a copy: {:.0} GB/s read and written; the most multiply-adds: {:.0} G/s\n",
            ceilings.copy_gigabytes_per_second, ceilings.giga_multiply_adds_per_second
        )
    });
    format!("{table}\n{ceilings}")
}

impl Row {
    /// What was forced, or `auto`.
    fn choice(&self) -> String {
        let level = self.level.map(str::to_owned);
        let lanes = self.lanes.filter(|&lanes| lanes > 1);
        let lanes = lanes.map(|lanes| lanes.to_string());
        let parts = [Some(self.algorithm.to_owned()), level, lanes];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
