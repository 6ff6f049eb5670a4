//! The program: its commands and options, and its exit codes. 0 is success, 1 a failure while
//! running, 2 bad usage or bad input, 128 and a signal's number an interruption, with the test saved.

mod attended;
mod bench;
mod candidates;
mod certificates;
mod ecm;
mod output;
mod p_minus_1;
mod proving;
mod report;
mod run;
mod saving;
mod selftest;
mod status;
mod stop;
mod trial;
mod tune;
mod verify;
mod work;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::primenet::Reporter;
use crate::{
    Arithmetic, Auto, Backend, Cofactor, Cpu, Cuda, Ecm, Folder, Number, Proof, Stage2, is_prime,
};
use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use output::note;
use proving::ProofFormat;
use run::Task;
use stop::Stop;

/// Tests and factors of Mersenne numbers 2^P - 1, and tests of numbers K*B^N+C
#[derive(Parser)]
#[command(name = "mersenne", version)]
struct Cli {
    /// Threads of the CPU; by default one for each core
    #[arg(long, value_name = "T", global = true)]
    threads: Option<NonZeroUsize>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lucas-Lehmer test of 2^P - 1
    Ll(Test),
    /// Probable-prime test of 2^P - 1 to the base 3, with Gerbicz' check and a proof
    Prp(Prp),
    /// P-1 of 2^P - 1: a factor F of which F - 1 has no prime power above B1, or one prime up to B2
    Pm1(PMinus1),
    /// Elliptic curves for 2^P - 1: a factor of which the order of a curve's group has no prime power above B1,
    /// or one prime up to B2
    Ecm(Curves),
    /// Trial factoring of 2^P - 1: all prime factors between two powers of two
    Tf(Trial),
    /// Lucas-Lehmer-Riesel test of K 2^N - 1
    Llr(Other),
    /// Proth's test of K 2^N + 1, with Gerbicz' check
    Proth(Other),
    /// The test of a number K*B^N+C: Proth's of K*2^N+1; else a probable-prime test to the base 3 with
    /// Gerbicz' check, and where that finds a probable prime K*B^N+-1, a proof by what B's factors are
    Test(Expression),
    /// Tests of the numbers K*B^N+C of a sieve's file, in ABC or NewPGen form
    File(candidates::Arguments),
    /// Check the proof of a PRP test
    Verify(verify::Arguments),
    /// The certificate of a test whose proof is in PRST's files: what another has to compute, and its result
    BuildCert(certificates::Build),
    /// Compute what a certificate of PRST or LLR2 asks for
    Cert(certificates::Run),
    /// The tests that worktodo.txt asks for, one after another
    Work(work::Arguments),
    /// How far the tests of a folder are
    Status(status::Arguments),
    /// Time of an iteration for exponents
    Bench(bench::Arguments),
    /// Find the lengths worth using on this machine
    Tune(tune::Arguments),
    /// Known primes and residues, on this machine
    Selftest(selftest::Arguments),
}

#[derive(Args)]
struct Test {
    /// The exponent, a prime
    #[arg(value_name = "P", value_parser = prime)]
    p: u32,
    /// End with one JSON object on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Prp {
    #[command(flatten)]
    test: Test,
    /// Factors of 2^P - 1: what is left without them is tested
    #[arg(long, value_name = "F,F", value_delimiter = ',')]
    known_factors: Vec<bigint_host::BigUint>,
}

#[derive(Args)]
struct PMinus1 {
    #[command(flatten)]
    test: Test,
    /// The bound; there are 1.44 B1 squarings
    #[arg(long, value_name = "B1", value_parser = bound(), required_unless_present = "factored")]
    b1: Option<u32>,
    /// The bound of the second stage, at least B1; by default there is none
    #[arg(long, value_name = "B2", requires = "b1")]
    b2: Option<u64>,
    /// In place of bounds: there is no factor below 2^BITS. The bounds are those that pay
    #[arg(long, value_name = "BITS", conflicts_with = "b1", value_parser = value_parser!(u32).range(1..=200))]
    factored: Option<u32>,
    /// And a factor saves so many tests
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    tests_saved: f64,
}

#[derive(Args)]
struct Curves {
    #[command(flatten)]
    test: Test,
    /// The bound of the first stage; a curve takes 13 B1 products there
    #[arg(long, value_name = "B1", value_parser = bound())]
    b1: u32,
    /// The bound of the second stage, at least B1; by default there is none
    #[arg(long, value_name = "B2")]
    b2: Option<u64>,
    /// The number of curves; the first that finds a factor is the last
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..))]
    curves: u32,
    /// The first curve, GMP-ECM's 0:S; the others are S + 1, S + 2 and so on. By default it is random
    #[arg(long, value_name = "S", value_parser = value_parser!(u64).range(Ecm::LEAST_SIGMA..=Ecm::MOST_SIGMA))]
    sigma: Option<u64>,
    /// Factors of 2^P - 1 that are not to be found again
    #[arg(long, value_name = "F,F", value_delimiter = ',')]
    known_factors: Vec<bigint_host::BigUint>,
}

#[derive(Args)]
struct Trial {
    #[command(flatten)]
    test: Test,
    /// Factors from 2^BITS on, BITS from 1
    #[arg(long, value_name = "BITS")]
    from: u32,
    /// Factors below 2^BITS, BITS up to 95
    #[arg(long, value_name = "BITS")]
    to: u32,
}

#[derive(Args)]
struct Other {
    /// Odd, and below 2^N
    #[arg(value_name = "K", value_parser = odd)]
    k: u32,
    /// The exponent, 3 or more
    #[arg(value_name = "N", value_parser = value_parser!(u32).range(3..))]
    n: u32,
    /// End with one JSON object on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Expression {
    /// The number, as 2*3^1175232+1
    #[arg(value_name = "K*B^N+C", value_parser = crate::number)]
    number: Number,
    /// End with one JSON object on standard output, or two
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

/// The options of every test.
#[derive(Args, Clone)]
struct Common {
    /// Where save files are, results.json.txt, worktodo.txt and mersenne-tune.json
    #[arg(long, value_name = "D", default_value = ".")]
    folder: PathBuf,
    /// The machine
    #[arg(long, value_name = "B", value_enum, default_value_t)]
    backend: BackendName,
    /// The GPU, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    device: usize,
    /// How the CPU squares
    #[arg(long, value_name = "A", value_enum, default_value_t)]
    arithmetic: ArithmeticName,
    /// Time from one save to the next
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = humantime::parse_duration)]
    save_every: Duration,
    /// Saves of each test that stay beside the last one, up to 9
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = backups)]
    backups: usize,
    /// Save the test and wait while a program of one of these names runs (Linux): one that wants the GPU
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    pause_while: Vec<String>,
    /// Time from one line of progress to the next
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    report_every: Duration,
    /// PRP and Proth: halvings of the proof that ends the test, 0 for none; residues of 2^K iterations
    /// are kept in the folder meanwhile. By default none, but for 2^P - 1: 8 to 10, by the exponent, and
    /// fewer for one below 65536 or where the disk has no room
    #[arg(long, value_name = "K", value_parser = value_parser!(u32).range(0..=Proof::MOST_POWER as i64))]
    proof_power: Option<u32>,
    /// The files of the proof
    #[arg(long, value_name = "F", value_enum, default_value_t)]
    proof_format: ProofFormat,
    /// LL and PRP of 2^P - 1: the power of two, below P, by which the first residue is multiplied, so that
    /// two tests of a number compute different ones. By default it is random
    #[arg(long, value_name = "N")]
    shift_count: Option<u32>,
    /// Your name at PrimeNet, for results
    #[arg(long)]
    user: Option<String>,
    /// This computer's
    #[arg(long)]
    computer: Option<String>,
    /// This worker's, which you choose
    #[arg(long)]
    uid: Option<String>,
    /// The number of this worker of `mersenne work`, if it has one
    #[arg(skip)]
    worker: Option<u32>,
    /// Whether AutoPrimeNet takes this worker of `mersenne work` for PRPLL
    #[arg(skip)]
    autoprimenet: bool,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum BackendName {
    /// An NVIDIA GPU for long exponents where there is one, else the CPU
    #[default]
    Auto,
    /// All cores
    Cpu,
    /// An NVIDIA GPU
    Cuda,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum ArithmeticName {
    /// Whichever is faster
    #[default]
    Auto,
    /// Integers
    Exact,
    /// A weighted transform in doubles
    Fp64,
}

/// Why the program ends without its result.
enum Failure {
    /// Exit code 2.
    Usage(String),
    /// Exit code 1.
    Running(String),
    /// This signal came; the test is saved.
    Interrupted(i32),
    /// Standard output has lost its reader, as with `head`. Exit code 0, without a word.
    ReaderGone,
}

impl From<crate::Error> for Failure {
    fn from(error: crate::Error) -> Self {
        Failure::Running(error.to_string())
    }
}

impl Common {
    fn folder(&self) -> Result<Folder, Failure> {
        if !self.folder.is_dir() {
            let folder = self.folder.display();
            return Err(Failure::Usage(format!("{folder} is not a folder")));
        }
        Ok(Folder::new(&self.folder).with_backups(self.backups))
    }

    /// The name of a file of this worker: `mersenne.log`, or `mersenne-2.log` of worker 2.
    fn own(&self, stem: &str, end: &str) -> String {
        match self.worker {
            None => format!("{stem}{end}"),
            Some(number) => format!("{stem}-{number}{end}"),
        }
    }

    /// The name of the file of this worker's results.
    fn results(&self) -> String {
        match self.worker {
            None => "results.json.txt".to_owned(),
            Some(_) => self.own("results", ".txt"),
        }
    }

    fn backend(&self) -> Result<Box<dyn Backend + Send>, Failure> {
        let cpu = Cpu {
            arithmetic: match self.arithmetic {
                ArithmeticName::Auto => Arithmetic::Auto,
                ArithmeticName::Exact => Arithmetic::Exact,
                ArithmeticName::Fp64 => Arithmetic::Fp64,
            },
            lengths: tune::lengths(&self.folder()?)?,
            ..Cpu::default()
        };
        Ok(match self.backend {
            // Only the CPU has a choice of arithmetic.
            BackendName::Auto if cpu.arithmetic == Arithmetic::Auto => {
                Box::new(Auto::new(self.device, cpu))
            }
            BackendName::Auto | BackendName::Cpu => Box::new(cpu),
            BackendName::Cuda => Box::new(Cuda::open(self.device)?),
        })
    }

    /// The shift of a test of this number.
    fn shift(&self, number: Number) -> u32 {
        let random = || RandomState::new().build_hasher().finish();
        let of = |p: u32| self.shift_count.unwrap_or((random() % u64::from(p)) as u32) % p;
        number.exponent().map_or(0, of)
    }

    fn reporter(&self, id: Option<String>) -> Reporter {
        Reporter {
            user: self.user.clone(),
            computer: self.computer.clone(),
            worker: self.uid.clone(),
            id,
            form: self.autoprimenet.then_some("prpll"),
        }
    }
}

impl Test {
    fn run(&self, worktype: &'static str) -> Result<(), Failure> {
        let task = Task::test(worktype, self.p.into());
        run::alone(task, self.json, &self.common, &Stop::on_signals())
    }
}

impl Prp {
    fn run(&self) -> Result<(), Failure> {
        let Test { p, json, common } = &self.test;
        if self.known_factors.is_empty() {
            return self.test.run("PRP-3");
        }
        let cofactor = Cofactor::new(*p, self.known_factors.clone()).map_err(Failure::Usage)?;
        run::alone(Task::cofactor(cofactor), *json, common, &Stop::on_signals())
    }
}

impl PMinus1 {
    fn run(&self) -> Result<(), Failure> {
        let Test { p, json, common } = &self.test;
        odd_exponent("P-1", *p)?;
        let bounds = match (self.b1, self.factored) {
            (Some(first), _) => (first, self.b2),
            (None, bits) => p_minus_1::bounds(*p, bits.unwrap_or(1), self.tests_saved)?,
        };
        check_second(bounds)?;
        let stop = Stop::on_signals();
        p_minus_1::one(*p, bounds, common, None, &stop)?.report(*json, common, &stop)
    }
}

impl Curves {
    fn run(&self) -> Result<(), Failure> {
        let Test { p, json, common } = &self.test;
        odd_exponent("ECM", *p)?;
        check_second((self.b1, self.b2))?;
        let left = match &self.known_factors[..] {
            [] => None,
            known => Some(Cofactor::new(*p, known.to_vec()).map_err(Failure::Usage)?),
        };
        let curves = crate::Curves {
            first: self.b1,
            second: self.b2.filter(|&second| second > self.b1.into()),
            count: self.curves,
            sigma: self.sigma,
            left,
        };
        let stop = Stop::on_signals();
        ecm::one(*p, curves, common, None, &stop)?.report(*json, common, &stop)
    }
}

fn odd_exponent(what: &str, p: u32) -> Result<(), Failure> {
    if p == 2 {
        let what = format!("{what} is for odd exponents: 2^2 - 1 is 3, a prime");
        return Err(Failure::Usage(what));
    }
    Ok(())
}

fn check_second((first, second): (u32, Option<u64>)) -> Result<(), Failure> {
    match second {
        Some(second) if !(u64::from(first)..=Stage2::GREATEST_BOUND).contains(&second) => {
            let what = format!("B2 is a number from B1 to {}", Stage2::GREATEST_BOUND);
            Err(Failure::Usage(what))
        }
        _ => Ok(()),
    }
}

impl Trial {
    fn run(&self) -> Result<(), Failure> {
        let Test { p, json, common } = &self.test;
        trial::alone(trial::range(*p, self.from, self.to)?, *json, common)
    }
}

impl Expression {
    fn run(&self) -> Result<(), Failure> {
        let Expression {
            number,
            json,
            common,
        } = self;
        if !run::all(*number, *json, common, &Stop::on_signals())? {
            let results = common.folder()?.file(&common.results());
            note!("{number} has its result in {} already", results.display());
        }
        Ok(())
    }
}

impl Other {
    fn run(&self, worktype: &'static str, is_plus: bool) -> Result<(), Failure> {
        let Other { k, n, json, common } = self;
        let number = Number::new(*k, *n, is_plus).filter(|_| u64::from(*k) >> n.min(&32) == 0);
        let Some(number) = number else {
            return Err(Failure::Usage(format!("{k} is not below 2^{n}")));
        };
        if !is_plus && common.proof_power.is_some() {
            let what =
                "Lucas-Lehmer tests have no proof; `mersenne test` and `mersenne prp` make one";
            return Err(Failure::Usage(what.to_owned()));
        }
        // 2^p - 1 is tested as any other number, and its test has a name of its own.
        let worktype = number.exponent().map_or(worktype, |_| "LL");
        run::alone(
            Task::test(worktype, number),
            *json,
            common,
            &Stop::on_signals(),
        )
    }
}

/// The parser of `B1`.
fn bound() -> clap::builder::RangedI64ValueParser<u32> {
    value_parser!(u32).range(2..=i64::from(crate::PMinus1::GREATEST_BOUND))
}

fn backups(text: &str) -> Result<usize, String> {
    let number = text.parse().ok();
    let number = number.filter(|number| (1..=Folder::MOST_BACKUPS).contains(number));
    number.ok_or_else(|| format!("it is a number from 1 to {}", Folder::MOST_BACKUPS))
}

fn odd(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(k) if k % 2 == 1 => Ok(k),
        Ok(k) => Err(format!("{k} is even: take the twos into the exponent")),
        Err(_) => Err("it is a number below 2^32".to_owned()),
    }
}

fn prime(text: &str) -> Result<u32, String> {
    let p = text
        .parse()
        .map_err(|_| "an exponent is a number below 2^32")?;
    if is_prime(p) {
        Ok(p)
    } else {
        Err(format!("{p} is not prime, so 2^{p} - 1 is not"))
    }
}

/// Runs the program with this process's arguments.
pub fn main() -> ExitCode {
    bigint_cpu::program::start();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Where standard error is closed, nothing can be said.
            let is_told = match error.print() {
                Err(printing) => printing.kind() == io::ErrorKind::BrokenPipe,
                Ok(()) => true,
            };
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            return ExitCode::from(if is_told { code } else { code.max(1) });
        }
    };
    if let Some(threads) = cli.threads {
        bigint_cpu::set_threads(threads.get());
    }
    // A lack of memory unwinds, and is no defect.
    let done = catch_unwind(AssertUnwindSafe(|| run_command(&cli.command)));
    let done = done.unwrap_or_else(|panic| match panic.downcast::<bigint_cpu::Error>() {
        Ok(error) => Err(Failure::Running(error.to_string())),
        Err(panic) => resume_unwind(panic),
    });
    match done {
        Ok(()) | Err(Failure::ReaderGone) => ExitCode::SUCCESS,
        Err(Failure::Usage(what)) => {
            note!("error: {what}");
            ExitCode::from(2)
        }
        Err(Failure::Running(what)) => {
            note!("error: {what}");
            ExitCode::from(1)
        }
        Err(Failure::Interrupted(signal)) => {
            ExitCode::from(u8::try_from(128 + signal).unwrap_or(1))
        }
    }
}

fn run_command(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Ll(test) => test.run("LL"),
        Command::Prp(test) => test.run(),
        Command::Pm1(stage) => stage.run(),
        Command::Ecm(curves) => curves.run(),
        Command::Tf(trial) => trial.run(),
        Command::Llr(test) => test.run("LLR", false),
        Command::Proth(test) => test.run("Proth", true),
        Command::Test(test) => test.run(),
        Command::File(arguments) => candidates::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
        Command::BuildCert(arguments) => certificates::build(arguments),
        Command::Cert(arguments) => certificates::run(arguments),
        Command::Work(arguments) => work::run(arguments),
        Command::Status(arguments) => status::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Tune(arguments) => tune::run(arguments),
        Command::Selftest(arguments) => selftest::run(arguments),
    }
}
