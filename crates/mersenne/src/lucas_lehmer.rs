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
//! Nothing but the rounding error is checked: for a first test take [`crate::Prp`],
//! whose check finds every other error too.

use crate::{Error, Number, Outcome, Residue, Runner, Step};

/// A Lucas-Lehmer test, or Riesel's, at some iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LucasLehmer {
    /// The steps that are done.
    pub iteration: u32,
    /// The residue after them.
    pub residue: Residue,
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
        LucasLehmer {
            iteration: 0,
            residue: lucas(&p, k),
        }
    }

    /// Runs up to `times` steps. `runner` is where the test is.
    ///
    /// # Errors
    /// As [`Runner::square`].
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
            errors: runner.lengthened(),
        }))
    }

    /// The steps of the whole test: two less than the number's exponent.
    pub fn iterations(&self) -> u32 {
        self.residue.number().n() - 2
    }

    /// Reads the residue, so that the test can be saved.
    ///
    /// # Errors
    /// As [`Runner::residue`].
    pub fn rest(&mut self, runner: &mut Runner<'_>) -> Result<(), Error> {
        self.residue = runner.residue()?;
        Ok(())
    }
}

/// `V_k(p, 1)`, by `V_2i = V_i^2 - 2` and `V_(2i + 1) = V_i V_(i + 1) - p`.
fn lucas(p: &Residue, k: u32) -> Residue {
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
