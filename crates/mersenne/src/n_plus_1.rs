//! Morrison's test of `k b^n - 1`.
//!
//! **Maths.** `V_0 = 2`, `V_1 = P`, `V_(i + 1) = P V_i - V_(i - 1)`; so `V_i = x^i + x^(-i)` with
//! `x + 1 / x = P`. `N = k b^n - 1`, `k < b^n`, is prime where, for each prime `q` that divides `b`, there is
//! a `P` with `V_(N + 1) = 2` and no divisor common to `V_((N + 1) / q) - 2` and `N` [Morrison 1975]: modulo
//! a prime `p` that divides `N`, the order of `x` is then a multiple of `b^n`, and it divides `p - 1` or
//! `p + 1`. Both are terms of the sequence whose `P` is `V_(k b^(n - 1))`.
//!
//! Example, `2 3^3 - 1 = 53`: `P = 3`, as 5 is no square modulo 53. `V_(2 9) = -1`,
//! `V_54 = (-1)^3 - 3 (-1) = 2`, and `-1 - 2` has no divisor in common with 53.
//!
//! **Cost**: a square and a product, as long as 2.5 squares, for each bit ([`Runner::lucas`]). It is for
//! probable primes, and nothing but the rounding error is checked: where one seems to be composite, it begins
//! anew, twice at most.

use crate::ladder::Ladder;
use crate::lucas_lehmer::lucas;
use crate::prp::Witness;
use crate::{Error, Number, Outcome, Residue, Runner, Step};

/// Morrison's test at some iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NPlus1 {
    pub(crate) ladder: Ladder,
    /// The `P`, and the primes that are left.
    pub(crate) witness: Witness,
    /// The steps that are done.
    pub(crate) iteration: u32,
    /// `V_i` and `V_(i + 1)`.
    pub(crate) terms: [Residue; 2],
}

impl NPlus1 {
    /// The times that a number seems to be composite before that is believed.
    const FAILURES: u32 = 3;

    /// The test at its beginning.
    ///
    /// # Panics
    /// If the number is not `k b^n - 1` with `k < b^n`.
    pub fn new(number: Number) -> Self {
        assert!(number.c() == -1 && number.has_proof(), "k b^n - 1, k < b^n");
        let left = number.primes();
        NPlus1::with(
            number,
            Ladder::last_but_one(number),
            Witness {
                a: next(number, 2, &left),
                left,
                failures: 0,
            },
        )
    }

    pub(crate) fn with(number: Number, ladder: Ladder, witness: Witness) -> Self {
        let p = Residue::from_u64(number, witness.a.into());
        NPlus1 {
            ladder,
            witness,
            iteration: 0,
            terms: [p.clone(), p.square_minus(1, 2)],
        }
    }

    /// The steps that are done.
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    /// The steps of the whole test with one `P`.
    pub fn iterations(&self) -> u32 {
        self.ladder.steps()
    }

    /// Runs up to `times` steps.
    ///
    /// # Errors
    /// As for [`Runner::lucas`]; if the host lacks memory.
    pub fn advance(&mut self, runner: &mut Runner<'_>, times: u32) -> Result<Step, Error> {
        let until = self.iterations().min(self.iteration + times);
        let bits = (self.iteration..until).map(|i| self.ladder.bit(i));
        let bits: Vec<bool> = bits.collect();
        self.terms = runner.lucas(&self.terms, self.witness.a, &bits)?;
        self.iteration = until;
        match self.iteration == self.iterations() {
            true => self.conclude(),
            false => Ok(Step::Going),
        }
    }

    fn conclude(&mut self) -> Result<Step, Error> {
        let v = &self.terms[0];
        let number = v.number();
        let (b, two) = (number.base(), Residue::from_u64(number, 2));
        let end = lucas(v, b);
        let mut is_composite = end != two;
        let mut left = Vec::new();
        for &q in self.witness.left.iter().filter(|_| end == two) {
            let part = lucas(v, b / q);
            match part == two {
                true => left.push(q),
                false => is_composite |= part.minus(&two).divisor()? != 1u32.into(),
            }
        }
        let mut failures = self.witness.failures;
        if is_composite {
            left.clone_from(&self.witness.left);
            failures += 1;
        }
        if left.is_empty() || failures == Self::FAILURES {
            return Ok(Step::Done(Outcome {
                is_prime: !is_composite,
                res64: end.res64(),
                errors: 0,
            }));
        }
        let witness = Witness {
            a: next(number, self.witness.a, &left),
            left,
            failures,
        };
        *self = NPlus1::with(number, self.ladder.clone(), witness);
        Ok(Step::Going)
    }
}

/// The next `P` above one that suits a prime number, as far as squares tell: `V_(N + 1) = 2` where
/// `P^2 - 4` is no square, and for even `b` `V_((N + 1) / 2) = -2` where `P + 2` is none.
fn next(number: Number, p: u32, left: &[u32]) -> u32 {
    let suits = |&p: &u32| {
        let [less, more] = [p - 2, p + 2].map(|x| number.jacobi(x));
        less * more == -1 && (more == -1 || !left.contains(&2))
    };
    (p + 1..1 << 16).find(suits).unwrap_or(p + 1)
}
