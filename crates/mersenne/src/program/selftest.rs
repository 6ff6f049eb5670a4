//! `mersenne selftest`: compares tests with known primes and residues.

use std::time::Instant;

use crate::{Backend, Cpu, KNOWN_PRIMES, LucasLehmer, Number, Outcome, Prp, Residue, Saved, Step};
use clap::Args;

use super::output::print;
use super::{Common, Failure};

#[derive(Args)]
pub struct Arguments {
    /// Exponents up to this
    #[arg(long, value_name = "P", default_value_t = 23_209)]
    to: u32,
    /// And so many iterations of the test of 2^P - 1 or of a number K*B^N+C, whose residues are to be those
    /// of the CPU; again and again
    #[arg(long, value_name = "NUMBER:ITERATIONS", value_parser = iterations)]
    compare: Vec<(Number, u32)>,
    #[command(flatten)]
    common: Common,
}

/// Composite numbers `2^p - 1`, by Python's integers (`tests/residues.py`): the exponent, and the low
/// 64 bits of the last Lucas-Lehmer residue and of the PRP residue of type 1.
const RESIDUES: &str = include_str!("../../tests/residues.txt");

fn residues() -> impl Iterator<Item = (u32, u64, u64)> {
    RESIDUES.lines().map(|line| {
        let mut fields = line.split(' ');
        let mut field = |radix| {
            let field = fields.next().expect("three fields a line");
            u64::from_str_radix(field, radix).expect("numbers")
        };
        let p = u32::try_from(field(10)).expect("an exponent");
        (p, field(16), field(16))
    })
}

fn iterations(text: &str) -> Result<(Number, u32), String> {
    let (number, iterations) = text
        .split_once(':')
        .ok_or("it is P:ITERATIONS or K*B^N+C:ITERATIONS")?;
    let iterations = iterations.parse().map_err(|_| "iterations are a number")?;
    let number = match number.parse::<u32>() {
        Ok(_) => super::prime(number)?.into(),
        Err(_) => crate::number(number)?,
    };
    Ok((number, iterations))
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let backend = arguments.common.backend()?;
    let started = Instant::now();
    let mut tests = 0;
    let primes = KNOWN_PRIMES.into_iter().filter(|&p| p > 2);
    let primes = primes.map(|p| (p, true, 0, 1));
    let composites = residues().map(|(p, ll, prp)| (p, false, ll, prp));
    for (p, is_prime, ll, prp) in primes.chain(composites) {
        if p > arguments.to {
            continue;
        }
        for (test, res64) in [
            (Saved::LucasLehmer(LucasLehmer::new(p)), ll),
            (Saved::Prp(Prp::new(p)), prp),
        ] {
            let mut test = test;
            let mut runner = test.runner(&*backend)?;
            let outcome = loop {
                if let Step::Done(outcome) = test.advance(&mut runner, 1 << 20)? {
                    break outcome;
                }
            };
            let expected = Outcome {
                is_prime,
                res64,
                errors: 0,
            };
            if outcome != expected {
                let worktype = test.worktype();
                return Err(Failure::Running(format!(
                    "M{p} {worktype}: {outcome:?}, but {expected:?} is right"
                )));
            }
            tests += 1;
        }
    }
    for &(number, iterations) in &arguments.compare {
        let residue = |backend: &dyn Backend| -> Result<Residue, Failure> {
            let mut runner = Saved::new(number, Saved::worktypes(number)[0]).runner(backend)?;
            runner.square(iterations)?;
            Ok(runner.residue()?)
        };
        let [ours, cpu] = [residue(&*backend)?, residue(&Cpu::default())?];
        if ours != cpu {
            return Err(Failure::Running(format!(
                "{number}: after {iterations} iterations {:016X}, on the CPU {:016X}",
                ours.res64(),
                cpu.res64()
            )));
        }
        print(&format!(
            "{number}: {:016X} after {iterations} iterations, as on the CPU",
            ours.res64()
        ))?;
        tests += 1;
    }
    let seconds = started.elapsed().as_secs_f64();
    print(&format!("{tests} tests, all right, in {seconds:.1} s"))
}
