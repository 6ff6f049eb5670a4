//! `mersenne selftest`: known primes are found, known residues come out.

use std::time::Instant;

use clap::Args;
use mersenne::{KNOWN_PRIMES, LucasLehmer, Outcome, Prp, Saved, Step};

use super::{Common, Failure};

#[derive(Args)]
pub struct Arguments {
    /// Exponents up to this
    #[arg(long, value_name = "P", default_value_t = 23_209)]
    to: u32,
    #[command(flatten)]
    common: Common,
}

/// Composite `2^p - 1`: exponent, the last Lucas-Lehmer residue and the type 1 PRP
/// residue, low 64 bits, by Python's integers (`tests/residues.py`).
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
    let seconds = started.elapsed().as_secs_f64();
    println!("{tests} tests, all right, in {seconds:.1} s");
    Ok(())
}
