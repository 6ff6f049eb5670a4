//! The CPU engine beside GMP and the big-integer libraries of the Rust world:
//! same operands, same process, in turn.
//!
//! ```text
//! cd benches/peers
//! cargo run --release                      # a table, under four minutes
//! cargo run --release -- --json            # one row of JSON to a line
//! cargo run --release -- --op mul --bits 1024,2048 --batch 64 --threads 1
//! cargo run --release -- --check 1000000   # correctness instead of time
//! cargo run --release -- --modular         # quotients, inverses, powers beside GMP
//! cargo run --release -- --langer          # Langer's lists beside GMP
//! cargo run --release -- --from RECORD --plot PLOT.svg
//! ```

mod check;
mod flint;
mod grid;
mod langer;
mod library;
mod measure;
mod modular;
mod operands;
mod plot;
mod record;
mod runner;
mod table;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use bigint_cpu::{Cpu, Path};
use clap::Parser;

use crate::grid::{BATCHES, Grid};
use crate::measure::Settings;
use crate::operands::Op;
use crate::record::Record;

/// Measures the CPU engine beside GMP, num-bigint, dashu-int, malachite-nz and
/// ibig; or checks it against GMP and num-bigint.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Operations (a square is a product of equal operands)
    #[arg(long, value_delimiter = ',', value_enum)]
    op: Vec<Op>,
    /// Bits of each operand, in multiples of 32; 2^20 may be written 2^20
    #[arg(long, value_delimiter = ',', value_parser = parse_bits)]
    bits: Vec<usize>,
    /// Numbers in a batch
    #[arg(long, value_delimiter = ',')]
    batch: Vec<usize>,
    /// Threads, or `all`
    #[arg(long, value_delimiter = ',')]
    threads: Vec<String>,
    /// The engine's paths, or `all`; the fastest unless said otherwise
    #[arg(long, value_delimiter = ',')]
    path: Vec<String>,
    /// Seconds for the whole run, to be shared among its points
    #[arg(long, default_value_t = 190.0)]
    seconds: f64,
    /// Samples behind each median
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u16).range(3..))]
    rounds: u16,
    /// Milliseconds that a call of a library other than GMP may take
    #[arg(long, default_value_t = 30.0)]
    patience: f64,
    /// MiB that the operands may take in all libraries together
    #[arg(long, default_value_t = 4096)]
    memory: usize,
    /// libflint.so, to measure FLINT's fft_small on single products
    #[arg(long)]
    flint: Option<PathBuf>,
    /// Print one row of JSON to a line instead of a table
    #[arg(long)]
    json: bool,
    /// Also write the rows and the machine they were measured on to this file
    #[arg(long)]
    record: Option<PathBuf>,
    /// Read this record instead of measuring
    #[arg(long, conflicts_with_all = ["record", "check"])]
    from: Option<PathBuf>,
    /// Draw the time of a product, or of a list, over its bits to this SVG file
    #[arg(long)]
    plot: Option<PathBuf>,
    /// Check this many cases per operation against GMP and num-bigint, on every
    /// path, instead of measuring
    #[arg(long, value_name = "CASES")]
    check: Option<u64>,
    /// Measure or check division and what is computed modulo numbers, beside GMP alone
    #[arg(long, conflicts_with_all = ["op", "path", "from", "plot", "flint"])]
    modular: bool,
    /// Measure lists of sums and products of numbers of normally distributed lengths
    /// beside GMP, instead of batches
    #[arg(long, conflicts_with_all = ["check", "modular"])]
    langer: bool,
    /// Seed of the cases to check
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let (Some(cases), true) = (arguments.check, arguments.modular) {
        return modular::check(cases, arguments.seed);
    }
    if let Some(cases) = arguments.check {
        let cpus = if arguments.path.is_empty() {
            supported()
        } else {
            chosen_cpus(&arguments)?
        };
        return check::run(cases, arguments.seed, &chosen_ops(&arguments), &cpus);
    }
    if arguments.modular {
        let or = |given: &[usize], default: &[usize]| match given {
            [] => default.to_vec(),
            given => given.to_vec(),
        };
        let record = modular::run(
            &or(&arguments.bits, &[256, 512, 1024, 2048, 4096]),
            &or(&arguments.batch, &[64]),
            usize::from(arguments.rounds),
            &pools(&arguments)?,
            arguments.json,
        )?;
        if let Some(path) = &arguments.record {
            record.write(path)?;
        }
        return Ok(());
    }
    if arguments.langer {
        let record = match &arguments.from {
            Some(path) => Record::read(path)?,
            None => langer::run(&pools(&arguments)?, arguments.json)?,
        };
        if let Some(path) = &arguments.record {
            record.write(path)?;
        }
        if let Some(path) = &arguments.plot {
            plot::draw_lists(&record, path)?;
        }
        return Ok(());
    }
    let record = match &arguments.from {
        Some(path) => {
            let record = Record::read(path)?;
            for row in &record.rows {
                print(row, arguments.json)?;
            }
            record
        }
        None => measure(&arguments)?,
    };
    if let Some(path) = &arguments.record {
        record.write(path)?;
    }
    if let Some(path) = &arguments.plot {
        plot::draw(&record, path)?;
    }
    Ok(())
}

fn measure(arguments: &Arguments) -> Result<Record> {
    let settings = Settings {
        rounds: usize::from(arguments.rounds),
        patience: Duration::from_secs_f64(arguments.patience / 1000.0),
        cpus: chosen_cpus(arguments)?,
        flint: arguments
            .flint
            .as_deref()
            .map(flint::Flint::open)
            .transpose()?,
        pools: pools(arguments)?,
    };
    let ops = chosen_ops(arguments);
    let memory = arguments.memory << 20;
    let batches = if arguments.batch.is_empty() {
        BATCHES.to_vec()
    } else {
        arguments.batch.clone()
    };
    ensure!(!batches.contains(&0), "a batch of no numbers takes no time");
    let grid = batches
        .iter()
        .map(|&batch| {
            let bits = if arguments.bits.is_empty() {
                Grid::default_bits(batch)
            } else {
                arguments.bits.clone()
            };
            Grid::new(ops.clone(), &bits, &[batch], memory)
        })
        .reduce(Grid::and)
        .context("no batch to measure")?;
    let mut record = Record::new(settings.rounds);
    if !arguments.json {
        table::print_head(&record);
    }
    grid.run(
        Duration::from_secs_f64(arguments.seconds),
        &settings,
        |row| {
            print(&row, arguments.json)?;
            record.rows.push(row);
            Ok(())
        },
    )?;
    Ok(record)
}

/// Each number of threads that was chosen, and a pool of them.
fn pools(arguments: &Arguments) -> Result<Vec<(usize, rayon::ThreadPool)>> {
    let pools = chosen_threads(arguments)?.into_iter();
    pools
        .map(|threads| Ok((threads, pinned_pool(threads)?)))
        .collect()
}

/// A pool whose threads stay on a core each. Left to itself, the system now and
/// then keeps two threads of one pool on a core that another pool has just used.
fn pinned_pool(threads: usize) -> Result<rayon::ThreadPool> {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(move |worker| {
            if let Some(&core) = cores.get(worker) {
                core_affinity::set_for_current(core);
            }
        })
        .build()?;
    Ok(pool)
}

fn print(row: &record::Row, json: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, row)?;
        writeln!(out)?;
    } else {
        table::print_row(&mut out, row)?;
    }
    Ok(())
}

fn parse_bits(text: &str) -> Result<usize> {
    let bits = match text.split_once('^') {
        Some((base, power)) => base.parse::<usize>()?.checked_pow(power.parse()?),
        None => Some(text.parse()?),
    }
    .filter(|&bits| bits > 0 && bits % 32 == 0 && bits / 32 <= bigint_core::MAX_WIDTH);
    bits.ok_or_else(|| anyhow!("not a multiple of 32 within the engine's widths"))
}

fn chosen_ops(arguments: &Arguments) -> Vec<Op> {
    if arguments.op.is_empty() {
        Op::ALL.to_vec()
    } else {
        arguments.op.clone()
    }
}

fn chosen_threads(arguments: &Arguments) -> Result<Vec<usize>> {
    if arguments.threads.is_empty() {
        let mut threads = vec![1, record::threads()];
        threads.dedup();
        return Ok(threads);
    }
    let parse = |text: &String| match text.as_str() {
        "all" => Ok(record::threads()),
        number => match number.parse() {
            Ok(0) | Err(_) => bail!("threads are a number above 0 or `all`, not {number:?}"),
            Ok(threads) => Ok(threads),
        },
    };
    arguments.threads.iter().map(parse).collect()
}

/// Every path that this machine can run, slowest first.
fn supported() -> Vec<Cpu> {
    Path::ALL
        .into_iter()
        .filter_map(|path| Cpu::new(path).ok())
        .collect()
}

fn chosen_cpus(arguments: &Arguments) -> Result<Vec<Cpu>> {
    if arguments.path.is_empty() {
        return Ok(vec![*Cpu::current()]);
    }
    if arguments.path.iter().any(|name| name == "all") {
        return Ok(supported());
    }
    let parse = |name: &String| {
        let path = Path::named(name).with_context(|| format!("there is no path {name:?}"))?;
        Ok(Cpu::new(path)?)
    };
    arguments.path.iter().map(parse).collect()
}
