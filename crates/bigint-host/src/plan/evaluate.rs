//! A formula, operation by operation.

use super::cost::{Extent, bits_of, limbs};
use crate::expression::{Formula, Function, Term};
use crate::operations::Form;
use crate::{Engine, Error, SignedBatch};
use bigint_core::operation::Signs;
use bigint_core::{LIMB_BITS, MAX_WIDTH, Operation};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Calls, numbers and time of one operation on one back end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Batches computed.
    pub batches: u64,
    /// Results in them.
    pub numbers: u64,
    /// Limbs in those.
    pub limbs: u64,
    /// Time until the engine had answered.
    pub elapsed: Duration,
}

/// What was done, by back end and operation.
pub type Tallies = BTreeMap<(String, &'static str), Tally>;

/// Computes a formula, batch after batch of rows.
///
/// ```
/// use bigint_host::expression::{Function, Terms};
/// use bigint_host::plan::Evaluator;
/// use bigint_host::{Engine, Operation};
/// let mut terms = Terms::default();
/// let a = terms.input(0);
/// let square = terms.apply(Function::Operation(Operation::Mul), &[a, a]);
/// let sum = terms.apply(Function::Sum, &[square]);
/// let formula = terms.formula(sum, &[true])?;
/// let engine = Engine::auto();
/// let mut evaluator = Evaluator::new(&engine, &formula);
/// for rows in [[3, -4], [5, 6]] {
///     let rows = engine.signed_from_bigints(&rows.map(Into::into))?;
///     assert!(evaluator.rows(&[&rows])?.is_none());
/// }
/// let none = engine.signed_from_bigints(&[])?;
/// let total = evaluator.finish(&[&none])?.unwrap();
/// assert_eq!(total.to_bigints()?, [86.into()]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Evaluator<'a> {
    engine: &'a Engine,
    formula: &'a Formula,
    last_uses: Vec<Vec<usize>>,
    /// What is computed for each batch of rows, and what in the end.
    of_rows: Vec<bool>,
    of_end: Vec<bool>,
    /// The reductions of all rows so far.
    totals: Vec<Option<SignedBatch>>,
    /// The term that the last error is about.
    failed_at: Option<usize>,
    /// What was done.
    pub tallies: Tallies,
}

/// What is computed at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A batch of rows.
    Rows,
    /// What is made of the totals of all rows.
    End,
}

/// A value, and an upper bound of its length in bits.
type Value<'a> = (Cow<'a, SignedBatch>, usize);

impl<'a> Evaluator<'a> {
    /// An evaluator that has seen no rows.
    pub fn new(engine: &'a Engine, formula: &'a Formula) -> Self {
        let count = formula.terms.len();
        let (mut of_rows, mut of_end) = (vec![false; count], vec![false; count]);
        match formula.is_total() {
            true => of_end[formula.root] = true,
            false => of_rows[formula.root] = true,
        }
        for (at, term) in formula.terms.iter().enumerate().rev() {
            if let Term::Apply(function, operands) = term {
                for &operand in operands {
                    of_rows[operand] |= of_rows[at] || function.reduces();
                    of_end[operand] |= of_end[at] && !function.reduces();
                }
            }
        }
        Evaluator {
            engine,
            formula,
            last_uses: formula.last_uses(),
            of_rows,
            of_end,
            totals: vec![None; count],
            failed_at: None,
            tallies: Tallies::new(),
        }
    }

    /// Computes a batch of rows; answers its results, or nothing where they go into a total.
    ///
    /// Inputs stand in the order of their numbers: columns are equally long, the others
    /// are one number for all.
    ///
    /// # Errors
    /// As the engine's operations; before any of them where one would be refused for its
    /// width.
    pub fn rows(&mut self, inputs: &[&SignedBatch]) -> Result<Option<SignedBatch>, Error> {
        let extents: Vec<Extent> = inputs
            .iter()
            .map(|input| extent(input))
            .collect::<Result<_, _>>()?;
        let width = self.formula.cost(&extents).widest;
        if width > MAX_WIDTH {
            return Err(Error::Width { width });
        }
        let mut values = self.values(inputs, Phase::Rows)?;
        let result = values[self.formula.root].take();
        Ok(result.map(|(rows, _)| rows.into_owned()))
    }

    /// The one result of a formula that is a total; nothing of another. Of the inputs those
    /// that are columns do not matter any more.
    ///
    /// # Errors
    /// As [`Evaluator::rows`].
    pub fn finish(&mut self, inputs: &[&SignedBatch]) -> Result<Option<SignedBatch>, Error> {
        let mut values = self.values(inputs, Phase::End)?;
        let result = values[self.formula.root].take();
        Ok(result.map(|(total, _)| total.into_owned()))
    }

    /// Which input is to blame for an error that was answered last, and which of its
    /// numbers: where a number of an input is what an operation does not take.
    pub fn blamed(&self, error: &Error) -> Option<(usize, usize)> {
        let (operand, row) = error.blamed_operand()?;
        let Term::Apply(_, operands) = &self.formula.terms[self.failed_at?] else {
            return None;
        };
        match self.formula.terms[*operands.get(operand)?] {
            Term::Input(input) => Some((input, row)),
            Term::Apply(..) => None,
        }
    }

    /// The values of a phase; rows that are reduced go into the totals.
    fn values<'i>(
        &mut self,
        inputs: &[&'i SignedBatch],
        phase: Phase,
    ) -> Result<Vec<Option<Value<'i>>>, Error> {
        let formula = self.formula;
        let mut values: Vec<Option<Value<'i>>> = vec![None; formula.terms.len()];
        for (at, term) in formula.terms.iter().enumerate() {
            let operand = |operand: usize| -> &Value<'i> {
                let value = values[operand].as_ref();
                value.expect("operands come first, and stay to their last use")
            };
            let is_wanted = match phase {
                Phase::Rows => self.of_rows[at],
                Phase::End => self.of_end[at],
            };
            values[at] = match term {
                Term::Apply(function, of) if function.reduces() && phase == Phase::Rows => {
                    self.reduce(at, *function, &operand(of[0]).0)?;
                    None
                }
                _ if !is_wanted => continue,
                Term::Input(index) => {
                    let input = inputs[*index];
                    let bits = input.magnitude().width() * LIMB_BITS;
                    Some((Cow::Borrowed(input), bits))
                }
                Term::Apply(function, _) if function.reduces() => {
                    if self.totals[at].is_none() {
                        let none = self.engine.signed_from_bigints(&[])?;
                        self.reduce(at, *function, &none)?;
                    }
                    self.totals[at].take().map(|total| {
                        let bits = total.magnitude().width() * LIMB_BITS;
                        (Cow::Owned(total), bits)
                    })
                }
                Term::Apply(function, of) => {
                    let operands: Vec<_> = of.iter().map(|&of| operand(of)).collect();
                    let applied = self.apply(*function, &operands);
                    let (value, bits) = applied.inspect_err(|_| self.failed_at = Some(at))?;
                    Some((Cow::Owned(value), bits))
                }
            };
            for &operand in &self.last_uses[at] {
                values[operand] = None;
            }
        }
        Ok(values)
    }

    /// One function of values.
    fn apply(
        &mut self,
        function: Function,
        operands: &[&Value<'_>],
    ) -> Result<(SignedBatch, usize), Error> {
        let batches: Vec<&SignedBatch> = operands.iter().map(|(batch, _)| &**batch).collect();
        let bits = bits_of(function, operands.iter().map(|(_, bits)| *bits));
        let Function::Operation(operation) = function else {
            let batch = match function {
                Function::Negate => batches[0].minus()?,
                _ => SignedBatch::natural(batches[0].magnitude().clone())?,
            };
            return Ok((batch, bits));
        };
        // Bounds in bits are tighter than widths: a long sum of exact ones would carry as
        // many zero limbs along as it has terms.
        let form = match operation.declaration().signs {
            Signs::Sum | Signs::Difference | Signs::Product | Signs::ProductPlus => {
                Form::Modulo(limbs(bits))
            }
            _ if operation == Operation::Square => Form::Modulo(limbs(bits)),
            _ => Form::Exact,
        };
        let started = Instant::now();
        let named = self.engine.options.algorithm;
        let is_parts = function.operations().len() > 1
            && !operation.has(named)
            && function.operations().iter().any(|part| part.has(named));
        let result = match (operation, &batches[..]) {
            (Operation::Square, [a]) if is_parts => {
                self.engine.signed_in(Operation::Mul, form, &[a, a])?
            }
            (Operation::MulAdd, [a, b, c]) if is_parts => {
                let product = self.engine.signed_mul(a, b)?;
                self.engine
                    .signed_in(Operation::Add, form, &[&product, c])?
            }
            _ => self.engine.signed_in(operation, form, &batches)?,
        };
        self.note(operation.name(), &result, started);
        let bits = match form {
            Form::Modulo(_) => bits,
            _ => result.magnitude().width() * LIMB_BITS,
        };
        Ok((result, bits))
    }

    /// Takes rows into the total of term `at`.
    fn reduce(&mut self, at: usize, function: Function, rows: &SignedBatch) -> Result<(), Error> {
        let started = Instant::now();
        let engine = self.engine;
        let (of_rows, others) = match function {
            Function::Sum => (engine.signed_sum(rows)?, self.totals[at].take()),
            _ => (engine.signed_product(rows)?, self.totals[at].take()),
        };
        let total = match others {
            Some(others) if function == Function::Sum => engine.signed_add(&others, &of_rows)?,
            Some(others) => engine.signed_mul(&others, &of_rows)?,
            None => of_rows,
        };
        self.note(function.name(), &total, started);
        self.totals[at] = Some(total);
        Ok(())
    }

    fn note(&mut self, name: &'static str, result: &SignedBatch, started: Instant) {
        let magnitude = result.magnitude();
        let key = (magnitude.location().to_string(), name);
        let tally = self.tallies.entry(key).or_default();
        tally.batches += 1;
        tally.numbers += magnitude.len() as u64;
        tally.limbs += magnitude.shape().limbs() as u64;
        tally.elapsed += started.elapsed();
    }
}

/// What is known of an input that is there.
fn extent(input: &SignedBatch) -> Result<Extent, Error> {
    let magnitude = input.magnitude();
    let most = match (magnitude.len(), magnitude.width()) {
        (1, 1) => Some(u64::from(magnitude.rows()?[0])),
        _ => None,
    };
    Ok(Extent {
        bits: magnitude.width() * LIMB_BITS,
        most,
        is_column: magnitude.len() != 1,
    })
}
