//! Formulas and operations of integers of any lengths, row by row.
//!
//! Rows whose numbers are of alike lengths are computed together, as batches, and as many at
//! a time as memory should hold ([`Grouping`], [`Bins`]); results go back into the order of the
//! rows.

use crate::expression::cost::Extent;
use crate::expression::evaluate::Evaluator;
use crate::expression::grouping::{Bin, Bins, Grouping};
use crate::expression::{Formula, Function, Terms};
use crate::integers::passing;
use crate::integers::schedule::{Made, in_order};
use crate::{BackEnd, Engine, Error, Integers, SignedBatch};
use bigint_core::operation::Property;
use bigint_core::{Algorithm, LIMB_BITS};
use bigint_cpu::collect;

impl Engine {
    /// Computes a formula of columns of integers: one result for each row, or one for all
    /// where it is a sum or product of all rows. A column of one number stands for all rows.
    pub(crate) fn eval_rows(
        &self,
        formula: &Formula,
        inputs: &[Integers],
    ) -> Result<Integers, Error> {
        formula.functions().try_for_each(needs_no_width)?;
        if self.passes()
            && let Some(passed) = passing::evaluated(self, formula, inputs)
        {
            return passed;
        }
        let inputs: Vec<&Integers> = inputs.iter().collect();
        let rows = Inputs::new(self, &inputs)?;
        let mut evaluator = Evaluator::new(self, formula);
        let mut results = rows.computed(formula, 1, &mut |inputs| {
            Ok(evaluator.rows(inputs)?.into_iter().collect())
        })?;
        let mut results = results.swap_remove(0);
        if formula.is_total() {
            let inputs: Vec<&SignedBatch> = rows.ones.iter().collect();
            if let Some(total) = evaluator.finish(&inputs)? {
                results.extend_from(&total, 0..1)?;
            }
        }
        Ok(results)
    }

    /// Whether the CPU computes, and nobody says how: then it does in passing what it can.
    pub(crate) fn passes(&self) -> bool {
        self.back_end() == BackEnd::Cpu && self.options.algorithm == Algorithm::Auto
    }

    /// What `compute` makes of the rows of columns of integers, so many results of each: it is
    /// given batches of rows of alike lengths, and takes about the memory that `function` does.
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
        Inputs::new(self, inputs)?.computed(&formula, results, &mut compute)
    }

    /// The number that stands for all rows; of a column, no rows.
    fn one_of(&self, input: &Integers) -> Result<SignedBatch, Error> {
        match input.len() {
            1 => self.batch_of_integers(input, 1, input.magnitude(0).len().max(1), |_| 0),
            _ => self.signed_from_bigints(&[]),
        }
    }
}

/// Refuses a function whose value depends on how wide operands are, and not on the numbers alone.
fn needs_no_width(function: Function) -> Result<(), Error> {
    let mut operations = function.operations().iter();
    match operations.find(|operation| operation.is(Property::OfWidths)) {
        Some(&operation) => Err(Error::NeedsWidth { operation }),
        None => Ok(()),
    }
}

/// Computes batches of rows; answers their results, or none where they go into a total.
type Compute<'c> = dyn FnMut(&[&SignedBatch]) -> Result<Vec<SignedBatch>, Error> + 'c;

/// Columns, and numbers that stand for all their rows.
struct Inputs<'a> {
    engine: &'a Engine,
    inputs: &'a [&'a Integers],
    /// Where an input is no column, its number.
    ones: Vec<SignedBatch>,
}

impl<'a> Inputs<'a> {
    fn new(engine: &'a Engine, inputs: &'a [&'a Integers]) -> Result<Self, Error> {
        let ones = inputs.iter().map(|input| engine.one_of(input));
        Ok(Inputs {
            engine,
            inputs,
            ones: ones.collect::<Result<_, _>>()?,
        })
    }

    /// Those inputs that have a number for each row.
    fn columns(&self) -> impl Iterator<Item = &'a Integers> + Clone + '_ {
        let inputs = self.inputs.iter().copied();
        inputs.filter(|input| input.len() != 1)
    }

    fn count(&self) -> Result<usize, Error> {
        let mut counts = self.columns().map(Integers::len);
        let count = counts.next().unwrap_or(1);
        match counts.find(|&other| other != count) {
            Some(other) => Err(Error::CountMismatch { a: count, b: other }),
            None => Ok(count),
        }
    }

    /// So many results of each row, of a formula by whose cost rows go together.
    fn computed(
        &self,
        formula: &Formula,
        results: usize,
        compute: &mut Compute<'_>,
    ) -> Result<Vec<Integers>, Error> {
        let extent = |input: &&Integers| {
            let is_column = input.len() != 1;
            let magnitude = if is_column { &[] } else { input.magnitude(0) };
            Extent {
                bits: magnitude.len() * LIMB_BITS,
                most: match magnitude {
                    [] if is_column => None,
                    [] => Some(0),
                    [only] => Some(u64::from(*only)),
                    _ => None,
                },
                is_column,
            }
        };
        let extents = self.inputs.iter().map(extent).collect();
        let mut grouping = Grouping::new(std::slice::from_ref(formula), extents, &|_| 0);
        let class = |row| grouping.class(self.columns().map(move |column| column.length(row)));
        let classes = collect((0..self.count()?).map(class))?;
        let bins = Bins::new(&classes, &grouping.classes())?;
        let limbs = |bin: &Bin| bin.count * grouping.widths(bin.class).iter().sum::<usize>();
        let limbs = bins.bins.iter().map(limbs).sum();
        let mut made = self.engine.one_after_another(&bins.bins, limbs, |bin| {
            let rows = bins.rows(bin);
            let inputs = self.inputs_of(grouping.widths(bin.class), rows)?;
            let made = compute(&inputs.iter().collect::<Vec<_>>());
            made.map_err(|error| error.renumbered(|index| rows[index]))
        })?;
        let result = |_| {
            // Nothing comes of rows that go into a total.
            let of_bins = made
                .iter_mut()
                .filter_map(|results| match results.is_empty() {
                    true => None,
                    false => Some(results.remove(0)),
                });
            let of_bins: Vec<Made> = of_bins.collect();
            match of_bins.len() == bins.bins.len() {
                true => in_order(
                    of_bins,
                    &bins.places,
                    &self.engine.inner.pool,
                    |_, width| (width, None),
                ),
                false => Ok(Integers::new()),
            }
        };
        (0..results).map(result).collect()
    }

    /// The inputs of rows whose columns are padded to these widths.
    fn inputs_of(&self, widths: &[usize], rows: &[usize]) -> Result<Vec<SignedBatch>, Error> {
        let mut widths = widths.iter();
        let inputs = self.inputs.iter().zip(&self.ones).map(|(input, one)| {
            if input.len() == 1 {
                return Ok(one.clone());
            }
            let width = *widths.next().expect("a class has a width for each column");
            self.engine
                .batch_of_integers(input, rows.len(), width, |i| rows[i])
        });
        inputs.collect()
    }
}
