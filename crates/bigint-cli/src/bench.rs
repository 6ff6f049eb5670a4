//! `bigint bench`: how fast this machine is, on one back end.

mod ceilings;
mod curves;
mod papers;
mod plot;
mod rows;
pub mod sample;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use bigint_core::kernel::LANES;
use bigint_core::{Algorithm, LIMB_BITS, Layout, Level, Limb, Operation};
use bigint_host::{BackEnd, Batch, Engine, Error, Form, Options};
use serde::Serialize;

use self::ceilings::Ceilings;
use self::papers::Paper;
use self::rows::Rows;
use self::sample::{Times, arranged, operand, time};
use crate::backend::{BackendName, algorithm_parser, binds, operation};
use crate::failure::Failure;
use crate::hardware::Hardware;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::table;
use crate::team::Team;

/// The approximate size in bytes of two operands and the result of a batch on the CPU.
const CPU_BATCH_BYTES: usize = 64 << 20;

/// The part of a device's memory that a batch takes is one over this: many times the device's
/// cache.
const DEVICE_BATCH_PART: usize = 128;

/// About how many numbers give each thread of a device one.
const NUMBERS_FILL_A_DEVICE: usize = 1 << 12;

/// Measure operations over widths, on batches that stay where they are computed
///
/// On a GPU, the rates are also told as shares of the GPU's own, which are measured
/// first: of a copy's bytes, and of multiply-adds. Beside all that there are the benchmarks
/// of papers, by their authors' names, with what they published.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    paper: Option<Paper>,

    /// Who is measured: auto, cpu, cuda, cuda:N or cuda:N,M,...
    #[arg(long, default_value_t, value_name = "BACKEND")]
    backend: BackendName,

    /// What is measured
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = operation,
        default_value = "add,mul")]
    operations: Vec<Operation>,

    /// Widths of both operands, in bits; all: every multiple of 32 up to 4096
    #[arg(long, value_delimiter = ',', value_name = "BITS", value_parser = width,
        default_value = "32,64,128,256,512,1024,2048,4096,8192,16384,32768")]
    widths: Vec<Widths>,

    /// Results as wide as the operands, in place of exact ones
    #[arg(long)]
    wrapping: bool,

    /// From limbs on the host to limbs on the host, beside what the link to a GPU takes
    #[arg(long)]
    from_host: bool,

    /// How operands and results lie in memory: contiguous or interleaved
    #[arg(long, value_name = "LAYOUT", value_parser = layout, default_value = "contiguous")]
    layout: Layout,

    /// Numbers in a batch; by default as many as fill 64 MiB, or a 128th of a GPU's memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,

    /// Measure on so many threads of the CPU in turn, with a copy of as many bytes beside
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Vec<u16>,

    /// Numbers enough for so much work on one thread, as in 100us,1ms
    #[arg(long, value_delimiter = ',', value_name = "TIMES", conflicts_with = "count", requires = "threads",
        value_parser = humantime::parse_duration)]
    work: Vec<Duration>,

    /// Samples of each measurement
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,

    /// The time a row takes at most, about: fewer numbers and samples keep to it, but one of each
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = humantime::parse_duration)]
    time_limit: Duration,

    /// Force an algorithm where the operation has it
    #[arg(long, default_value = "auto", value_name = "NAME", value_parser = algorithm_parser())]
    algorithm: Algorithm,

    /// Force who works on one number, on a GPU: thread, warp, block or grid
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    level: Option<Level>,

    /// Force how many threads share a number: 2 to 32 lanes of a warp, 16 to 1024 of a block
    #[arg(long, value_name = "N", value_parser = lanes)]
    lanes: Option<u32>,

    /// Measure every algorithm, level and number of lanes in turn
    #[arg(long, conflicts_with_all = ["algorithm", "level", "lanes"])]
    every_choice: bool,

    /// Keep the transform of products' second operand
    #[arg(long)]
    keep_transform: bool,

    /// Print JSON in place of a table
    #[arg(long)]
    json: bool,

    /// Draw times over widths, with what a GPU's copies and multiply-adds alone would take beside, and write the drawing to
    /// this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Draw other libraries' times too: a file of JSON lines that have library, operation, bits and median_ns
    #[arg(long, value_name = "FILE", requires = "svg")]
    beside: Option<PathBuf>,
}

fn level(name: &str) -> Result<Level, String> {
    let found = Level::ALL.iter().find(|level| level.name() == name);
    found
        .copied()
        .ok_or_else(|| "expected thread, warp, block or grid".to_owned())
}

fn lanes(number: &str) -> Result<u32, String> {
    let found = LANES.iter().find(|lanes| lanes.to_string() == number);
    found
        .copied()
        .ok_or_else(|| format!("expected one of {LANES:?}"))
}

fn layout(name: &str) -> Result<Layout, String> {
    let found = Layout::ALL.iter().find(|layout| layout.name() == name);
    found
        .copied()
        .ok_or_else(|| "expected contiguous or interleaved".to_owned())
}

/// The widths that one word of `--widths` names.
#[derive(Clone, Copy, Debug)]
enum Widths {
    /// One width, in bits.
    Of(usize),
    /// Every whole number of limbs up to [`EVERY_UP_TO`].
    All,
}

/// The widest width that `all` stands for, in bits.
const EVERY_UP_TO: usize = 4096;

impl Widths {
    fn bits(self) -> impl Iterator<Item = usize> {
        let (first, last) = match self {
            Widths::Of(bits) => (bits, bits),
            Widths::All => (LIMB_BITS, EVERY_UP_TO),
        };
        (first..=last).step_by(LIMB_BITS)
    }
}

fn width(bits: &str) -> Result<Widths, String> {
    if bits == "all" {
        return Ok(Widths::All);
    }
    let bits: usize = bits.parse().map_err(|error| format!("{error}"))?;
    if bits == 0 || bits > bigint_core::MAX_WIDTH * LIMB_BITS / 2 {
        return Err("no such width".to_owned());
    }
    Ok(Widths::Of(bits))
}

/// The head of the document that `--json` prints; rows follow it.
#[derive(Debug, Serialize)]
struct Record<'r> {
    version: &'static str,
    date: String,
    hardware: &'r Hardware,
    /// Hash of each module of the kernels' PTX.
    ptx: BTreeMap<String, String>,
    ceilings: Option<Ceilings>,
}

impl<'r> Record<'r> {
    fn new(hardware: &'r Hardware, ceilings: Option<Ceilings>) -> Self {
        Record {
            version: env!("CARGO_PKG_VERSION"),
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            hardware,
            ptx: bigint_host::ptx_hashes(),
            ceilings,
        }
    }
}

/// One measurement. Times are in nanoseconds for one number of the batch.
#[derive(Clone, Debug, Serialize)]
struct Row {
    operation: &'static str,
    is_wrapping: bool,
    /// Whether the second operand's transform is kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    keeps_transform: bool,
    layout: &'static str,
    algorithm: &'static str,
    level: Option<&'static str>,
    lanes: Option<u32>,
    back_end: String,
    bits: usize,
    count: usize,
    /// The number of threads where `--threads` gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copy_gigabytes_per_second: Option<f64>,
    /// The time on one thread over the time on these threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    times_one_thread: Option<f64>,
    #[serde(skip)]
    result_bytes: usize,
    /// The time that the link takes to move operands and result, over the measured time; with
    /// `--from-host`.
    #[serde(skip_serializing_if = "Option::is_none")]
    of_the_link: Option<f64>,
    samples: usize,
    median_ns: f64,
    least_ns: f64,
    greatest_ns: f64,
    /// The rate at which limbs are read and written, in gigabytes per second.
    gigabytes_per_second: f64,
    /// The rate of 32x32->64 multiply-adds, counted as the schoolbook method's; exact products
    /// alone have one.
    giga_multiply_adds_per_second: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Running`] where the engine fails.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(paper) = &arguments.paper {
        return papers::run(paper);
    }
    let engine = arguments.backend.waiting_engine()?;
    check(arguments, engine.back_end())?;
    if !arguments.threads.is_empty() && engine.back_end() != BackEnd::Cpu {
        let why = "--threads are those of the CPU: say --backend cpu as well";
        return Err(Failure::Usage(why.to_owned()));
    }
    let teams = Team::each(&arguments.threads)?;
    // What cannot be read or written is said before anything is measured.
    let beside = arguments.beside.as_deref();
    let beside = beside.map(|path| curves::beside(path, &arguments.operations));
    let beside = beside.transpose()?.unwrap_or_default();
    let drawing = arguments.svg.as_deref();
    let drawing = drawing.map(|path| Output::open(Some(path), false));
    let drawing = drawing.transpose()?;
    let hardware = Hardware::detect();
    let bytes = match engine.back_end() {
        BackEnd::Cpu => CPU_BATCH_BYTES,
        // The list is made anew, and a device that has failed since is not on it.
        BackEnd::Cuda(devices) => {
            let bytes = devices.ordinals().map(|ordinal| {
                let device = hardware.cuda.get(ordinal);
                device.map_or(CPU_BATCH_BYTES, |device| {
                    device.memory_bytes / DEVICE_BATCH_PART
                })
            });
            bytes.sum()
        }
    };
    let ceilings = Ceilings::of(&engine, bytes)?;
    let record = || Record::new(&hardware, ceilings);
    let mut rows = Rows::new(arguments.json.then(record))?;
    let measured = measure_all(&engine, arguments, &teams, bytes, ceilings, &mut rows);
    for warning in engine.warnings() {
        output::tell(format_args!("warning: {warning}"));
    }
    // What was measured before something went wrong is told.
    let rows = rows.end()?;
    if !arguments.json && !rows.is_empty() {
        output::print(&tabulate(&rows, ceilings))?;
    }
    if let Some(mut drawing) = drawing {
        let machine = rows.first().map_or("", |row| row.back_end.as_str());
        let drawn = plot::draw(machine, &[curves::panel(&rows, ceilings, &beside)]);
        drawing.write(drawn.map_err(Failure::Running)?.as_bytes())?;
        drawing.finish()?;
    }
    measured
}

/// Refuses options that would make no difference to what is measured.
fn check(arguments: &Arguments, back_end: BackEnd) -> Result<(), Failure> {
    let forces_lanes = arguments.level.is_some() || arguments.lanes.is_some();
    if back_end == BackEnd::Cpu && forces_lanes {
        let what = "--level and --lanes would do nothing: they are a GPU's, and this is the CPU";
        return Err(Failure::Usage(what.to_owned()));
    }
    let algorithm = arguments.algorithm;
    let has_it = |operation: &Operation| binds(algorithm, *operation);
    if algorithm != Algorithm::Auto && !arguments.operations.iter().any(has_it) {
        return Err(Failure::Usage(format!(
            "--algorithm {} would do nothing: no operation that is to be measured has it",
            algorithm.name()
        )));
    }
    Ok(())
}

/// Measures every row of the arguments.
fn measure_all(
    engine: &Engine,
    arguments: &Arguments,
    teams: &[Team],
    bytes: usize,
    ceilings: Option<Ceilings>,
    rows: &mut Rows<Row>,
) -> Result<(), Failure> {
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
    let works = arguments.work.len().max(1);
    let to_a_width: usize = operations.iter().map(|&o| choices(o).len()).sum();
    let widths: Vec<usize> = arguments.widths.iter().flat_map(|w| w.bits()).collect();
    let cases = to_a_width * widths.len() * works * teams.len();
    let mut progress = Progress::of_cases(cases as u64);
    for bits in widths {
        let limbs = 3 * bits.div_ceil(LIMB_BITS);
        let most = (bytes / size_of::<Limb>() / limbs).max(1);
        let mut operands: Option<(Batch, Batch)> = None;
        for &operation in operations {
            progress.message(operation.name());
            for options in choices(operation) {
                let subject = Subject {
                    engine: engine.using(options),
                    operation,
                    options,
                    bits,
                };
                for count in subject.counts(arguments, most)? {
                    // What was made for the operation before may do.
                    let made = match operands.take() {
                        Some(made) if made.0.len() == count => made,
                        _ => subject.operands(arguments.layout, count)?,
                    };
                    if arguments.keep_transform {
                        engine.keep_transform(&made.1);
                    }
                    subject.on_each(teams, arguments, &made, ceilings, rows)?;
                    operands = Some(made);
                    progress.set(rows.len() as u64);
                }
            }
        }
    }
    Ok(())
}

/// An operation, its widths and form: what one row measures.
struct Subject {
    engine: Engine,
    operation: Operation,
    options: Options,
    bits: usize,
}

impl Subject {
    /// Makes two operands of `count` numbers each.
    fn operands(&self, layout: Layout, count: usize) -> Result<(Batch, Batch), Error> {
        let operand = |top| {
            let operand = operand(&self.engine, self.bits, count, u64::from(top), top)?;
            self.engine.to_layout(&operand, layout)
        };
        // Greater first, so that exact differences exist.
        Ok((operand(true)?, operand(false)?))
    }

    /// The sizes of batches to measure. `--count` gives one number; `--work` gives times, from
    /// which the number follows; without either it is the most that there is time for, up to
    /// `most`.
    fn counts(&self, arguments: &Arguments, most: usize) -> Result<Vec<usize>, Failure> {
        if let Some(count) = arguments.count {
            return Ok(vec![count as usize]);
        }
        if arguments.work.is_empty() {
            let count = self.count_in_time(arguments, most)?;
            return Ok(vec![count]);
        }
        let team = Team::of(1)?;
        let count = |work: &Duration| {
            let mut count = most.min(1 << 10);
            // Twice: a batch of another size may come from another cache.
            for _ in 0..2 {
                let (a, b) = self.operands(arguments.layout, count)?;
                let row = team.install(|| self.measure(arguments, (&a, &b)))?;
                count = (work.as_secs_f64() * 1e9 / row.median_ns) as usize;
                count = count.clamp(1, most);
            }
            Ok(count)
        };
        let counts = arguments.work.iter().map(count);
        let counts: Result<_, Error> = counts.collect();
        Ok(counts?)
    }

    /// The largest number, up to `most`, that can be measured within the limit of time. Numbers are
    /// tried from one for each thread upwards, each four times the one before.
    fn count_in_time(&self, arguments: &Arguments, most: usize) -> Result<usize, Error> {
        /// The search for the number takes at most as long as this many batches of the number
        /// found.
        const SOUGHT: u32 = 12;
        let limit = arguments.time_limit / (arguments.samples + SOUGHT);
        let first = match self.engine.back_end() {
            BackEnd::Cpu => bigint_cpu::threads(),
            BackEnd::Cuda(_) => NUMBERS_FILL_A_DEVICE,
        };
        let mut count = first.min(most);
        let mut in_time = count;
        loop {
            let (a, b) = self.operands(arguments.layout, count)?;
            let once = || self.once(arguments, &self.operands_of(&a, &b));
            // The first launch of a kernel waits for the driver to compile it.
            once()?;
            let took = time(&self.engine, 1, once)?;
            if took > limit {
                return Ok(in_time);
            }
            let times = most.div_ceil(count);
            if took.as_secs_f64() * times as f64 <= limit.as_secs_f64() {
                return Ok(most);
            }
            in_time = count;
            count = most.min(4 * count);
        }
    }

    /// Measures a row on each team of threads.
    fn on_each(
        &self,
        teams: &[Team],
        arguments: &Arguments,
        (a, b): &(Batch, Batch),
        ceilings: Option<Ceilings>,
        rows: &mut Rows<Row>,
    ) -> Result<(), Failure> {
        let mut one_thread = None;
        for team in teams {
            let mut row = team.install(|| self.measure(arguments, (a, b)))?;
            if let (true, Some(ceilings)) = (arguments.from_host, ceilings) {
                let to_host = row.result_bytes as f64 / ceilings.to_host_gigabytes_per_second;
                let bytes = row.gigabytes_per_second * row.median_ns - row.result_bytes as f64;
                let to_device = bytes / ceilings.to_device_gigabytes_per_second;
                row.of_the_link = Some((to_device + to_host) / row.median_ns);
            }
            if let Some(threads) = team.threads() {
                let moved = row.gigabytes_per_second * row.median_ns * row.count as f64;
                let copy = team.copy_gigabytes_per_second(moved as usize, row.samples)?;
                one_thread = one_thread.or((threads == 1).then_some(row.median_ns));
                row.threads = Some(threads);
                row.copy_gigabytes_per_second = Some(copy);
                row.times_one_thread = one_thread.map(|one| one / row.median_ns);
            }
            rows.push(row)?;
        }
        Ok(())
    }

    /// The operation's operands, made of two batches of which the first is the greater.
    fn operands_of<'a>(&self, a: &'a Batch, b: &'a Batch) -> Vec<&'a Batch> {
        arranged(self.operation, a, [b, b])
    }

    fn form(&self, arguments: &Arguments) -> Form {
        if self.operation.declaration().flag.is_of_no_value() {
            // A number without a value would be an error.
            Form::Overflowing
        } else if arguments.wrapping {
            Form::Wrapping
        } else {
            Form::Exact
        }
    }

    fn once(&self, arguments: &Arguments, operands: &[&Batch]) -> Result<Batch, Error> {
        let form = self.form(arguments);
        let mut outcome = self.engine.compute(self.operation, form, operands)?;
        Ok(outcome.results.swap_remove(0))
    }

    fn measure(&self, arguments: &Arguments, (a, b): (&Batch, &Batch)) -> Result<Row, Error> {
        let Subject {
            engine,
            operation,
            options,
            bits,
        } = self;
        let (operation, options, bits) = (*operation, *options, *bits);
        let is_wrapping = arguments.wrapping;
        let form = self.form(arguments);
        let operands = &self.operands_of(a, b);
        let once = || self.once(arguments, operands);
        let from_host = |repeats: u32| {
            let mut elapsed = Duration::ZERO;
            for _ in 0..repeats {
                let limbs = operands.iter().map(|a| a.to_limbs());
                let limbs = limbs.collect::<Result<Vec<_>, _>>()?;
                let started = Instant::now();
                let fresh = limbs.into_iter().zip(operands);
                let fresh = fresh.map(|(limbs, a)| engine.batch_from_limbs(limbs, a.shape()));
                let fresh = fresh.collect::<Result<Vec<_>, _>>()?;
                let fresh: Vec<&Batch> = fresh.iter().collect();
                let outcome = engine.compute(operation, form, &fresh)?;
                outcome.results[0].rows()?;
                elapsed += started.elapsed();
            }
            Ok::<_, Error>(elapsed)
        };
        let sample = |repeats: u32| match arguments.from_host {
            true => from_host(repeats),
            false => time(engine, repeats, once),
        };
        let result = once()?;
        let (count, width, back_end) = (a.len(), a.width(), result.location().to_string());
        let limbs = operands.len() * width + result.width();
        let result_bytes = result.width() * size_of::<Limb>();
        drop(result);
        let times = Times::of(arguments.samples, arguments.time_limit, sample)?.each(count);
        let median = times.median;
        let is_product = operation == Operation::Mul && !is_wrapping;
        Ok(Row {
            operation: operation.name(),
            is_wrapping,
            keeps_transform: arguments.keep_transform,
            layout: arguments.layout.name(),
            algorithm: options.algorithm.name(),
            level: options.level.map(Level::name),
            lanes: options.lanes,
            back_end,
            bits,
            count,
            threads: None,
            copy_gigabytes_per_second: None,
            times_one_thread: None,
            of_the_link: None,
            result_bytes,
            samples: times.samples,
            median_ns: median,
            least_ns: times.least,
            greatest_ns: times.greatest,
            gigabytes_per_second: (limbs * size_of::<Limb>()) as f64 / median,
            giga_multiply_adds_per_second: is_product.then(|| (width * width) as f64 / median),
        })
    }
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
        "of the link",
        "threads",
        "x one thread",
    ];
    // The last two are there where threads were asked for, the one before from the host.
    let columns = match rows.first() {
        Some(row) if row.threads.is_some() => header.len(),
        Some(row) if row.of_the_link.is_some() => header.len() - 2,
        _ => header.len() - 3,
    };
    let share = |rate: f64, most: Option<f64>| {
        most.map_or_else(String::new, |most| format!("{:.0} %", 100.0 * rate / most))
    };
    let copy = ceilings.map(|ceilings| ceilings.copy_gigabytes_per_second);
    let most = ceilings.map(|ceilings| ceilings.giga_multiply_adds_per_second);
    let mut table = table::new(&header[..columns]);
    for row in rows {
        let rate = row.giga_multiply_adds_per_second;
        let copy = row.copy_gigabytes_per_second.or(copy);
        let cells = [
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
            row.of_the_link
                .map_or_else(String::new, |share| format!("{:.0} %", 100.0 * share)),
            row.threads.map_or_else(String::new, |n| n.to_string()),
            row.times_one_thread
                .map_or_else(String::new, |times| format!("{times:.2}")),
        ];
        table.add_row(&cells[..columns]);
    }
    let ceilings = ceilings.map_or_else(String::new, |ceilings| {
        format!(
            "a copy: {:.0} GB/s read and written; the most multiply-adds: {:.0} G/s; \
             the link: {:.1} GB/s to the device, {:.1} back\n",
            ceilings.copy_gigabytes_per_second,
            ceilings.giga_multiply_adds_per_second,
            ceilings.to_device_gigabytes_per_second,
            ceilings.to_host_gigabytes_per_second
        )
    });
    format!("{table}\n{ceilings}")
}

impl Row {
    /// The algorithm, level and lanes that were forced, or `auto`.
    fn choice(&self) -> String {
        let level = self.level.map(str::to_owned);
        let lanes = self.lanes.filter(|&lanes| lanes > 1);
        let lanes = lanes.map(|lanes| lanes.to_string());
        let parts = [Some(self.algorithm.to_owned()), level, lanes];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_widths_are_those_of_whole_limbs() {
        let all: Vec<usize> = width("all").unwrap().bits().collect();
        assert_eq!((all[0], all[1], all.len(), all[127]), (32, 64, 128, 4096));
        assert!(width("96").unwrap().bits().eq([96]));
        assert!(width("0").is_err() && width("every").is_err());
    }
}
