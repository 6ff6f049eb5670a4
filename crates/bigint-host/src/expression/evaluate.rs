//! The evaluation of a formula, operation by operation.

use super::cost::{Extent, bits_of, limbs};
use super::segment::{self, Segment};
use crate::common::limbs;
use crate::common::program::Program;
use crate::expression::{Formula, Function, Term};
use crate::operations::forms::Form;
use crate::{BackEnd, Batch, Engine, Error, Options, SignedBatch};
use bigint_core::fused::StepKind;
use bigint_core::operation::Signs;
use bigint_core::{Algorithm, LIMB_BITS, MAX_WIDTH, Operation};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The calls, numbers and time of one operation on one back end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// The number of batches computed.
    pub batches: u64,
    /// The number of results in them.
    pub numbers: u64,
    /// The number of limbs in the results.
    pub limbs: u64,
    /// The time until the engine had answered.
    pub elapsed: Duration,
}

/// The tallies of an evaluation, by back end and operation.
pub type Tallies = BTreeMap<(String, &'static str), Tally>;

/// Computes a formula, batch after batch of rows.
pub(crate) struct Evaluator<'a> {
    engine: &'a Engine,
    formula: &'a Formula,
    /// The programs, each at the last term that it computes.
    segments: Vec<Option<Segment>>,
    is_within: Vec<bool>,
    /// For each term, the operands that no later term needs.
    last_uses: Vec<Vec<usize>>,
    /// The limbs to which the result is cut, if it is.
    wrapping: Option<usize>,
    /// For each term, whether it is computed for every batch of rows, or once at the end.
    of_rows: Vec<bool>,
    of_end: Vec<bool>,
    /// The totals of all rows so far, at the terms that are reductions.
    pub totals: Vec<Option<SignedBatch>>,
    /// The term that the last error is about.
    pub failed_at: Option<usize>,
    /// The tallies so far.
    pub tallies: Tallies,
}

/// The operand of a function that is to blame for an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    /// The function that does not take the number.
    pub function: Function,
    /// The index of its operand.
    pub operand: usize,
    /// The indices of the inputs that the operand is made of.
    pub inputs: Vec<usize>,
    /// Whether the operand is an input, or an input with the other sign.
    pub is_given: bool,
}

/// The phases of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A batch of rows is computed.
    Rows,
    /// The terms are computed that depend on totals of all rows.
    End,
}

/// A value, and an upper bound of its length in bits.
type Value<'a> = (Cow<'a, SignedBatch>, usize);

impl<'a> Evaluator<'a> {
    /// Begins an evaluation.
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
        let segments = segment::segments(formula);
        let mut is_within = vec![false; count];
        for segment in segments.iter().flatten() {
            segment.within.iter().for_each(|&at| is_within[at] = true);
        }
        let last_uses = last_uses(formula, &segments, &is_within);
        Evaluator {
            engine,
            formula,
            segments,
            is_within,
            last_uses,
            wrapping: None,
            of_rows,
            of_end,
            totals: vec![None; count],
            failed_at: None,
            tallies: Tallies::new(),
        }
    }

    /// The evaluator with results modulo `2^(32 limbs)`. Values inside stay exact where results
    /// depend on it.
    pub(crate) fn wrapping(mut self, limbs: usize) -> Self {
        self.wrapping = Some(limbs);
        self
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
        self.result(inputs, Phase::Rows)
    }

    /// The one result of a formula that is a total; nothing for another formula. Inputs that are
    /// columns are not used.
    ///
    /// # Errors
    /// As for [`Evaluator::rows`].
    pub fn finish(&mut self, inputs: &[&SignedBatch]) -> Result<Option<SignedBatch>, Error> {
        self.result(inputs, Phase::End)
    }

    /// The operand to blame for the last error, where an operation does not take a number.
    pub fn blamed(&self, error: &Error) -> Option<Blame> {
        let terms = &self.formula.terms;
        let Term::Apply(function, operands) = &terms[self.failed_at?] else {
            return None;
        };
        let (operand, _) = error.blamed_operand(operands.len())?;
        // An inverse depends on both operands.
        let blamed = match error {
            Error::NotInvertible { .. } => &operands[..],
            _ => operands.get(operand..=operand)?,
        };
        let is_given = |&at: &usize| match &terms[at] {
            Term::Input(_) => true,
            Term::Apply(Function::Negate, of) => matches!(terms[of[0]], Term::Input(_)),
            Term::Apply(..) => false,
        };
        let mut inputs = BTreeSet::new();
        let mut seen = vec![false; terms.len()];
        let mut open = blamed.to_vec();
        while let Some(at) = open.pop() {
            match &terms[at] {
                _ if std::mem::replace(&mut seen[at], true) => {}
                Term::Input(input) => _ = inputs.insert(*input),
                Term::Apply(_, of) => open.extend(of),
            }
        }
        Some(Blame {
            function: *function,
            operand,
            inputs: inputs.into_iter().collect(),
            is_given: blamed.iter().any(is_given),
        })
    }

    /// The value of the whole formula, if this phase computes it.
    fn result(
        &mut self,
        inputs: &[&SignedBatch],
        phase: Phase,
    ) -> Result<Option<SignedBatch>, Error> {
        self.failed_at = None;
        let mut values = self.values(inputs, phase)?;
        let result = values[self.formula.root].take();
        result
            .map(|(value, _)| self.cut(value.into_owned(), self.wrapping))
            .transpose()
    }

    /// Computes the terms of a phase; adds rows that are reduced to the totals.
    fn values<'i>(
        &mut self,
        inputs: &[&'i SignedBatch],
        phase: Phase,
    ) -> Result<Vec<Option<Value<'i>>>, Error> {
        let formula = self.formula;
        let mut values: Vec<Option<Value<'i>>> = vec![None; formula.terms.len()];
        for (at, term) in formula.terms.iter().enumerate() {
            let is_wanted = match phase {
                Phase::Rows => self.of_rows[at],
                Phase::End => self.of_end[at],
            };
            values[at] = match term {
                Term::Apply(function, of) if function.reduces() && phase == Phase::Rows => {
                    self.reduce(at, *function, &operand(&values, of[0]).0)?;
                    None
                }
                _ if !is_wanted || self.is_within[at] => continue,
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
                Term::Apply(..) => {
                    let value = match self.program(at, &values)? {
                        Some(value) => value,
                        None => {
                            for within in self.within(at) {
                                values[within] = Some(self.term(within, &values)?);
                            }
                            let value = self.term(at, &values)?;
                            for within in self.within(at) {
                                values[within] = None;
                            }
                            value
                        }
                    };
                    Some(value)
                }
            };
            for &operand in &self.last_uses[at] {
                values[operand] = None;
            }
        }
        Ok(values)
    }

    /// The terms that the program of a term would compute.
    fn within(&self, at: usize) -> Vec<usize> {
        let segment = self.segments[at].as_ref();
        segment.map_or_else(Vec::new, |segment| segment.within.clone())
    }

    /// Computes a term by its own operation.
    fn term<'i>(&mut self, at: usize, values: &[Option<Value<'i>>]) -> Result<Value<'i>, Error> {
        let Term::Apply(function, of) = &self.formula.terms[at] else {
            unreachable!("inputs are values already");
        };
        let operands: Vec<_> = of.iter().map(|&of| operand(values, of)).collect();
        let wrapping = self.wrapping.filter(|_| at == self.formula.root);
        let applied = self.apply(*function, &operands, wrapping);
        let (value, bits) = applied.inspect_err(|_| self.failed_at = Some(at))?;
        Ok((Cow::Owned(value), bits))
    }

    /// Computes a term by the program that ends with it, if there is one, if it fits a launch and
    /// no input has signs; otherwise nothing.
    fn program<'i>(
        &mut self,
        at: usize,
        values: &[Option<Value<'i>>],
    ) -> Result<Option<Value<'i>>, Error> {
        let Some(segment) = &self.segments[at] else {
            return Ok(None);
        };
        let Options {
            algorithm,
            level,
            lanes,
        } = self.engine.options;
        let inner = &self.engine.inner;
        let is_forced = level.is_some() || lanes.is_some();
        let has_signs = |&(kind, term): &(StepKind, usize)| {
            kind != StepKind::Square && operand(values, term).0.signs().is_some()
        };
        if is_forced
            || algorithm != Algorithm::Auto && inner.device().is_some()
            || segment.steps.iter().any(has_signs)
        {
            return Ok(None);
        }
        let started = Instant::now();
        let wrapping = self.wrapping.filter(|_| at == self.formula.root);
        let planned = segment::planned(segment, |term| operand(values, term).1, wrapping);
        let mut steps = planned.steps.iter().peekable();
        let mut made: Option<Batch> = None;
        while steps.peek().is_some() {
            let mut program = Program {
                steps: Vec::new(),
                count: 1,
                algorithm,
            };
            // What the program before made is the first input of the next.
            let mut known: Vec<Option<usize>> = Vec::new();
            let mut inputs = Vec::new();
            if let Some(made) = made.take() {
                let width = made.width();
                program.push(StepKind::Add, 0, width);
                known.push(None);
                inputs.push(made);
            }
            while let Some(&&(kind, term, width)) = steps.peek() {
                let is_square = kind == StepKind::Square;
                let at = known.iter().position(|&known| known == Some(term));
                let is_new = !is_square && at.is_none();
                if program.is_full(inputs.len() + usize::from(is_new)) {
                    break;
                }
                if is_new {
                    known.push(Some(term));
                    inputs.push(self.engine.adopt(operand(values, term).0.magnitude())?);
                }
                let last = inputs.len() - 1;
                program.push(kind, at.unwrap_or(if is_square { 0 } else { last }), width);
                steps.next();
            }
            program.count = common_count(&inputs)?;
            let nodes: Vec<_> = inputs.iter().map(|input| input.node().clone()).collect();
            let shape = program.shape();
            let Some(task) = inner.task_of(program, &nodes) else {
                return Ok(None);
            };
            limbs::checked_limbs(shape)?;
            let mut computed = inner.compute(&task, &nodes)?;
            made = Some(Batch::new(computed.results.swap_remove(0)));
        }
        let made = made.expect("a segment has steps");
        let value = match planned.is_signed && wrapping.is_none() {
            true => self.engine.of_two_complement(made)?,
            false => SignedBatch::natural(made),
        };
        self.note("fused", &value, started);
        Ok(Some((Cow::Owned(value), planned.bits)))
    }

    /// Applies one function to values.
    fn apply(
        &mut self,
        function: Function,
        operands: &[&Value<'_>],
        wrapping: Option<usize>,
    ) -> Result<(SignedBatch, usize), Error> {
        let batches: Vec<&SignedBatch> = operands.iter().map(|(batch, _)| &**batch).collect();
        let bits = bits_of(function, operands.iter().map(|(_, bits)| *bits));
        let Function::Operation(operation) = function else {
            let started = Instant::now();
            let batch = match function {
                Function::Negate => return Ok((self.engine.signed_neg(batches[0])?, bits)),
                Function::Power => self.engine.signed_pow(batches[0], batches[1])?,
                Function::IsPrime => self.engine.signed_is_prime(batches[0])?,
                Function::NextPrime => self.engine.signed_next_prime(batches[0])?,
                Function::PrevPrime => self.engine.signed_prev_prime(batches[0])?,
                _ => return Ok((SignedBatch::natural(batches[0].magnitude().clone()), bits)),
            };
            self.note(function.name(), &batch, started);
            let bits = batch.magnitude().width() * LIMB_BITS;
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
        let have_signs = batches.iter().any(|batch| batch.signs().is_some());
        let form = match (form, wrapping) {
            // Without signs they are the same modulo any width.
            (Form::Modulo(exact), Some(limbs)) if !have_signs => Form::Modulo(limbs.min(exact)),
            _ => form,
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
                let product = self.engine.mul(*a, *b)?;
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

    /// Reduces a value modulo `2^(32 limbs)`, if that is wanted.
    fn cut(&self, value: SignedBatch, wrapping: Option<usize>) -> Result<SignedBatch, Error> {
        let Some(limbs) = wrapping else {
            return Ok(value);
        };
        let engine = self.engine;
        let zero = SignedBatch::natural(engine.mask(&[false])?);
        let (x, zero) = (value.magnitude(), zero.magnitude());
        let form = Form::Modulo(limbs);
        let Some(signs) = value.signs() else {
            let is_cut = x.width() == limbs;
            return match is_cut {
                true => Ok(value),
                false => Ok(SignedBatch::natural(engine.first_of(
                    Operation::Or,
                    form,
                    &[x, zero],
                )?)),
            };
        };
        let negative = engine.first_of(Operation::Sub, form, &[zero, x])?;
        let cut = engine.first_of(Operation::Select, form, &[&negative, x, signs])?;
        Ok(SignedBatch::natural(cut))
    }

    /// Adds rows to the total of term `at`.
    fn reduce(&mut self, at: usize, function: Function, rows: &SignedBatch) -> Result<(), Error> {
        let started = Instant::now();
        let engine = self.engine;
        let (of_rows, others) = match function {
            Function::Sum => (engine.signed_sum(rows)?, self.totals[at].take()),
            _ => (engine.signed_product(rows)?, self.totals[at].take()),
        };
        let total = match others {
            Some(others) if function == Function::Sum => engine.add(&others, &of_rows)?,
            Some(others) => engine.mul(&others, &of_rows)?,
            None => of_rows,
        };
        self.note(function.name(), &total, started);
        self.totals[at] = Some(total);
        Ok(())
    }

    fn note(&mut self, name: &'static str, result: &SignedBatch, started: Instant) {
        let magnitude = result.magnitude();
        let (count, limbs) = (magnitude.len(), magnitude.shape().limbs());
        self.tally((magnitude.location(), name), count, limbs, started);
    }

    /// Counts a batch of results.
    pub fn tally(
        &mut self,
        (back_end, name): (BackEnd, &'static str),
        count: usize,
        limbs: usize,
        started: Instant,
    ) {
        let key = (back_end.to_string(), name);
        let tally = self.tallies.entry(key).or_default();
        tally.batches += 1;
        tally.numbers += count as u64;
        tally.limbs += limbs as u64;
        tally.elapsed += started.elapsed();
    }
}

/// The value of a term that another term needs.
fn operand<'v, 'i>(values: &'v [Option<Value<'i>>], at: usize) -> &'v Value<'i> {
    let value = values[at].as_ref();
    value.expect("operands come first, and stay to their last use")
}

/// The number of rows of batches that have equally many numbers, or one.
fn common_count(batches: &[Batch]) -> Result<usize, Error> {
    batches
        .iter()
        .try_fold(1, |a, batch| match (a, batch.len()) {
            (1, b) => Ok(b),
            (a, b) if a == b || b == 1 => Ok(a),
            (a, b) => Err(Error::CountMismatch { a, b }),
        })
}

/// For each term that is computed by itself or ends a program, the operands that are not needed
/// after it.
fn last_uses(
    formula: &Formula,
    segments: &[Option<Segment>],
    is_within: &[bool],
) -> Vec<Vec<usize>> {
    let mut last_uses = vec![Vec::new(); formula.terms.len()];
    let mut is_needed = vec![false; formula.terms.len()];
    is_needed[formula.root] = true;
    for (at, term) in formula.terms.iter().enumerate().rev() {
        let operands = match (term, &segments[at]) {
            _ if is_within[at] => continue,
            (_, Some(segment)) => {
                let steps = segment.steps.iter();
                let inputs = steps.filter(|step| step.0 != StepKind::Square);
                inputs.map(|&(_, term)| term).collect()
            }
            (Term::Apply(_, operands), None) => operands.clone(),
            (Term::Input(_), None) => continue,
        };
        for operand in operands {
            if !std::mem::replace(&mut is_needed[operand], true) {
                last_uses[at].push(operand);
            }
        }
    }
    last_uses
}

/// What is known of an input that has been computed.
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
