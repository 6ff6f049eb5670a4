//! `bigint batch-gcd`: which of many keys share a prime.
//!
//! [`keys`] reads keys of [`text`]s and tables and tells the same modulus from another, the library finds what moduli share,
//! [`known`] keeps it in a folder, and [`report`] writes it down.

mod keys;
mod known;
mod report;
mod text;

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use bigint_host::{BatchGcd, BigUint, Common, Engine, Integers};

use crate::backend::BackendName;
use crate::failure::Failure;
use crate::options;
use crate::output;
use crate::progress;
use keys::Keys;
use known::Known;
use report::Weakness;

/// Find keys that share a prime with another, and so can be factored
///
/// Keys are integers, one on a line or in a table's column as calc reads them, or RSA keys: certificates,
/// requests and public keys in PEM or DER, and public keys of SSH. Keys of other kinds are passed over. For each
/// weak key the report has its place, what is wrong with it, its factors, and where the keys are that it
/// shares them with.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Files of keys, with :COLUMN where they are tables; - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<OsString>,
    /// Write one JSON object for each weak key, with file, line, kind (shared, duplicate, even, small,
    /// prime), factors and with
    #[arg(long)]
    json: bool,
    /// Write to this file instead of standard output; it appears when complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Memory for the trees, beside that of the keys, as in 500M or 16G; half of what is free unless this
    /// says else
    #[arg(long, value_name = "SIZE", value_parser = options::memory)]
    memory: Option<usize>,
    /// Keep what is found in this folder: a run that was killed is taken up by the same command, and
    /// keys of later runs are compared with those of earlier ones too
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Leave out the test for moduli that are prime, which takes about as long as all else
    #[arg(long)]
    no_primes: bool,
    /// Say on standard error how long each part took
    #[arg(long)]
    time: bool,
    /// Who computes: auto, cpu, cuda, cuda:N or cuda:N,M,...
    #[arg(long, default_value_t, value_name = "BACKEND")]
    backend: BackendName,
}

/// Memory for trees where the system does not say how much is free.
const MEMORY: usize = 2 << 30;

/// Runs the command.
///
/// # Errors
/// [`Failure::Input`] where a file has no keys, or an integer that is none; [`Failure::Running`].
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut out = output::Output::open(arguments.output.as_deref(), false)?;
    let started = Instant::now();
    let told = |part: &str| {
        if arguments.time {
            output::tell(format_args!(
                "{part}: {:.3} s",
                started.elapsed().as_secs_f64()
            ));
        }
    };
    let known = arguments.folder.as_deref().map(Known::open).transpose()?;
    let mut keys = Keys::new();
    if let Some(known) = &known {
        known.read_keys(&mut keys)?;
    }
    let old = keys.moduli().len();
    keys.begin_new();
    keys.read(&arguments.files)?;
    keys.end_new();
    if let Some(passed_over) = keys.passed_over() {
        output::tell(passed_over);
    }
    told("read");
    if keys.places().is_empty() {
        return Err(Failure::Usage(
            "no RSA key and no integer in these files".to_owned(),
        ));
    }
    let engine = arguments.backend.engine()?;
    let search = Search {
        arguments,
        engine: &engine,
        keys: &keys,
        old,
    };
    let fresh = keys.moduli().slice(old..keys.moduli().len())?;
    let products = known
        .as_ref()
        .map(Known::products)
        .transpose()?
        .unwrap_or_default();
    let (how, common) = search.common(&fresh, &products)?;
    told("compared");
    let weaknesses = search.weaknesses(&fresh, &common)?;
    told("factored");
    let text = report::write(&keys, &weaknesses, arguments.json)?;
    out.write(text.as_bytes())?;
    out.finish()?;
    if let Some(known) = &known {
        known.keep(&engine, &keys, &weaknesses, &products, &common.products)?;
        how.forget(&fresh, &products)?;
    }
    for warning in engine.warnings() {
        output::tell(format_args!("warning: {warning}"));
    }
    let weak = weaknesses
        .iter()
        .filter(|weakness| weakness.is_reported)
        .count();
    let (count, moduli) = (keys.places().len(), keys.moduli().len());
    output::tell(format_args!(
        "{weak} of {count} keys are weak; {moduli} different moduli"
    ));
    Ok(())
}

/// What is compared, and by whom.
struct Search<'a> {
    arguments: &'a Arguments,
    engine: &'a Engine,
    keys: &'a Keys,
    /// Moduli of earlier runs: the first ones.
    old: usize,
}

impl Search<'_> {
    /// What new moduli share with one another and with old ones.
    fn common(&self, fresh: &Integers, products: &Integers) -> Result<(BatchGcd, Common), Failure> {
        let memory = self
            .arguments
            .memory
            .or_else(|| free_memory().map(|free| free / 2));
        let mut how = BatchGcd::new(self.engine).within(memory.unwrap_or(MEMORY));
        if let Some(folder) = &self.arguments.folder {
            how = how.in_folder(&folder.join("run")).with_products();
        }
        let bar: RefCell<Option<progress::Progress>> = RefCell::new(None);
        let common = how.find(fresh, products, &|done| {
            let mut bar = bar.borrow_mut();
            let total = (done.of_levels + done.of_groups) as u64;
            let bar = bar.get_or_insert_with(|| progress::Progress::of_levels(total));
            bar.set((done.levels + done.groups) as u64);
        })?;
        Ok((how, common))
    }

    /// What is wrong with each key that something is wrong with.
    fn weaknesses(&self, fresh: &Integers, common: &Common) -> Result<Vec<Weakness>, Failure> {
        let mut shares: Vec<bool> = vec![false; self.keys.moduli().len()];
        let mut found = Vec::new();
        for index in 0..fresh.len() {
            let divisor = common.divisors.magnitude(index);
            if divisor != [1] {
                shares[self.old + index] = true;
                found.push(BigUint::from_slice(divisor));
            }
        }
        for index in self.shared_by_old(found)? {
            shares[index] = true;
        }
        for &index in self.keys.weak_before() {
            shares[index] = true;
        }
        let indices: Vec<usize> = (0..shares.len()).filter(|&index| shares[index]).collect();
        let factors = self
            .engine
            .shared_factors(&self.keys.moduli().gather(&indices)?)?;
        let primes = match self.arguments.no_primes {
            true => vec![false; fresh.len()],
            false => self.primes(fresh)?,
        };
        let small = (0..fresh.len()).filter(|&index| common.small.magnitude(index) != [1]);
        let small: Vec<usize> = small.collect();
        let parts = self.engine.shared_factors(&fresh.gather(&small)?)?;
        let mut of_moduli = report::OfModuli::new(self.keys);
        for (index, factors) in indices.into_iter().zip(factors) {
            of_moduli.share(index, factors);
        }
        for (index, parts) in small.into_iter().zip(parts) {
            of_moduli.small(self.old + index, parts);
        }
        for (index, _) in primes.iter().enumerate().filter(|(_, is_prime)| **is_prime) {
            of_moduli.prime(self.old + index);
        }
        Ok(of_moduli.weaknesses())
    }

    /// Old moduli that share what new ones were found to share.
    fn shared_by_old(&self, found: Vec<BigUint>) -> Result<Vec<usize>, Failure> {
        if self.old == 0 || found.is_empty() {
            return Ok(Vec::new());
        }
        let old = self.keys.moduli().slice(0..self.old)?;
        let mut hits = Vec::new();
        // A product of few of them is divided by each modulus in no time.
        for part in found.chunks(32) {
            let product = [part.iter().product::<BigUint>()];
            let rests = self.engine.rem(&Integers::from_biguints(&product)?, &old)?;
            let common = self.engine.gcd(&rests, &old)?;
            hits.extend((0..self.old).filter(|&index| common.magnitude(index) != [1]));
        }
        Ok(hits)
    }

    /// Which moduli are prime: few pass a test to the base 2, of which the others are seen by a second
    /// look.
    fn primes(&self, moduli: &Integers) -> Result<Vec<bool>, Failure> {
        let mut likely = self
            .engine
            .is_strong_probable_prime(moduli, &[2u8.into()])?;
        let indices: Vec<usize> = (0..likely.len()).filter(|&index| likely[index]).collect();
        let are_primes = self.engine.is_prime(&moduli.gather(&indices)?)?;
        for (index, is_prime) in indices.into_iter().zip(are_primes) {
            likely[index] = is_prime;
        }
        Ok(likely)
    }
}

/// Bytes of memory that programs can have without others' being swapped out.
fn free_memory() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: usize = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
