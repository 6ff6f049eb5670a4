//! Formulas of integers of any lengths, row by row.
//!
//! Rows whose numbers are of alike lengths are computed together, as batches, and as many at
//! a time as memory should hold ([`Grouping`]); results go back into the order of the rows.

use crate::column::Column;
use crate::expression::Formula;
use crate::keys::Keys;
use crate::plan::{Evaluator, Extent, Grouping};
use crate::{Batch, Engine, Error, Integers, SignedBatch};
use bigint_core::{LIMB_BITS, Operation};
use std::ops::Range;

impl Engine {
    /// Computes a formula of columns of integers: one result for each row, or one for all
    /// where it is a sum or product of all rows. A column of one number stands for all rows.
    pub(crate) fn eval_rows(
        &self,
        formula: &Formula,
        inputs: &[Integers],
    ) -> Result<Integers, Error> {
        let mut operations = formula
            .functions()
            .flat_map(|function| function.operations());
        if let Some(&operation) = operations.find(|operation| is_of_a_width(**operation)) {
            return Err(Error::NeedsWidth { operation });
        }
        let rows = Rows {
            engine: self,
            inputs,
            ones: inputs
                .iter()
                .map(|input| self.one_of(input))
                .collect::<Result<_, _>>()?,
        };
        rows.evaluated(formula)
    }

    /// The number that stands for all rows; of a column, no rows.
    fn one_of(&self, input: &Integers) -> Result<SignedBatch, Error> {
        match input.len() {
            1 => self.batch_of_integers(input, 1, input.magnitude(0).len().max(1), |_| 0),
            _ => self.signed_from_bigints(&[]),
        }
    }
}

/// Whether the value depends on how wide operands are, and not on the numbers alone.
fn is_of_a_width(operation: Operation) -> bool {
    use Operation::{MontMul, MulHigh, Not, SetBit, TrailingZeros};
    matches!(operation, MontMul | MulHigh | Not | SetBit | TrailingZeros)
}

/// Columns, and numbers that stand for all their rows.
struct Rows<'a> {
    engine: &'a Engine,
    inputs: &'a [Integers],
    /// Where an input is no column, its number.
    ones: Vec<SignedBatch>,
}

/// Rows whose numbers are padded to the same widths.
struct Class {
    widths: Vec<usize>,
    /// Limbs that a row takes.
    cost: usize,
    /// Those of the window.
    rows: Vec<usize>,
}

/// Classes by the widths of their columns, one after the other: the key of a column is what
/// the columns before it are known by and its width, which has 27 bits.
#[derive(Default)]
struct Classes {
    known: Keys,
    /// The class of what all columns are known by.
    of_all: Keys,
    classes: Vec<Class>,
}

impl<'a> Rows<'a> {
    /// Those inputs that have a number for each row.
    fn columns(&self) -> impl Iterator<Item = &'a Integers> + '_ {
        self.inputs.iter().filter(|input| input.len() != 1)
    }

    fn count(&self) -> Result<usize, Error> {
        let mut counts = self.columns().map(Integers::len);
        let count = counts.next().unwrap_or(1);
        match counts.find(|&other| other != count) {
            Some(other) => Err(Error::CountMismatch { a: count, b: other }),
            None => Ok(count),
        }
    }

    fn evaluated(&self, formula: &Formula) -> Result<Integers, Error> {
        let count = self.count()?;
        let extent = |input: &Integers| {
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
        let mut evaluator = Evaluator::new(self.engine, formula);
        let mut classes = Classes::default();
        let mut windows = Vec::new();
        // The class of each row of the window, and its place there.
        let mut places = bigint_cpu::with_capacity(count)?;
        for row in 0..count {
            let at = self.class(row, &mut classes, &grouping);
            if grouping.takes(classes.classes[at].cost) {
                windows.extend(self.window(&mut evaluator, &mut classes, &places)?);
                places.clear();
            }
            let rows = &mut classes.classes[at].rows;
            places.push((at, rows.len()));
            rows.push(row);
        }
        windows.extend(self.window(&mut evaluator, &mut classes, &places)?);
        let mut results = Integers::from(Column::joined(windows)?);
        if formula.is_total() {
            let inputs: Vec<&SignedBatch> = self.ones.iter().collect();
            if let Some(total) = evaluator.finish(&inputs)? {
                results.extend_from(&total, 0..1)?;
            }
        }
        Ok(results)
    }

    /// The class of a row.
    fn class(&self, row: usize, classes: &mut Classes, grouping: &Grouping<'_>) -> usize {
        let mut key = 0;
        for column in self.columns() {
            let width = Grouping::padded(column.magnitude(row).len());
            let next = classes.known.len() + 1;
            let known = classes.known.entry((key as u64) << 27 | width as u64);
            key = *known.or_insert(next);
        }
        let new = classes.classes.len();
        let at = *classes.of_all.entry(key as u64).or_insert(new);
        if at == new {
            let widths = self.columns().map(|column| column.magnitude(row).len());
            let widths = Grouping::class(widths);
            classes.classes.push(Class {
                cost: grouping.cost(&widths),
                widths,
                rows: Vec::new(),
            });
        }
        at
    }

    /// Computes the rows of a window, class by class, and leaves the classes without rows:
    /// the results, unless they go into a total.
    fn window(
        &self,
        evaluator: &mut Evaluator<'_>,
        classes: &mut Classes,
        places: &[(usize, usize)],
    ) -> Result<Option<Column>, Error> {
        let mut made = Vec::with_capacity(classes.classes.len());
        for class in &mut classes.classes {
            let rows = std::mem::take(&mut class.rows);
            let result = match rows.is_empty() {
                true => Ok(None),
                false => self.computed(evaluator, &class.widths, &rows),
            };
            made.push(result.map_err(|error| {
                error.renumbered(|index| rows.get(index).copied().unwrap_or(index))
            })?);
        }
        if made.iter().all(Option::is_none) {
            return Ok(None);
        }
        let none = self.engine.signed_from_bigints(&[])?;
        let numbers = made.iter().map(|batch| {
            let batch = batch.as_ref().unwrap_or(&none);
            let magnitude: &Batch = batch.magnitude();
            Ok((magnitude.rows()?, magnitude.width(), batch.negative()?))
        });
        let numbers = numbers.collect::<Result<Vec<_>, Error>>()?;
        let limbs: usize = numbers.iter().map(|(rows, ..)| rows.len()).sum();
        let part = |range: Range<usize>| {
            let places = &places[range];
            let width = |&(class, _): &(usize, usize)| numbers[class].1;
            let limbs = places.iter().map(width).sum();
            let mut column = Column::with_capacity(places.len(), limbs)?;
            for &(class, row) in places {
                let (limbs, width, negative) = &numbers[class];
                let number = &limbs[row * width..][..*width];
                column.limbs.extend_from_slice(number);
                column.end_number(negative[row]);
            }
            Ok(column)
        };
        let each = limbs / places.len().max(1);
        Column::gathered(places.len(), 2 * each, part).map(Some)
    }

    /// The results of some rows of a class; none where they go into a total.
    fn computed(
        &self,
        evaluator: &mut Evaluator<'_>,
        widths: &[usize],
        rows: &[usize],
    ) -> Result<Option<SignedBatch>, Error> {
        let mut widths = widths.iter();
        let inputs = self.inputs.iter().zip(&self.ones).map(|(input, one)| {
            if input.len() == 1 {
                return Ok(one.clone());
            }
            let width = *widths.next().expect("a class has a width for each column");
            self.engine
                .batch_of_integers(input, rows.len(), width, |i| rows[i])
        });
        let inputs = inputs.collect::<Result<Vec<_>, Error>>()?;
        let inputs: Vec<&SignedBatch> = inputs.iter().collect();
        evaluator.rows(&inputs)
    }
}
