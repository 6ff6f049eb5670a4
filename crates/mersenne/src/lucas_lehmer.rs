//! The Lucas-Lehmer test: `2^p - 1`, `p` an odd prime, is prime exactly where `s = 0`
//! after `p - 2` steps `s = s^2 - 2` from 4.
//!
//! Example, `p = 5`: 4, 14, 194 mod 31 = 8, 62 mod 31 = 0: 31 is prime.
//!
//! Nothing but the rounding error is checked: for a first test take [`crate::Prp`],
//! whose check finds every other error too.

use crate::{Error, Outcome, Residue, Runner, Step};

/// A Lucas-Lehmer test at some iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LucasLehmer {
    /// Steps done, of `p - 2`.
    pub iteration: u32,
    /// What they led to.
    pub residue: Residue,
}

impl LucasLehmer {
    /// What each step takes off.
    pub const MINUS: u32 = 2;

    /// At the beginning.
    ///
    /// # Panics
    /// If `p` is below 3: the test is for odd primes.
    pub fn new(p: u32) -> Self {
        assert!(p >= 3, "the test is for odd exponents");
        LucasLehmer {
            iteration: 0,
            residue: Residue::from_u64(p, 4),
        }
    }

    /// Up to so many iterations from where the test is, which `runner` has been set to.
    ///
    /// # Errors
    /// As [`Runner::square`].
    pub fn advance(&mut self, runner: &mut Runner<'_>, times: u32) -> Result<Step, Error> {
        let last = runner.p() - 2;
        let times = times.min(last - self.iteration);
        runner.square(times)?;
        self.iteration += times;
        if self.iteration < last {
            return Ok(Step::Going);
        }
        self.rest(runner)?;
        Ok(Step::Done(Outcome {
            is_prime: self.residue == Residue::from_u64(runner.p(), 0),
            res64: self.residue.res64(),
            errors: runner.lengthened(),
        }))
    }

    /// Has the residue brought here, to be saved.
    ///
    /// # Errors
    /// As [`Runner::residue`].
    pub fn rest(&mut self, runner: &mut Runner<'_>) -> Result<(), Error> {
        self.residue = runner.residue()?;
        Ok(())
    }
}
