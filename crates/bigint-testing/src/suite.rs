//! Runs trials on an engine and compares every number with an oracle's.

use crate::trial::{ROUND, Trial, WIDEST};
use crate::{operands, oracle};
use bigint_cpu::{map, threads};
use bigint_host::{
    Batch, BigUint, Engine, Error, Flag, Form, MOST_OPERANDS, Operation, Outcome, Width,
};
use num_bigint::{BigInt, Sign};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::fmt;

/// What a run of the suite did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Per operation, in the order asked for.
    pub tallies: Vec<Tally>,
}

/// How much of each operation is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// At least so many numbers.
    Cases(usize),
    /// Every one of the [widths](crate::trial::WIDTHS) with every choice.
    EveryPairing,
    /// Every width up to [`WIDEST`] with every choice.
    EveryWidth,
}

/// The cases of one operation, all of which agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The operation.
    pub operation: Operation,
    /// Batches computed.
    pub batches: usize,
    /// Numbers computed, each in all forms of the operation.
    pub cases: usize,
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The engine's answer is not the oracle's.
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
    /// The operation and its form.
    pub form: String,
    /// The batch.
    pub trial: Trial,
    /// The seed of the run.
    pub seed: u64,
    /// Which number of the batch.
    pub index: usize,
    /// The operands, by their declared names.
    pub operands: Vec<(&'static str, BigUint)>,
    /// What the oracle says.
    pub expected: String,
    /// What the engine says.
    pub found: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} is wrong at number {}", self.form, self.index)?;
        writeln!(f, "  seed {}, {:?}", self.seed, self.trial)?;
        for (name, operand) in &self.operands {
            writeln!(f, "  {name:<8} {operand:#x}")?;
        }
        writeln!(f, "  expected {}", self.expected)?;
        write!(f, "  found    {}", self.found)
    }
}

/// Who knows the values of an operation's results: [`oracle::values`] is one.
pub type Oracle = fn(Operation, &[&BigUint], &[usize]) -> Vec<BigInt>;

/// Compares this much of each of these operations with num-bigint. `progress` gets the operation
/// and the number of its cases done so far.
///
/// # Errors
/// The first [`Failure`].
pub fn run(
    engine: &Engine,
    operations: &[Operation],
    extent: Extent,
    seed: u64,
    progress: &mut dyn FnMut(Operation, usize),
) -> Result<Report, Failure> {
    run_against(oracle::values, engine, operations, extent, seed, progress)
}

/// [`run`] against another oracle.
///
/// # Errors
/// The first [`Failure`].
pub fn run_against(
    oracle: Oracle,
    engine: &Engine,
    operations: &[Operation],
    extent: Extent,
    seed: u64,
    progress: &mut dyn FnMut(Operation, usize),
) -> Result<Report, Failure> {
    let mut report = Report::default();
    for &operation in operations {
        let choices = engine.choices(operation);
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ operation as u64);
        let mut tally = Tally {
            operation,
            batches: 0,
            cases: 0,
        };
        let is_done = |tally: &Tally| match extent {
            Extent::Cases(cases) => tally.cases >= cases,
            Extent::EveryPairing => tally.batches >= ROUND * choices.len(),
            Extent::EveryWidth => tally.batches >= WIDEST * choices.len(),
        };
        while !is_done(&tally) {
            let trial = match extent {
                Extent::EveryWidth => Trial::of_every_width,
                _ => Trial::new,
            };
            let trial = trial(tally.batches, &choices, &mut rng).of(operation);
            Batches::new(oracle, operation, trial, seed, &mut rng).check(engine)?;
            tally.batches += 1;
            tally.cases += trial.count;
            progress(operation, tally.cases);
        }
        report.tallies.push(tally);
    }
    Ok(report)
}

/// The operands of a trial, each as long as the batch or a single number.
struct Batches {
    oracle: Oracle,
    operation: Operation,
    trial: Trial,
    seed: u64,
    operands: Vec<Vec<BigUint>>,
}

impl Batches {
    fn new(
        oracle: Oracle,
        operation: Operation,
        trial: Trial,
        seed: u64,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let arity = operation.declaration().operands.len();
        let mut operands = vec![Vec::with_capacity(trial.count); arity];
        for _ in 0..trial.count {
            // What the others must fit, where it stands for all.
            let last = operands[arity - 1].first().filter(|_| trial.broadcast);
            let numbers = operands::of(operation, rng, &trial.widths[..arity], last);
            for (operand, number) in operands.iter_mut().zip(numbers) {
                operand.push(number);
            }
        }
        if trial.broadcast
            && let [_, .., last] = &mut *operands
        {
            last.truncate(1);
        }
        Batches {
            oracle,
            operation,
            trial,
            seed,
            operands,
        }
    }

    /// Every form, and one operand in the place of all.
    fn check(&self, engine: &Engine) -> Result<(), Failure> {
        let trial = self.trial;
        let declared = self.operation.declaration();
        let engine = engine.using(trial.choice);
        let places = trial.widths.iter().zip(trial.layouts);
        let batches = self.operands.iter().zip(places);
        let batches = batches
            .map(|(numbers, (&width, layout))| {
                engine.batch_from_biguints_in(numbers, width, layout)
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| self.failure(Form::Exact, error))?;
        let operands: Vec<&Batch> = batches.iter().collect();
        let mut forms = vec![Form::Exact, Form::Modulo(trial.cut)];
        if declared.wraps {
            forms.push(Form::Wrapping);
        }
        if declared.wraps || declared.flag.is_of_no_value() {
            forms.push(Form::Overflowing);
        }
        for form in forms {
            self.same(form, engine.compute(self.operation, form, &operands))?;
        }
        if operands.len() > 1 && !trial.broadcast && !operands::has_modulus(self.operation) {
            let again = Batches {
                operands: vec![self.operands[0].clone(); operands.len()],
                trial: Trial {
                    widths: [trial.widths[0]; MOST_OPERANDS],
                    ..trial
                },
                ..*self
            };
            let outcome = engine.compute(
                self.operation,
                Form::Exact,
                &vec![operands[0]; operands.len()],
            );
            again.same(Form::Exact, outcome)?;
        }
        Ok(())
    }

    /// The operands of number `index`.
    fn numbers(&self, index: usize) -> Vec<&BigUint> {
        let number = |numbers: &'_ Vec<BigUint>| match numbers.len() {
            1 => 0,
            _ => index,
        };
        let operands = self.operands.iter();
        operands.map(|numbers| &numbers[number(numbers)]).collect()
    }

    /// Compares what the engine says with what the oracle does, number by number.
    fn same(&self, form: Form, outcome: Result<Outcome, Error>) -> Result<(), Failure> {
        let values = map(0..self.trial.count, threads(), |index| {
            (self.oracle)(self.operation, &self.numbers(index), &self.trial.widths)
        });
        let negative = |value: &Vec<BigInt>| value.iter().any(|v| v.sign() == Sign::Minus);
        let flag = self.operation.declaration().flag;
        // Where nothing tells of a negative value, it is meant modulo 2^(32 w).
        let refused = match flag {
            Flag::Borrow if form == Form::Exact => values.iter().position(negative),
            flag if flag.is_of_no_value() && form != Form::Overflowing => {
                values.iter().position(Vec::is_empty)
            }
            _ => None,
        };
        let outcome = match (outcome, refused) {
            (Ok(outcome), None) => outcome,
            (Err(error), Some(first)) if refuses(&error, flag, first) => return Ok(()),
            (Err(error), _) => return Err(self.failure(form, error)),
            (Ok(_), Some(index)) => {
                let (expected, found) = ("an error".to_owned(), "a result".to_owned());
                return Err(self.mismatch(form, index, expected, found));
            }
        };
        for (result, batch) in outcome.results.iter().enumerate() {
            let found = batch
                .to_biguints()
                .map_err(|error| self.failure(form, error))?;
            if found.len() != values.len() {
                let lengths = (values.len().to_string(), found.len().to_string());
                return Err(self.mismatch(form, 0, lengths.0, lengths.1));
            }
            let modulus = BigInt::from(1) << (32 * batch.width());
            let rule = self.operation.declaration().exact[result];
            let is_exact = form == Form::Exact && !matches!(rule, Width::Cut(_));
            let none = BigInt::ZERO;
            let value = |index: usize| values[index].get(result).unwrap_or(&none);
            let is_right = map(found.iter().enumerate(), threads(), |(index, found)| {
                let value = value(index);
                let wrapped = ((value % &modulus) + &modulus) % &modulus;
                *wrapped.magnitude() == *found && (!is_exact || *value == wrapped)
            });
            if let Some(index) = is_right.iter().position(|right| !right) {
                let expected = format!("{:#x}", value(index));
                return Err(self.mismatch(form, index, expected, format!("{:#x}", found[index])));
            }
        }
        self.same_flags(form, &outcome, &values)
    }

    /// A flag says that the exact value is another than the result, or that there is none.
    fn same_flags(
        &self,
        form: Form,
        outcome: &Outcome,
        values: &[Vec<BigInt>],
    ) -> Result<(), Failure> {
        let Some(flags) = &outcome.flags else {
            return Ok(());
        };
        let flags = flags.rows().map_err(|error| self.failure(form, error))?;
        let bits = 32 * outcome.results[0].width() as u64;
        for (index, value) in values.iter().enumerate() {
            let expected = match value.first() {
                Some(value) => value.sign() == Sign::Minus || value.bits() > bits,
                None => true,
            };
            if flags.get(index) != Some(&u32::from(expected)) {
                let found = format!("flag {:?}", flags.get(index));
                return Err(self.mismatch(form, index, format!("flag {expected}"), found));
            }
        }
        Ok(())
    }

    fn name(&self, form: Form) -> String {
        format!("{form:?} {}", self.operation.name())
    }

    fn failure(&self, form: Form, error: Error) -> Failure {
        Failure::Engine {
            form: self.name(form),
            trial: self.trial,
            error: Box::new(error),
        }
    }

    fn mismatch(&self, form: Form, index: usize, expected: String, found: String) -> Failure {
        let numbers = self.numbers(index).into_iter().cloned();
        let names = self.operation.declaration().operands.iter().copied();
        Failure::Mismatch(Box::new(Mismatch {
            form: self.name(form),
            trial: self.trial,
            seed: self.seed,
            index,
            operands: names.zip(numbers).collect(),
            expected,
            found,
        }))
    }
}

/// Whether an error says that number `first` has no value, for the reason of a flag; without an
/// inverse is also what has the modulus zero.
fn refuses(error: &Error, flag: Flag, first: usize) -> bool {
    let (flags, index): (&[Flag], usize) = match *error {
        Error::Underflow { index } => (&[Flag::Borrow], index),
        Error::ZeroDivisor { index } => (&[Flag::ZeroDivisor, Flag::NotInvertible], index),
        Error::NotInvertible { index } => (&[Flag::NotInvertible], index),
        Error::EvenModulus { index } => (&[Flag::EvenModulus], index),
        _ => return false,
    };
    flags.contains(&flag) && index == first
}

#[cfg(test)]
mod tests {
    use super::*;
    use bigint_host::Layout;

    #[test]
    fn a_wrong_number_or_flag_is_named_with_its_operands() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let engine = Engine::cpu();
        let mut trial = Trial::new(0, &engine.choices(Operation::Mul), &mut rng);
        (trial.count, trial.broadcast) = (3, false);
        let mut batches = Batches {
            oracle: oracle::values,
            operation: Operation::Mul,
            trial,
            seed: 3,
            operands: vec![
                vec![0u32.into(), 2u32.into(), 3u32.into()],
                vec![0u32.into(), 2u32.into(), 4u32.into()],
            ],
        };
        let make = |numbers| engine.batch_from_biguints_in(numbers, 1, Layout::Contiguous);
        let operands: Vec<_> = batches.operands.iter().map(|n| make(n).unwrap()).collect();
        // Sums are not products from the third pair on.
        let sums = || {
            engine.compute(
                Operation::Add,
                Form::Overflowing,
                &[&operands[0], &operands[1]],
            )
        };
        let failure = batches.same(Form::Wrapping, sums()).unwrap_err();
        let Failure::Mismatch(mismatch) = &failure else {
            panic!("{failure}");
        };
        assert_eq!((mismatch.index, mismatch.found.as_str()), (2, "0x7"));
        assert!(failure.to_string().contains("expected 0xc"));
        batches.operation = Operation::Add;
        let mut outcome = sums().unwrap();
        outcome.flags = Some(make(&[0u32.into(), 1u32.into(), 0u32.into()]).unwrap());
        let flags = batches.same(Form::Overflowing, Ok(outcome));
        assert!(flags.unwrap_err().to_string().contains("number 1"));
    }
}
