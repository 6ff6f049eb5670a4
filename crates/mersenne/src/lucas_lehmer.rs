//! The Lucas-Lehmer test, and Riesel's for `k 2^n - 1`.
//!
//! `2^p - 1`, `p` an odd prime, is prime exactly where `s = 0` after `p - 2` steps
//! `s = s^2 - 2` from 4. Example, `p = 5`: 4, 14, 194 mod 31 = 8, 62 mod 31 = 0: 31 is prime.
//!
//! `N = k 2^n - 1`, odd `k < 2^n`, is prime exactly where `s = 0` after `n - 2` such steps
//! from `V_k(P, 1)`, where `V_0 = 2`, `V_1 = P`, `V_(i + 1) = P V_i - V_(i - 1)` and `P` is such
//! that `(P - 2 / N) = 1` and `(P + 2 / N) = -1` (Rödseth, "A note on primality tests for
//! N = h 2^n - 1", 1994). For `k = 1` that is 4 and the above. Example, `3 2^3 - 1 = 23`:
//! `P = 3` as 5 is no square modulo 23; `V_3(3) = 27 - 9 = 18`, 18^2 - 2 = 0 mod 23.
//!
//! **Check**, for `M = 2^p - 1`. From the first step on the Jacobi symbol `(s - 2 / M)` is -1: after one
//! step `s - 2 = 12`, and `(3 / M) = -1`; and `s^2 - 2 - 2 = (s - 2)(s + 2)`, where `s + 2` is the square
//! of the step before. A residue that is wrong has the symbol 1 as often as -1. So half of all errors are
//! found, whenever they are looked for: from the second step after it the symbol stays. The test then goes
//! back to where the check last held. For a first test take [`crate::Prp`], whose check finds all.
//!
//! Example, `p = 5`: 14 - 2 = 12 is no square modulo 31, nor is 8 - 2 = 6.

use std::panic::resume_unwind;
use std::thread::{Builder, JoinHandle};

use crate::{Error, Number, Outcome, Residue, Runner, Step};

/// A Lucas-Lehmer test, or Riesel's, at some iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LucasLehmer {
    /// The steps that are done.
    pub iteration: u32,
    /// The residue after them.
    pub residue: Residue,
    /// The step where the check last held, and its residue.
    pub(crate) verified: Box<(u32, Residue)>,
    /// The checks that failed.
    pub(crate) errors: u32,
    /// The checks that failed since one held.
    pub(crate) failures: u32,
    /// The power of two by which a machine multiplies the first residue.
    pub(crate) shift: u32,
}

/// The check of a residue, on a thread of its own.
pub struct Check {
    iteration: u32,
    residue: Residue,
    symbol: JoinHandle<Result<i32, Error>>,
}

impl Check {
    /// Whether the answer is there.
    pub fn is_finished(&self) -> bool {
        self.symbol.is_finished()
    }
}

impl LucasLehmer {
    /// What each step subtracts from the square.
    pub const MINUS: u32 = 2;

    /// The test at its beginning.
    ///
    /// # Panics
    /// If the number is not `k 2^n - 1` with `n` of 3 at least and `k < 2^n`.
    pub fn new(number: impl Into<Number>) -> Self {
        let number = number.into();
        let (k, n) = (number.k(), number.n());
        assert!(n >= 3 && number.c() < 0, "the test is for k 2^n - 1, n > 2");
        assert!(u64::from(k) >> n.min(32) == 0, "the test is for k < 2^n");
        let suits = |p: &u32| number.jacobi(p - 2) == 1 && number.jacobi(p + 2) == -1;
        // Where no P suits, the number is composite, as 15 and 735 are, and any P shows that:
        // s = 0 lets no prime below 2^n - 1 divide the number.
        let p = [4].into_iter().chain(3..1 << 16).find(suits).unwrap_or(4);
        let p = Residue::from_u64(number, p.into());
        let start = lucas(&p, k);
        LucasLehmer {
            iteration: 0,
            verified: Box::new((0, start.clone())),
            residue: start,
            errors: 0,
            failures: 0,
            shift: 0,
        }
    }

    /// Failures of the same steps after which the test is given up, and those after which it begins anew:
    /// the residue where the check last held may be one of those errors that it does not find.
    const FAILURES: [u32; 2] = [6, 3];

    /// Begins the check of the residue that was last read; `None` where there is nothing to be checked,
    /// and for other numbers than `2^p - 1`. It takes as long as some thousands of steps, on one core.
    pub fn begin_check(&self) -> Option<Check> {
        let number = self.residue.number();
        number.exponent()?;
        let iteration = self.iteration;
        if iteration <= self.verified.0 {
            return None;
        }
        let (residue, two) = (self.residue.clone(), Residue::from_u64(number, 2));
        let difference = residue.clone().minus(&two);
        // Where there is no thread to be had, the next check covers what this one does.
        let symbol = Builder::new().spawn(move || difference.jacobi()).ok()?;
        Some(Check {
            iteration,
            residue,
            symbol,
        })
    }

    /// Waits for a check, and returns whether it holds. Where it does not, the test goes back to where one
    /// last held. The symbol is 0 where a factor of the number divides `s - 2`, as it may.
    ///
    /// # Errors
    /// [`Error::Unstable`] where the same steps fail again and again; where the machine fails.
    pub fn settle(&mut self, check: Check, runner: &mut Runner<'_>) -> Result<bool, Error> {
        let symbol = check.symbol.join();
        if symbol.unwrap_or_else(|panic| resume_unwind(panic))? != 1 {
            *self.verified = (check.iteration, check.residue);
            self.failures = 0;
            return Ok(true);
        }
        let [most, anew] = Self::FAILURES;
        self.errors += 1;
        self.failures += 1;
        if self.failures == anew {
            *self.verified = (0, LucasLehmer::new(runner.number()).residue);
        }
        let to = self.iteration;
        (self.iteration, self.residue) = (*self.verified).clone();
        if self.failures == most {
            return Err(Error::Unstable {
                times: self.failures,
                from: self.iteration,
                to,
            });
        }
        runner.set(&self.residue)?;
        Ok(false)
    }

    /// Runs up to `times` steps. `runner` is where the test is.
    ///
    /// # Errors
    /// As for [`Runner::square`].
    pub fn advance(&mut self, runner: &mut Runner<'_>, times: u32) -> Result<Step, Error> {
        let last = self.iterations();
        let times = times.min(last - self.iteration);
        if times > 0 {
            runner.square(times)?;
        }
        self.iteration += times;
        if self.iteration < last {
            return Ok(Step::Going);
        }
        self.rest(runner)?;
        Ok(Step::Done(Outcome {
            is_prime: self.residue == Residue::from_u64(runner.number(), 0),
            res64: self.residue.res64(),
            errors: self.errors + runner.lengthened(),
        }))
    }

    /// The steps of the whole test: two less than the number's exponent.
    pub fn iterations(&self) -> u32 {
        self.residue.number().n() - 2
    }

    /// Reads the residue, so that the test can be saved.
    ///
    /// # Errors
    /// As for [`Runner::residue`].
    pub fn rest(&mut self, runner: &mut Runner<'_>) -> Result<(), Error> {
        self.residue = runner.residue()?;
        Ok(())
    }
}

/// `V_k(p, 1)`, by `V_2i = V_i^2 - 2` and `V_(2i + 1) = V_i V_(i + 1) - p`.
pub(crate) fn lucas(p: &Residue, k: u32) -> Residue {
    let (mut v, mut next) = (p.clone(), p.square_minus(1, 2));
    for bit in (0..k.ilog2()).rev() {
        let between = v.mul(&next).minus(p);
        (v, next) = match k >> bit & 1 {
            0 => (v.square_minus(1, 2), between),
            _ => (between, next.square_minus(1, 2)),
        };
    }
    v
}
