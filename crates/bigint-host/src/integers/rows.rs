//! Formulas and operations of integers of any lengths, row by row.
//!
//! Rows whose numbers are of alike lengths are computed together, as batches, and as many at
//! a time as memory should hold ([`Grouping`]); results go back into the order of the rows. What
//! the CPU computes in passing is in no batch.

use crate::expression::evaluate::Evaluator;
use crate::expression::grouping::{BATCH_LIMBS, Grouping};
use crate::expression::{Formula, Formulas, Function, Terms, count_of_rows};
use crate::integers::passing;
use crate::integers::schedule::in_order;
use crate::plan::{Blame, Tallies};
use crate::{BackEnd, Engine, Error, Integers, SignedBatch};
use bigint_core::Algorithm;
use bigint_core::operation::Property;
use std::ops::Range;

/// Computes formulas of columns of integers, part after part of the rows.
///
/// ```
/// use bigint_host::expression::{Formulas, Function, Terms};
/// use bigint_host::{Engine, Evaluation, Integers, Operation};
/// let mut terms = Terms::default();
/// let (a, b) = (terms.input(0), terms.input(1));
/// let product = terms.apply(Function::Operation(Operation::Mul), &[a, b]);
/// let sum = terms.apply(Function::Sum, &[product]);
/// let are_columns = [true, false];
/// let formulas = [product, sum].map(|part| terms.formula(part, &are_columns));
/// let formulas = formulas.into_iter().collect::<Result<_, _>>()?;
/// let seven = Integers::from_texts(["7"])?;
/// let formulas = Formulas::new(formulas, vec![None, Some(seven)]);
/// let engine = Engine::auto();
/// let mut evaluation = Evaluation::new(&engine, &formulas)?;
/// for (rows, products) in [(["3", "-4"], ["21", "-28"]), (["5", "6"], ["35", "42"])] {
///     let results = evaluation.rows(0..2, &[Integers::from_texts(rows)?])?;
///     assert_eq!(results, [Some(Integers::from_texts(products)?), None]);
/// }
/// assert_eq!(evaluation.finish(1)?, Some(Integers::from_texts(["70"])?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Evaluation<'a> {
    engine: &'a Engine,
    formulas: &'a Formulas,
    /// The inputs that are one number for all rows; in place of a column, a batch without rows.
    constants: Vec<SignedBatch>,
    /// The evaluator of each formula.
    evaluators: Vec<Evaluator<'a>>,
    /// The formula that the last error is about.
    failed: Option<usize>,
}

impl<'a> Evaluation<'a> {
    /// Begins an evaluation.
    ///
    /// # Errors
    /// As for [`Engine::batch_from_limbs`].
    pub fn new(engine: &'a Engine, formulas: &'a Formulas) -> Result<Self, Error> {
        let evaluators = formulas.formulas.iter();
        Ok(Evaluation {
            engine,
            formulas,
            constants: engine.constants(formulas)?,
            evaluators: evaluators
                .map(|formula| Evaluator::new(engine, formula))
                .collect(),
            failed: None,
        })
    }

    /// Computes some of the formulas of rows of the columns, which stand in the order of their
    /// inputs. A formula has one result for each row, or a single one where it is of constants
    /// alone; nothing comes of a formula whose rows go into a total.
    ///
    /// # Errors
    /// As the engine's operations; totals are what they were before then. Of the rows that have no
    /// value one is named, which need not be the first.
    ///
    /// # Panics
    /// If there are no such formulas, or fewer columns than inputs that are no constants.
    pub fn rows(
        &mut self,
        which: Range<usize>,
        columns: &[Integers],
    ) -> Result<Vec<Option<Integers>>, Error> {
        self.wholly(|evaluation| evaluation.computed(which, columns))
    }

    /// [`Evaluation::rows`] of every formula, each of rows of its own: formula `i` of `columns[i]`,
    /// or of no rows.
    ///
    /// # Errors
    /// As for [`Evaluation::rows`].
    ///
    /// # Panics
    /// As for [`Evaluation::rows`].
    pub fn rows_of_each(
        &mut self,
        columns: &[Option<Vec<Integers>>],
    ) -> Result<Vec<Option<Integers>>, Error> {
        self.wholly(|evaluation| {
            let made = columns.iter().enumerate().map(|(index, columns)| {
                let Some(columns) = columns else {
                    let is_total = evaluation.formulas.formulas[index].is_total();
                    return Ok((!is_total).then(Integers::new));
                };
                let mut made = evaluation.computed(index..index + 1, columns)?;
                Ok(made.swap_remove(0))
            });
            made.collect()
        })
    }

    /// Does `work`; where it fails, totals are left as they were.
    fn wholly<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R, Error>) -> Result<R, Error> {
        let totals = self.evaluators.iter();
        let totals: Vec<_> = totals.map(|evaluator| evaluator.totals.clone()).collect();
        let made = work(self);
        if made.is_err() {
            for (evaluator, totals) in self.evaluators.iter_mut().zip(totals) {
                evaluator.totals = totals;
            }
        }
        made
    }

    /// The same, with the totals of some of the rows where one has no value.
    fn computed(
        &mut self,
        which: Range<usize>,
        columns: &[Integers],
    ) -> Result<Vec<Option<Integers>>, Error> {
        self.failed = None;
        let mut made = vec![None; which.len()];
        let mut in_bins = Vec::new();
        for index in which.clone() {
            let slot = &mut made[index - which.start];
            if let Some(passed) = self.passed(index, columns) {
                *slot = Some(passed?);
            } else if self.formulas.has_columns(index) {
                in_bins.push(index);
            } else {
                *slot = self.alone(index, Evaluator::rows)?;
            }
        }
        if in_bins.is_empty() {
            return Ok(made);
        }
        let is_of_rows = |index: &usize| !self.formulas.formulas[*index].is_total();
        let of_rows: Vec<usize> = in_bins.iter().copied().filter(is_of_rows).collect();
        let (evaluators, failed) = (&mut self.evaluators, &mut self.failed);
        let mut compute = |inputs: &[&SignedBatch]| {
            let mut results = Vec::new();
            for &index in &in_bins {
                let result = evaluators[index].rows(inputs);
                results.extend(result.inspect_err(|_| *failed = Some(index))?);
            }
            Ok(results)
        };
        let (constants, results) = (&self.constants, of_rows.len());
        let results =
            self.engine
                .by_bins(self.formulas, constants, columns, results, &mut compute)?;
        for (index, result) in of_rows.into_iter().zip(results) {
            made[index - which.start] = Some(result);
        }
        Ok(made)
    }

    /// The results of a formula that the CPU computes in passing; `None` for another.
    fn passed(&mut self, index: usize, columns: &[Integers]) -> Option<Result<Integers, Error>> {
        let formula = &self.formulas.formulas[index];
        if formula.is_total() || !self.engine.passes() {
            return None;
        }
        let mut columns = columns.iter();
        let inputs = self.formulas.constants.iter().map(|constant| {
            let column = || columns.next().expect("there are as many as inputs");
            constant.as_ref().unwrap_or_else(column).clone()
        });
        let inputs: Vec<Integers> = inputs.collect();
        let evaluator = &mut self.evaluators[index];
        let passed =
            passing::evaluated(self.engine, formula, &inputs, &mut |name, made, started| {
                let limbs = made.limbs().len();
                evaluator.tally((BackEnd::Cpu, name), made.len(), limbs, started);
            });
        let error = |(term, error)| {
            self.failed = Some(index);
            self.evaluators[index].failed_at = Some(term);
            error
        };
        Some(passed?.map_err(error))
    }

    /// The one result of a formula of constants and totals.
    fn alone(
        &mut self,
        index: usize,
        compute: impl Fn(&mut Evaluator<'a>, &[&SignedBatch]) -> Result<Option<SignedBatch>, Error>,
    ) -> Result<Option<Integers>, Error> {
        let inputs: Vec<&SignedBatch> = self.constants.iter().collect();
        let made = compute(&mut self.evaluators[index], &inputs);
        let Some(batch) = made.inspect_err(|_| self.failed = Some(index))? else {
            return Ok(None);
        };
        let mut number = Integers::new();
        number.extend_from(&batch, 0..1)?;
        Ok(Some(number))
    }

    /// The one result of a formula that is a total of all rows so far; nothing for another formula.
    ///
    /// # Errors
    /// As for [`Evaluation::rows`].
    ///
    /// # Panics
    /// If there is no such formula.
    pub fn finish(&mut self, index: usize) -> Result<Option<Integers>, Error> {
        self.failed = None;
        self.alone(index, Evaluator::finish)
    }

    /// The operand to blame for the last error, where a function does not take a number.
    pub fn blamed(&self, error: &Error) -> Option<Blame> {
        self.evaluators[self.failed?].blamed(error)
    }

    /// The tallies of each formula.
    pub fn tallies(&self) -> impl Iterator<Item = &Tallies> {
        let evaluators = self.evaluators.iter();
        evaluators.map(|evaluator| &evaluator.tallies)
    }
}

/// Computes batches of rows; answers their results, or none where they go into a total.
type Compute<'c> = dyn FnMut(&[&SignedBatch]) -> Result<Vec<SignedBatch>, Error> + 'c;

impl Engine {
    /// Computes a formula of columns of integers: one result for each row, or one for all
    /// where it is a sum or product of all rows. A column of one number stands for all rows.
    pub(crate) fn eval_rows(
        &self,
        formula: Formula,
        inputs: &[Integers],
    ) -> Result<Integers, Error> {
        formula.functions().try_for_each(needs_no_width)?;
        let made = self.evaluated(&formula, inputs);
        Error::of_first_row(made, |rows| self.evaluated(&formula, &heads(inputs, rows)?))
    }

    /// The same, with an error that may name any row that has no value.
    fn evaluated(&self, formula: &Formula, inputs: &[Integers]) -> Result<Integers, Error> {
        if self.passes()
            && let Some(passed) = passing::evaluated(self, formula, inputs, &mut |_, _, _| ())
        {
            return passed.map_err(|(_, error)| error);
        }
        let (formulas, columns) = Formulas::of(formula.clone(), &inputs.iter().collect::<Vec<_>>());
        let mut evaluation = Evaluation::new(self, &formulas)?;
        let made = match evaluation.rows(0..1, &columns)?.swap_remove(0) {
            Some(rows) => Some(rows),
            None => evaluation.finish(0)?,
        };
        Ok(made.expect("a formula has rows or a total"))
    }

    /// Whether the CPU computes, with nothing forced: then it computes in passing what it can.
    /// Starting devices for that would take longer.
    pub(crate) fn passes(&self) -> bool {
        self.inner.open_if_that_is_free();
        self.inner.back_end() == BackEnd::Cpu && self.options.algorithm == Algorithm::Auto
    }

    /// Applies `compute` to the rows of columns of integers, in batches of rows of alike lengths;
    /// each row has `results` results. Memory is planned as for `function`. An error names the first
    /// row that has no value.
    pub(crate) fn by_rows(
        &self,
        function: Function,
        inputs: &[&Integers],
        results: usize,
        mut compute: impl FnMut(&[&SignedBatch]) -> Result<Vec<SignedBatch>, Error>,
    ) -> Result<Vec<Integers>, Error> {
        needs_no_width(function)?;
        let mut terms = Terms::default();
        let parts: Vec<_> = (0..inputs.len()).map(|index| terms.input(index)).collect();
        let root = terms.apply(function, &parts);
        let are_rows: Vec<bool> = inputs.iter().map(|input| input.len() != 1).collect();
        let formula = terms.formula(root, &are_rows)?;
        let (formulas, columns) = Formulas::of(formula, inputs);
        let constants = self.constants(&formulas)?;
        let mut by_bins = |columns: &[Integers]| {
            self.by_bins(&formulas, &constants, columns, results, &mut compute)
        };
        let made = by_bins(&columns);
        Error::of_first_row(made, |rows| by_bins(&heads(&columns, rows)?))
    }

    /// Applies `compute` to bins of rows of alike lengths, which are grouped by the cost of all
    /// formulas; each row has `results` results.
    fn by_bins(
        &self,
        formulas: &Formulas,
        constants: &[SignedBatch],
        columns: &[Integers],
        results: usize,
        compute: &mut Compute<'_>,
    ) -> Result<Vec<Integers>, Error> {
        let count = count_of_rows(columns)?;
        let bins = Grouping::new(formulas, columns, count, BATCH_LIMBS, 0)?.bins()?;
        let limbs = columns.iter().map(|column| column.limbs().len()).sum();
        let made = self.one_after_another(&bins.bins, limbs, |bin| {
            let rows = bins.rows(bin);
            let columns = columns.iter().map(|column| {
                let longest = rows.iter().map(|&row| column.length(row)).max();
                let width = longest.unwrap_or(0).max(1);
                self.batch_of_integers(column, rows.len(), width, |i| rows[i])
            });
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            let mut columns = columns.iter();
            let inputs = formulas.constants.iter().zip(constants);
            let inputs = inputs.map(|(constant, batch)| match constant {
                Some(_) => batch,
                None => columns.next().expect("there are as many as inputs"),
            });
            let made = compute(&inputs.collect::<Vec<_>>());
            made.map_err(|error| error.renumbered(|index| rows[index]))
        })?;
        let mut made: Vec<_> = made.into_iter().map(Vec::into_iter).collect();
        let result = |_| {
            let of_bins = made.iter_mut().filter_map(Iterator::next).collect();
            let pool = &self.inner.pool;
            in_order(of_bins, &bins.places, pool, |_, width| (width, None))
        };
        (0..results).map(result).collect()
    }

    /// The inputs that are one number for all rows; in place of a column, a batch without rows.
    fn constants(&self, formulas: &Formulas) -> Result<Vec<SignedBatch>, Error> {
        let batch = |constant: &Option<Integers>| match constant {
            Some(x) => self.batch_of_integers(x, 1, x.limbs().len().max(1), |_| 0),
            None => self.signed_from_bigints(&[]),
        };
        formulas.constants.iter().map(batch).collect()
    }
}

/// The first rows of columns, of which those of one number stand for all rows.
fn heads(columns: &[Integers], rows: usize) -> Result<Vec<Integers>, Error> {
    let head = |column: &Integers| column.slice(0..column.len().min(rows));
    columns.iter().map(head).collect()
}

/// Refuses a function whose value depends on the operands' widths, and not on the numbers alone.
fn needs_no_width(function: Function) -> Result<(), Error> {
    let mut operations = function.operations().iter();
    match operations.find(|operation| operation.is(Property::OfWidths)) {
        Some(&operation) => Err(Error::NeedsWidth { operation }),
        None => Ok(()),
    }
}
