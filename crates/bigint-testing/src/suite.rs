//! Runs trials on an engine and compares every number with num-bigint.

use crate::operands;
use crate::trial::Trial;
use bigint_host::{Batch, BigUint, Engine, Error, Operation};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::fmt;

/// What a run of the suite did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Per operation, in the order of [`Operation::ALL`].
    pub tallies: Vec<Tally>,
}

/// The cases of one operation, all of which agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The operation.
    pub operation: Operation,
    /// Batches computed.
    pub batches: usize,
    /// Pairs of numbers computed, in all forms of the operation.
    pub cases: usize,
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The engine's answer is not num-bigint's.
    #[error("{0}")]
    Mismatch(Box<Mismatch>),
    /// The engine gave an error where it should have given an answer.
    #[error("{form} of {trial:?}: {error}")]
    Engine {
        /// The form of the operation.
        form: String,
        /// The batch that was computed.
        trial: Trial,
        /// What the engine said.
        error: Box<Error>,
    },
}

/// A wrong answer, with all that is needed to see it again.
#[derive(Debug)]
pub struct Mismatch {
    /// The form: `add`, `wrapping_add`, `overflowing_add`, ...
    pub form: String,
    /// The batch.
    pub trial: Trial,
    /// The seed of the run.
    pub seed: u64,
    /// Which number of the batch.
    pub index: usize,
    /// The first operand.
    pub a: BigUint,
    /// The second operand.
    pub b: BigUint,
    /// What num-bigint says.
    pub expected: String,
    /// What the engine says.
    pub found: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} is wrong at number {}", self.form, self.index)?;
        writeln!(f, "  seed {}, {:?}", self.seed, self.trial)?;
        writeln!(f, "  a        {:#x}", self.a)?;
        writeln!(f, "  b        {:#x}", self.b)?;
        writeln!(f, "  expected {}", self.expected)?;
        write!(f, "  found    {}", self.found)
    }
}

/// Compares at least `cases` pairs per operation. `progress` is told the
/// operation and the cases done so far.
///
/// # Errors
/// The first [`Failure`].
pub fn run(
    engine: &Engine,
    cases: usize,
    seed: u64,
    progress: &mut dyn FnMut(Operation, usize),
) -> Result<Report, Failure> {
    let mut report = Report::default();
    for operation in Operation::ALL {
        let choices = engine.choices(operation);
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ operation as u64);
        let mut tally = Tally {
            operation,
            batches: 0,
            cases: 0,
        };
        while tally.cases < cases {
            let trial = Trial::new(tally.batches, &choices, &mut rng);
            Batches::new(trial, seed, &mut rng).check(engine, operation)?;
            tally.batches += 1;
            tally.cases += trial.count;
            progress(operation, tally.cases);
        }
        report.tallies.push(tally);
    }
    Ok(report)
}

/// The operands of a trial.
struct Batches {
    trial: Trial,
    seed: u64,
    a: Vec<BigUint>,
    b: Vec<BigUint>,
}

impl Batches {
    fn new(trial: Trial, seed: u64, rng: &mut ChaCha8Rng) -> Self {
        let pairs = (0..trial.count).map(|_| operands::pair(rng, trial.n, trial.m));
        let (a, mut b): (Vec<_>, Vec<_>) = pairs.unzip();
        if trial.broadcast {
            b.truncate(1);
        }
        Batches { trial, seed, a, b }
    }

    fn check(&self, engine: &Engine, operation: Operation) -> Result<(), Failure> {
        let trial = self.trial;
        let wrap = |error| self.failure(operation.name(), error);
        let engine = engine.using(trial.choice);
        let make = |numbers, width, layout| engine.batch_from_biguints_in(numbers, width, layout);
        let a = make(&self.a, trial.n, trial.a_layout).map_err(wrap)?;
        let b = make(&self.b, trial.m, trial.b_layout).map_err(wrap)?;
        let modulus = BigUint::from(1u32) << (32 * trial.n.max(trial.m));
        match operation {
            Operation::Add => {
                let sum = engine.add(&a, &b).map_err(wrap)?;
                self.same("add", &sum, |a, b| a + b)?;
                let (sum, carries) = engine.overflowing_add(&a, &b).map_err(wrap)?;
                self.same("overflowing_add", &sum, |a, b| (a + b) % &modulus)?;
                self.same_flags("overflowing_add", &carries, |a, b| a + b >= modulus)?;
                let twice = engine.wrapping_add(&sum, &a).map_err(wrap)?;
                self.same("wrapping_add", &twice, |a, b| (a + b + a) % &modulus)
            }
            Operation::Sub => {
                let (difference, borrows) = engine.overflowing_sub(&a, &b).map_err(wrap)?;
                self.same("overflowing_sub", &difference, |a, b| {
                    (&modulus + a - b) % &modulus
                })?;
                self.same_flags("overflowing_sub", &borrows, |a, b| a < b)?;
                let back = engine.wrapping_sub(&a, &difference).map_err(wrap)?;
                self.same("wrapping_sub", &back, |_, b| b.clone())?;
                self.check_exact_difference(&engine, &a, &b, &borrows)
            }
            Operation::Mul => {
                let product = engine.mul(&a, &b).map_err(wrap)?;
                self.same("mul", &product, |a, b| a * b)?;
                let low = engine.wrapping_mul(&a, &b).map_err(wrap)?;
                self.same("wrapping_mul", &low, |a, b| (a * b) % &modulus)?;
                let square = engine.mul(&a, &a).map_err(wrap)?;
                self.same("mul of a batch by itself", &square, |a, _| a * a)
            }
        }
    }

    /// `sub` gives the difference, or names the first pair that has none.
    fn check_exact_difference(
        &self,
        engine: &Engine,
        a: &Batch,
        b: &Batch,
        borrows: &[bool],
    ) -> Result<(), Failure> {
        let first = borrows.iter().position(|&borrow| borrow);
        match (engine.sub(a, b), first) {
            (Ok(difference), None) => self.same("sub", &difference, |a, b| a - b),
            (Err(Error::Underflow { index }), Some(first)) if index == first => Ok(()),
            (Err(error), _) => Err(self.failure("sub", error)),
            (Ok(_), Some(index)) => Err(self.mismatch(
                "sub",
                index,
                "an underflow".to_owned(),
                "a difference".to_owned(),
            )),
        }
    }

    fn operands(&self, index: usize) -> (&BigUint, &BigUint) {
        let b = if self.trial.broadcast { 0 } else { index };
        (&self.a[index], &self.b[b])
    }

    fn failure(&self, form: &str, error: Error) -> Failure {
        Failure::Engine {
            form: form.to_owned(),
            trial: self.trial,
            error: Box::new(error),
        }
    }

    fn mismatch(&self, form: &str, index: usize, expected: String, found: String) -> Failure {
        let b = if self.trial.broadcast { 0 } else { index };
        Failure::Mismatch(Box::new(Mismatch {
            form: form.to_owned(),
            trial: self.trial,
            seed: self.seed,
            index,
            a: self.a.get(index).cloned().unwrap_or_default(),
            b: self.b.get(b).cloned().unwrap_or_default(),
            expected,
            found,
        }))
    }

    fn same(
        &self,
        form: &str,
        batch: &Batch,
        expected: impl Fn(&BigUint, &BigUint) -> BigUint + Sync,
    ) -> Result<(), Failure> {
        let found = batch.to_biguints().map_err(|e| self.failure(form, e))?;
        if found.len() != self.a.len() {
            let lengths = (self.a.len().to_string(), found.len().to_string());
            return Err(self.mismatch(form, 0, lengths.0, lengths.1));
        }
        let wrong = found
            .par_iter()
            .enumerate()
            .find_map_first(|(index, found)| {
                let (a, b) = self.operands(index);
                let expected = expected(a, b);
                (expected != *found).then_some((index, expected, found))
            });
        match wrong {
            None => Ok(()),
            Some((index, expected, found)) => {
                Err(self.mismatch(form, index, format!("{expected:#x}"), format!("{found:#x}")))
            }
        }
    }

    fn same_flags(
        &self,
        form: &str,
        found: &[bool],
        expected: impl Fn(&BigUint, &BigUint) -> bool,
    ) -> Result<(), Failure> {
        for index in 0..self.a.len() {
            let (a, b) = self.operands(index);
            let expected = expected(a, b);
            if found.get(index) != Some(&expected) {
                let found = format!("carry {:?}", found.get(index));
                return Err(self.mismatch(form, index, format!("carry {expected}"), found));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bigint_host::Layout;

    #[test]
    fn a_wrong_number_is_named_with_its_operands() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let engine = Engine::cpu();
        let mut trial = Trial::new(0, &engine.choices(Operation::Mul), &mut rng);
        (trial.count, trial.broadcast) = (3, false);
        let batches = Batches {
            trial,
            seed: 3,
            a: vec![0u32.into(), 2u32.into(), 3u32.into()],
            b: vec![0u32.into(), 2u32.into(), 4u32.into()],
        };
        let make = |numbers| engine.batch_from_biguints_in(numbers, 1, Layout::Contiguous);
        let (a, b) = (make(&batches.a).unwrap(), make(&batches.b).unwrap());
        // Sums are not products from the third pair on.
        let sums = engine.add(&a, &b).unwrap();
        let failure = batches.same("mul", &sums, |a, b| a * b).unwrap_err();
        let Failure::Mismatch(mismatch) = &failure else {
            panic!("{failure}");
        };
        assert_eq!((mismatch.index, mismatch.found.as_str()), (2, "0x7"));
        assert!(failure.to_string().contains("expected 0xc"));
        let flags = batches.same_flags("add", &[false, true, false], |_, _| false);
        assert!(flags.unwrap_err().to_string().contains("number 1"));
    }
}
