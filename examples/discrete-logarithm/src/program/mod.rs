//! The program: its options, and its exit codes. 0 says that a logarithm was found, 1 a failure while running, 2
//! bad usage or bad input, 130 an interruption.

mod run;
mod stop;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use bigint_host::Engine;
use bigint_host::advanced::devices;
use clap::{Parser, ValueEnum};
use num_bigint::BigUint;

use crate::field::{MOST_BITS_OF_FOUR, Montgomery, Secp256k1};
use crate::{Affine, Curve, Error, Method, NAMES, Named, Problem, Shape, named};

/// Discrete logarithms on elliptic curves: the k with Q = k P
///
/// The logarithm goes to standard output, all else to standard error. Numbers are decimal, or hexadecimal after 0x.
#[derive(Debug, Parser)]
#[command(name = "discrete-logarithm", version)]
struct Cli {
    /// A curve with a name, in place of the five options behind this one
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(NAMES))]
    curve: Option<String>,
    /// The prime p of y^2 = x^3 + a x + b modulo p
    #[arg(long, value_name = "P", value_parser = number, required_unless_present = "curve", conflicts_with = "curve")]
    p: Option<BigUint>,
    /// The number a
    #[arg(long, value_name = "A", value_parser = number, required_unless_present = "curve", conflicts_with = "curve")]
    a: Option<BigUint>,
    /// The number b
    #[arg(long, value_name = "B", value_parser = number, required_unless_present = "curve", conflicts_with = "curve")]
    b: Option<BigUint>,
    /// The order of P, a prime
    #[arg(long, value_name = "N", value_parser = number, required_unless_present = "curve", conflicts_with = "curve")]
    order: Option<BigUint>,
    /// The point P
    #[arg(long, value_name = "X,Y", value_parser = coordinates, required_unless_present = "curve", conflicts_with = "curve")]
    base: Option<Affine>,
    /// The point Q; by default that of the curve's published problem
    #[arg(long, value_name = "X,Y", value_parser = coordinates)]
    target: Option<Affine>,
    /// Q is K times P: for a try
    #[arg(long, value_name = "K", value_parser = number, conflicts_with = "target")]
    multiple: Option<BigUint>,
    /// Kangaroos, for a k from LOW to HIGH
    #[arg(long, value_name = "LOW..HIGH", value_parser = interval)]
    interval: Option<Method>,
    /// The machine
    #[arg(long, value_name = "M", default_value = "auto")]
    backend: Backend,
    /// The device, of several
    #[arg(long, value_name = "D", default_value_t = 0)]
    device: usize,
    /// Threads of the CPU; by default one for each core
    #[arg(long, value_name = "T")]
    threads: Option<NonZeroUsize>,
    /// Groups of walks: threads of a device, a multiple of 128 there
    #[arg(long, value_name = "G")]
    groups: Option<NonZeroUsize>,
    /// Walks of a group
    #[arg(long, value_name = "W", value_parser = clap::value_parser!(u16).range(1..=4096))]
    walks: Option<u16>,
    /// One of 2^D points is distinguished
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u32).range(0..=26))]
    distinguished_bits: Option<u32>,
    /// Distinguished points that a group has room for in a round
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u16).range(1..=256))]
    records: Option<u16>,
    /// Steps of a round, at most
    #[arg(long, value_name = "S", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// Blocks that a multiprocessor of the device is to hold at once
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(1..=16))]
    blocks: Option<u32>,
    /// The seed of starts and jumps: machines that are to find other points have others
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Keep in F how far the search is: the same command goes on from there
    #[arg(long, value_name = "F")]
    checkpoint: Option<PathBuf>,
    /// Time from one checkpoint to the next
    #[arg(long, value_name = "TIME", default_value = "5min", value_parser = humantime::parse_duration)]
    checkpoint_every: Duration,
    /// Time from one line of progress to the next
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    report_every: Duration,
    /// Walk for so many seconds, and print steps a second
    #[arg(long, value_name = "SECONDS", conflicts_with = "checkpoint")]
    bench: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Backend {
    /// An NVIDIA GPU where there is one and the search is long enough, else the CPU
    Auto,
    /// All cores
    Cpu,
    /// An NVIDIA GPU
    Cuda,
}

/// Steps from which on a search is for a device: a second of its time.
const WORTH_A_DEVICE: f64 = 1e10;

/// Why the program ends without its result.
#[derive(Debug)]
enum Failure {
    /// Exit code 2.
    Usage(String),
    /// Exit code 1.
    Running(String),
    /// A signal asked for the end. Exit code 130.
    Interrupted,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Problem(what) | Error::Walks(what) => Failure::Usage(what),
            error => Failure::Running(error.to_string()),
        }
    }
}

impl From<bigint_host::Error> for Failure {
    fn from(error: bigint_host::Error) -> Self {
        Failure::Running(error.to_string())
    }
}

/// A number: decimal, or hexadecimal after `0x`.
fn number(text: &str) -> Result<BigUint, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => BigUint::parse_bytes(hex.as_bytes(), 16),
        None => BigUint::parse_bytes(text.as_bytes(), 10),
    };
    parsed.ok_or_else(|| format!("`{text}` is no number"))
}

/// Two numbers with a comma between them.
fn coordinates(text: &str) -> Result<Affine, String> {
    let (x, y) = text.split_once(',').ok_or("a point is X,Y")?;
    Ok([number(x)?, number(y)?])
}

/// Kangaroos in `LOW..HIGH`.
fn interval(text: &str) -> Result<Method, String> {
    let (lowest, highest) = text.split_once("..").ok_or("an interval is LOW..HIGH")?;
    let (lowest, highest) = (number(lowest)?, number(highest)?);
    if lowest >= highest {
        return Err(format!("{lowest} is not less than {highest}"));
    }
    Ok(Method::Kangaroo { lowest, highest })
}

impl Cli {
    fn problem(&self) -> Result<Problem, Failure> {
        let curve = match (
            &self.curve,
            &self.p,
            &self.a,
            &self.b,
            &self.order,
            &self.base,
        ) {
            (Some(name), ..) => named(name),
            (None, Some(p), Some(a), Some(b), Some(order), Some(base)) => Some(Named {
                curve: Curve {
                    p: p.clone(),
                    a: a.clone(),
                    b: b.clone(),
                },
                order: order.clone(),
                base: base.clone(),
                target: None,
            }),
            _ => None,
        };
        let Named {
            curve,
            order,
            base,
            target,
        } = curve.ok_or_else(|| Failure::Usage("there is no curve".into()))?;
        let target = match &self.multiple {
            Some(k) => {
                // The multiple is right only where the curve is: that is looked at first.
                Problem::new(curve.clone(), order.clone(), base.clone(), base.clone())?;
                curve.mul(k, &Some(base.clone()))
            }
            None => self.target.clone().or(target),
        };
        // A rate needs no question.
        let target = target.or_else(|| self.bench.map(|_| base.clone()));
        let target = target.ok_or_else(|| {
            Failure::Usage(
                "there is no point Q: --target X,Y names one, which is not infinity".into(),
            )
        })?;
        Ok(Problem::new(curve, order, base, target)?)
    }

    /// The engine of a device, if the search is for one.
    fn device(&self, expected: f64) -> Result<Option<Engine>, Failure> {
        let is_worth_it = expected >= WORTH_A_DEVICE || self.bench.is_some();
        Ok(match self.backend {
            Backend::Cpu => None,
            Backend::Cuda => Some(Engine::cuda(self.device)?),
            Backend::Auto => match devices() {
                Ok(found) if is_worth_it && !found.is_empty() => Some(Engine::cuda(self.device)?),
                _ => None,
            },
        })
    }

    /// The walks of a search of so many steps.
    fn shape(&self, is_on_device: bool, limbs: usize, expected: f64) -> Shape {
        // Multiprocessors of an H100, blocks of each, threads of a block.
        let groups = match is_on_device {
            true => 132 * self.blocks(limbs) as usize * 128,
            false => 4 * bigint_cpu::threads(),
        };
        let mut groups = self.groups.map_or(groups, NonZeroUsize::get);
        let mut walks = self
            .walks
            .map_or(if limbs == 4 { 64 } else { 256 }, usize::from);
        // A short search has no use for many walks.
        let is_much = |groups: usize, walks: usize| (groups * walks) as f64 * 64.0 > expected;
        while self.walks.is_none() && walks > 8 && is_much(groups, walks) {
            walks /= 2;
        }
        let least = if is_on_device { 128 } else { 1 };
        while self.groups.is_none() && groups > least && is_much(groups, walks) {
            groups = (groups / 2).next_multiple_of(least);
        }
        // After the meeting all walks go on for 2^bits steps, on the mean: an eighth of the search at most.
        let bits = (expected / 8.0 / (groups * walks) as f64).max(1.0).log2() as u32;
        let bits = self.distinguished_bits.unwrap_or(bits.min(26));
        // Twice what eight steps tell on the mean.
        let records = ((16 * walks) >> bits).clamp(4, 256);
        Shape {
            groups,
            walks,
            bits,
            records: self.records.map_or(records, usize::from),
        }
    }

    /// Blocks that a multiprocessor holds at once.
    fn blocks(&self, limbs: usize) -> u32 {
        self.blocks.unwrap_or(if limbs == 4 { 6 } else { 5 })
    }
}

/// Runs the program with this process's arguments.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(threads) = cli.threads {
        bigint_cpu::set_threads(threads.get());
    }
    let (told, code) = match start(&cli) {
        Ok(()) => (None, 0),
        Err(Failure::Running(what)) => (Some(what), 1),
        Err(Failure::Usage(what)) => (Some(what), 2),
        Err(Failure::Interrupted) => (None, 130),
    };
    if let Some(what) = told {
        eprintln!("error: {what}");
    }
    ExitCode::from(code)
}

fn start(cli: &Cli) -> Result<(), Failure> {
    let problem = cli.problem()?;
    let method = cli.interval.clone().unwrap_or(Method::Rho);
    if let Method::Kangaroo { highest, .. } = &method
        && highest >= problem.order()
    {
        return Err(Failure::Usage(format!(
            "{highest} is not less than the order"
        )));
    }
    // The field of the prime, of four limbs where it leaves six bits of them free.
    let p = &problem.curve().p;
    match Secp256k1::new(p) {
        Some(field) => run::run(cli, &problem, &method, &field),
        None if p.bits() <= MOST_BITS_OF_FOUR => {
            run::run(cli, &problem, &method, &Montgomery::<4>::new(p))
        }
        None => run::run(cli, &problem, &method, &Montgomery::<8>::new(p)),
    }
}
