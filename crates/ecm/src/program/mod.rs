//! The program: its options, and its exit codes. 0 says that a run ended, 1 a failure while running, 2
//! bad usage or bad input, 128 and a signal's number an interruption. By `--format gmp-ecm` a run that ended has GMP-ECM's
//! code, and all bad input and failures have 1.

mod input;
mod lucas;
mod output;
mod resume;
mod run;
mod stop;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use bigint_host::Engine;
use bigint_host::advanced::BackEnd;
use clap::{Parser, ValueEnum};

use crate::{Bounds, Error, Family, bounds_for_digits, bounds_for_digits_on_device};
use output::{Format, say};
use stop::Stop;

/// Factors of numbers by the elliptic-curve method
///
/// Prime factors go to standard output, a line each, all else to standard error. Without bounds, they grow
/// until a number has come apart.
#[derive(Debug, Parser)]
#[command(name = "ecm", version)]
struct Cli {
    /// A number or an expression (2^1001-1, (10^41-1)/9, 35!, 97#), a file of them, a line each, or
    /// - for standard input
    #[arg(
        value_name = "N",
        required_unless_present = "resume",
        allow_hyphen_values = true
    )]
    n: Option<String>,
    /// Stage 1: primes up to B, from 11 on, and their powers
    #[arg(long, value_name = "B", value_parser = bound)]
    b1: Option<u64>,
    /// Stage 2: one prime up to B, or 0 for none; by default 100 times B1
    #[arg(long, value_name = "B", value_parser = bound)]
    b2: Option<u64>,
    /// Curves for each number, or starts of p+1; by default 1, or those of --digits
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u64).range(1..))]
    curves: Option<u64>,
    /// Bounds and curves for factors of so many digits, by GMP-ECM's table
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u32).range(1..=65))]
    digits: Option<u32>,
    /// What is tried
    #[arg(long, value_name = "M", default_value = "ecm")]
    method: Method,
    /// Where curves come from: by default edwards, on a GPU 3 for numbers of more than 9210 bits
    #[arg(long, value_name = "P")]
    param: Option<Param>,
    /// The first curve; those after it follow
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(2..u64::from(u32::MAX)))]
    sigma: Option<u64>,
    /// Append what stage 1 leaves to F, as GMP-ECM reads it
    #[arg(long, value_name = "F")]
    save: Option<PathBuf>,
    /// Stage 2 of the lines of F, which GMP-ECM or --save wrote; - for standard input
    #[arg(long, value_name = "F", conflicts_with_all = ["n", "curves", "digits", "method", "sigma", "save", "param", "checkpoint"])]
    resume: Option<PathBuf>,
    /// Keep in F how far the run is: the same command goes on from there
    #[arg(long, value_name = "F")]
    checkpoint: Option<PathBuf>,
    /// The machine
    #[arg(long, value_name = "M", default_value = "auto")]
    backend: Backend,
    /// Threads of the CPU; by default one for each core
    #[arg(long, value_name = "T")]
    threads: Option<NonZeroUsize>,
    /// How factors are told
    #[arg(long, value_name = "F", default_value = "lines")]
    format: Format,
    /// One JSON object for each number instead of lines
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Time from one line of progress, and one checkpoint, to the next
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    report_every: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Elliptic curves
    Ecm,
    /// P-1: primes p of which p - 1 is smooth
    #[value(name = "p-1")]
    PMinus1,
    /// P+1: primes p of which p + 1 is smooth, or p - 1, as the start has it
    #[value(name = "p+1")]
    PPlus1,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Param {
    /// Twisted Edwards curves with six torsion points
    Edwards,
    /// GMP-ECM's parametrization 3
    #[value(name = "3")]
    Three,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Backend {
    /// An NVIDIA GPU where there is one and it is worth its start, else the CPU
    Auto,
    /// All cores
    Cpu,
    /// All NVIDIA GPUs
    Cuda,
}

/// The bits of the longest numbers that devices have a kernel for Edwards curves for.
const MOST_BITS_OF_EDWARDS: u64 = 9210;

/// Curves from which on a device is faster than all cores: it takes thousands at a time.
const WORTH_A_DEVICE: u64 = 2048;

/// Why the program ends without its result.
#[derive(Debug)]
enum Failure {
    /// Exit code 2.
    Usage(String),
    /// Exit code 1.
    Running(String),
    /// This signal came.
    Interrupted(i32),
    /// Standard output has lost its reader, as with `head`. Exit code 0, without a word.
    ReaderGone,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Line(_) | Error::Expression { .. } => Failure::Usage(error.to_string()),
            _ => Failure::Running(error.to_string()),
        }
    }
}

impl From<bigint_host::Error> for Failure {
    fn from(error: bigint_host::Error) -> Self {
        Failure::Running(error.to_string())
    }
}

impl Cli {
    /// The bounds, one after another.
    fn levels(&self, on_device: Option<Family>) -> Vec<Bounds> {
        let of_table = |digits| {
            let row = match on_device {
                Some(family) => bounds_for_digits_on_device(digits, family),
                None => bounds_for_digits(digits),
            };
            let b1 = self.b1.unwrap_or(row.b1);
            let far = if b1 == row.b1 { row.b2 } else { 100 * b1 };
            Bounds {
                b1,
                b2: self.b2.unwrap_or(far),
                curves: self.curves.unwrap_or(row.curves),
            }
        };
        match (self.digits, self.b1) {
            (Some(digits), _) => vec![of_table(digits)],
            (None, Some(b1)) => vec![Bounds {
                b1,
                b2: self.b2.unwrap_or(100 * b1),
                curves: self.curves.unwrap_or(1),
            }],
            (None, None) => (15..=65).step_by(5).map(of_table).collect(),
        }
    }

    /// The family of curves on numbers of up to so many bits: Edwards curves, which find more, where there is a kernel for them.
    fn family(&self, is_on_device: bool, bits: u64) -> Family {
        match self.param {
            Some(Param::Three) => Family::Param3,
            None if is_on_device && bits > MOST_BITS_OF_EDWARDS => Family::Param3,
            Some(Param::Edwards) | None => Family::Edwards,
        }
    }

    /// Whether stage 1 is for devices: where they are asked for, or there are some and curves enough.
    fn wants_device(&self, engine: &Engine, curves: u64) -> bool {
        match self.backend {
            Backend::Cpu => false,
            Backend::Cuda => true,
            Backend::Auto => curves >= WORTH_A_DEVICE && !matches!(engine.back_end(), BackEnd::Cpu),
        }
    }

    fn format(&self) -> Format {
        match self.json {
            true => Format::Json,
            false => self.format,
        }
    }

    fn engine(&self) -> Result<Engine, Failure> {
        Ok(match self.backend {
            Backend::Cpu => Engine::cpu(),
            Backend::Auto => Engine::auto(),
            Backend::Cuda => Engine::all()?,
        })
    }
}

/// A bound: `50000`, `5e4`, `0`.
fn bound(text: &str) -> Result<u64, String> {
    let wrong = || "it is a whole number below 10^15, as 50000 or 5e4".to_owned();
    let number: f64 = text.parse().map_err(|_| wrong())?;
    match number {
        0.0..1e15 if number.fract() == 0.0 => Ok(number as u64),
        _ => Err(wrong()),
    }
}

/// Runs the program with this process's arguments.
pub fn main() -> ExitCode {
    bigint_cpu::program::start();
    let cli = Cli::parse();
    if let Some(threads) = cli.threads {
        bigint_cpu::set_threads(threads.get());
    }
    let done = bigint_cpu::or_out_of_memory(|| run(&cli));
    let done = done.unwrap_or_else(|error| Err(Failure::Running(error.to_string())));
    let (told, code) = match done {
        Ok(code) => (None, code),
        Err(Failure::ReaderGone) => (None, 0),
        Err(Failure::Running(what)) => (Some(what), 1),
        Err(Failure::Usage(what)) if cli.format() == Format::GmpEcm => (Some(what), 1),
        Err(Failure::Usage(what)) => (Some(what), 2),
        Err(Failure::Interrupted(signal)) => (None, u8::try_from(128 + signal).unwrap_or(1)),
    };
    if let Some(what) = told {
        say!("error: {what}");
    }
    ExitCode::from(code)
}

fn run(cli: &Cli) -> Result<u8, Failure> {
    if let Some(b1) = cli.b1.filter(|&b1| b1 < 11) {
        return Err(Failure::Usage(format!("--b1 {b1}: a bound is 11 or more")));
    }
    let stop = Stop::on_signals();
    if let Some(path) = &cli.resume {
        return resume::run(cli, path, &stop);
    }
    let numbers = input::numbers(cli.n.as_deref().unwrap_or("-"))?;
    match cli.method {
        Method::Ecm => run::run(cli, &numbers, &stop),
        Method::PMinus1 => lucas::run(cli, crate::Method::PMinus1, &numbers, &stop),
        Method::PPlus1 => lucas::run(cli, crate::Method::PPlus1, &numbers, &stop),
    }
}
