//! A program that uses the library goes on with the threads that it can have, and is told
//! of memory that it cannot have.
#![cfg(target_os = "linux")]

use bigint_host::{Algorithm, Batch, BigUint, Engine, Error, Layout, Shape, SignedBatch};
use std::any::Any;
use std::env::{current_exe, temp_dir, var};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio, id};
use std::sync::{Mutex, PoisonError};

/// Set where this program runs under a limit: to what is asked of it there.
const LIMITED: &str = "BIGINT_TEST_LIMITED";

/// A user that nothing else runs as; no limit of threads holds for root.
const USER: u32 = 54_322;

/// One copies, or starts a program: a program that starts has what another thread writes open until it runs, and what
/// is open for writing cannot be run.
static STARTS: Mutex<()> = Mutex::new(());

/// This program where any user can reach it.
struct Program(PathBuf);

impl Program {
    fn new(test: &str) -> Self {
        let folder = temp_dir().join(format!("bigint-{test}-{}", id()));
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        let _alone = STARTS.lock().unwrap_or_else(PoisonError::into_inner);
        fs::copy(current_exe().unwrap(), folder.join("program")).unwrap();
        Program(folder)
    }

    /// Runs one of its tests under a limit of `ulimit`.
    fn passes(&self, test: &str, limit: &str, asked: usize) {
        let mut child = Command::new("bash");
        child.args(["-c", &format!(r#"ulimit {limit} && exec "$0" "$@""#)]);
        child.arg(self.0.join("program"));
        child.args(["--exact", test, "--nocapture", "--test-threads=1"]);
        // A backtrace takes memory as well, and waits for itself where there is none.
        child
            .env(LIMITED, asked.to_string())
            .env("RUST_BACKTRACE", "0")
            // Or every thread takes 64 MiB of addresses.
            .env("MALLOC_ARENA_MAX", "1")
            .current_dir("/");
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            child.uid(USER).gid(USER);
        }
        child
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let started = {
            let _alone = STARTS.lock().unwrap_or_else(PoisonError::into_inner);
            child.spawn().unwrap()
        };
        let outcome = started.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&outcome.stdout);
        let errors = String::from_utf8_lossy(&outcome.stderr);
        let is_good = outcome.status.success() && told.contains("1 passed");
        assert!(is_good, "{limit}: {told}{errors}");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_program_goes_on_with_the_threads_that_can_be_had() {
    if var(LIMITED).is_ok() {
        return share_work_out();
    }
    let program = Program::new("threads");
    for most in [1, 2, 3, 6] {
        let test = "a_program_goes_on_with_the_threads_that_can_be_had";
        program.passes(test, &format!("-u {most}"), 0);
    }
}

/// One of everything that is shared out.
fn share_work_out() {
    let engine = Engine::cpu();
    let numbers: Vec<BigUint> = (1..60_000_u64).map(|i| BigUint::from(i) << 200).collect();
    let batch = engine.batch_from_biguints(&numbers).unwrap();
    let products: Vec<BigUint> = numbers.iter().map(|number| number * number).collect();
    for algorithm in [Algorithm::Auto, Algorithm::School] {
        let engine = engine.using(algorithm);
        assert!(engine.mul(&batch, &batch).unwrap() == products);
    }
    let doubled = engine.add(&batch, &batch).unwrap();
    assert_eq!(doubled.get(7).unwrap(), Some(BigUint::from(16_u64) << 200));
    // (2^n - 1)^2 = 2^(2 n) - 2^(n + 1) + 1
    let bits = 1 << 20;
    let ones = (BigUint::from(1_u32) << bits) - 1_u32;
    let square = (BigUint::from(1_u32) << (2 * bits)) - (BigUint::from(2_u32) << bits) + 1_u32;
    let long = engine.batch_from_biguints(&[ones]).unwrap();
    let found = engine.mul(&long, &long).unwrap();
    assert!(found == [square]);
    let limbs = found.to_limbs().unwrap();
    let mut text = Vec::new();
    bigint_cpu::radix::write_decimal(&limbs, &mut text).unwrap();
    let again = bigint_cpu::radix::parse_decimal(&text).unwrap();
    assert!(again == limbs);
}

#[test]
fn a_program_is_told_of_memory_that_cannot_be_had() {
    if let Ok(case) = var(LIMITED) {
        return fill_memory(case.parse().unwrap()).unwrap();
    }
    let program = Program::new("memory");
    // Some of them have every step, shape and layout.
    let cases = 0..SHAPES.len() * Layout::ALL.len() * STEPS.len();
    for case in cases.step_by(bigint_testing::sweep(3, 1)) {
        let test = "a_program_is_told_of_memory_that_cannot_be_had";
        program.passes(test, "-v 150000", case);
    }
}

/// Numbers, and their limbs.
const SHAPES: [(usize, usize); 2] = [(1 << 17, 1), (1 << 14, 24)];

/// One of what takes as much memory as it is told to.
type Step = fn(&Engine, &Batch, &SignedBatch) -> Result<Box<dyn Any>, Error>;

const STEPS: [(&str, Step); 7] = [
    ("to_biguints", |_, a, _| Ok(Box::new(a.to_biguints()?))),
    ("to_bytes_le", |_, a, _| Ok(Box::new(a.to_bytes_le()?))),
    ("mul", |engine, a, _| Ok(Box::new(engine.mul(a, a)?))),
    ("to_bigints", |_, _, minus| {
        Ok(Box::new(minus.to_bigints()?))
    }),
    ("signed_mul", |engine, _, minus| {
        Ok(Box::new(engine.mul(minus, minus)?))
    }),
    ("signed_add", |engine, a, minus| {
        let plus = SignedBatch::natural(a.clone());
        Ok(Box::new(engine.add(minus, &plus)?))
    }),
    ("signed_sub", |engine, _, minus| {
        Ok(Box::new(engine.sub(minus, minus)?))
    }),
];

/// Keeps what a step gives until there is no memory for more. A program does this for one case
/// alone: what the one before has given back may be in pieces that are too short for the next.
fn fill_memory(case: usize) -> Result<(), Error> {
    let (name, step) = STEPS[case % STEPS.len()];
    let case = case / STEPS.len();
    let layout = Layout::ALL[case % Layout::ALL.len()];
    let (count, width) = SHAPES[case / Layout::ALL.len()];
    let engine = Engine::cpu();
    let shape = Shape::new(count, width, layout);
    let a = engine.batch_from_limbs(vec![7; shape.limbs()], shape)?;
    let minus = SignedBatch::new(a.clone(), &vec![true; count])?;
    let mut kept = Vec::with_capacity(1 << 16);
    let error = loop {
        match step(&engine, &a, &minus) {
            Ok(made) => kept.push(made),
            Err(error) => break error,
        }
    };
    let is_told = matches!(error, Error::OutOfMemory { .. });
    assert!(is_told && !kept.is_empty(), "{name}: {error}");
    Ok(())
}
