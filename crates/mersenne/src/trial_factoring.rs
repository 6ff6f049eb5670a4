//! Trial factoring, which finds the prime factors of `2^p - 1` in a range.
//!
//! [`bigint_cpu::fast::trial`] and [`bigint_host::TrialFactors`] try the candidates, which come in
//! segments, nearly by their size. One that divides may be a product of factors: it is split by
//! Pollard's rho ([`bigint_cpu::fast::trial::divisor`]), and its primes are kept, of whatever size.
//!
//! Example: `233 1103` is a candidate of `2^29 - 1`, and divides it; 233 and 1103 are found.

use std::ops::Range;

use bigint_cpu::fast::trial::{Candidates, Trial, divisor};
use bigint_host::{BigUint, Engine};
use serde::{Deserialize, Serialize};

use crate::save::{opened, sealed};
use crate::{Backend, Error, Save};

/// A machine that tries the candidates of segments.
pub trait Tries {
    /// The candidates of these segments that divide, as [`Trial::divisors`] returns them.
    ///
    /// # Errors
    /// If the machine fails.
    fn divisors(&self, segments: Range<u64>) -> Result<Vec<u128>, Error>;
}

// All cores of the CPU.
impl Tries for Trial {
    fn divisors(&self, segments: Range<u64>) -> Result<Vec<u128>, Error> {
        Ok(Trial::divisors(self, segments))
    }
}

/// Trial factoring of `2^p - 1` at some segment.
#[derive(Clone, Debug)]
pub struct TrialFactoring {
    trial: Trial,
    /// The segments that are done.
    done: u64,
    /// The primes that were found, ascending.
    factors: Vec<u128>,
}

/// The second line of its save file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    exponent: u32,
    worktype: String,
    from: u32,
    to: u32,
    segment: u64,
    factors: Vec<String>,
}

impl TrialFactoring {
    /// The most bits that a factor may have.
    pub const MOST_BITS: u32 = bigint_cpu::fast::trial::MOST_BITS;

    /// Trial factoring at the beginning of the range from `2^from` to `2^to`, for an odd prime `p`;
    /// `None` where the range is empty, or so long that it would never end.
    ///
    /// ```
    /// use mersenne::{Backend, Cpu, TrialFactoring};
    /// let mut trial = TrialFactoring::new(29, 1, 12).unwrap();
    /// let tries = Cpu::default().tries(trial.trial())?;
    /// while !trial.advance(&*tries, 1000)? {}
    /// assert_eq!(trial.factors(), [233, 1103, 2089]);
    /// # Ok::<(), mersenne::Error>(())
    /// ```
    pub fn new(p: u32, from: u32, to: u32) -> Option<Self> {
        Some(TrialFactoring {
            trial: Trial::new(Candidates::new(p, from, to)?),
            done: 0,
            factors: Vec::new(),
        })
    }

    /// The candidates.
    pub fn trial(&self) -> &Trial {
        &self.trial
    }

    /// The exponent.
    pub fn p(&self) -> u32 {
        self.trial.candidates().p()
    }

    /// The exponents of the range's bounds.
    pub fn bits(&self) -> [u32; 2] {
        self.trial.candidates().bits()
    }

    /// The segments that are done, and all segments.
    pub fn progress(&self) -> (u64, u64) {
        (self.done, self.trial.segments())
    }

    /// The primes that have been found, ascending.
    pub fn factors(&self) -> &[u128] {
        &self.factors
    }

    /// Tries up to `segments` segments, and returns whether all are done. Where the machine fails,
    /// nothing is done.
    ///
    /// # Errors
    /// As for [`Tries::divisors`].
    pub fn advance(&mut self, tries: &dyn Tries, segments: u64) -> Result<bool, Error> {
        let end = self
            .trial
            .segments()
            .min(self.done.saturating_add(segments));
        let found = tries.divisors(self.done..end)?;
        self.factors.extend(prime_factors(found)?);
        self.factors.sort_unstable();
        self.factors.dedup();
        self.done = end;
        Ok(end == self.trial.segments())
    }

    /// What tries the candidates on this machine.
    ///
    /// # Errors
    /// As for [`Backend::tries`].
    pub fn tries(&self, backend: &dyn Backend) -> Result<Box<dyn Tries>, Error> {
        backend.tries(&self.trial)
    }
}

impl Save for TrialFactoring {
    const UNIT: &'static str = "segment";

    fn name(&self) -> String {
        let [from, to] = self.bits();
        format!("m{}.{from}-{to}.tf", self.p())
    }

    fn done(&self) -> u64 {
        self.done
    }

    fn res64(&self) -> Option<u64> {
        None
    }

    fn to_bytes(&self) -> Vec<u8> {
        let [from, to] = self.bits();
        let header = Header {
            exponent: self.p(),
            worktype: "TF".to_owned(),
            from,
            to,
            segment: self.done,
            factors: self.factors.iter().map(u128::to_string).collect(),
        };
        sealed(&header, [])
    }

    fn from_bytes(bytes: &[u8], start: &Self) -> Result<Option<Self>, String> {
        let (header, _): (Header, _) = opened(bytes)?;
        let of = (header.exponent, [header.from, header.to]);
        if header.worktype != "TF" || of != (start.p(), start.bits()) {
            return Err("it is of another range".to_owned());
        }
        let (_, segments) = start.progress();
        let factors = header.factors.iter().map(|factor| factor.parse());
        match factors.collect() {
            Ok(factors) if header.segment <= segments => Ok(Some(TrialFactoring {
                trial: start.trial.clone(),
                done: header.segment,
                factors,
            })),
            _ => Err("its numbers are none of a save file".to_owned()),
        }
    }
}

/// The prime factors of these numbers.
fn prime_factors(numbers: Vec<u128>) -> Result<Vec<u128>, Error> {
    let engine = Engine::cpu();
    let (mut open, mut primes) = (numbers, Vec::new());
    while !open.is_empty() {
        let numbers: Vec<BigUint> = open.iter().copied().map(BigUint::from).collect();
        let are_primes = engine.is_prime(&engine.batch_from_biguints(&numbers)?)?;
        let mut parts = Vec::new();
        for (q, is_prime) in open.into_iter().zip(are_primes) {
            if is_prime {
                primes.push(q);
            } else {
                let part = divisor(q);
                parts.extend([part, q / part]);
            }
        }
        open = parts;
    }
    Ok(primes)
}
