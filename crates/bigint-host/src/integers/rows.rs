//! Formulas and operations of integers of any lengths, row by row.
//!
//! Rows whose numbers are of alike lengths are computed together, as batches, and as many at
//! a time as memory should hold ([`Grouping`]); results go back into the order of the rows.

use crate::expression::cost::Extent;
use crate::expression::evaluate::Evaluator;
use crate::expression::grouping::Grouping;
use crate::expression::{Formula, Function, Terms};
use crate::integers::keys::Keys;
use crate::integers::passing;
use crate::values::column::Column;
use crate::{BackEnd, Batch, Engine, Error, Integers, SignedBatch};
use bigint_core::{Algorithm, LIMB_BITS, Operation};

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
        let rows = Rows::new(self, &inputs)?;
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
        Rows::new(self, inputs)?.computed(&formula, results, &mut compute)
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
    use Operation::{AddSegments, MontMul, MulHigh, Not, PowFixed, PowPair, SetBit, TrailingZeros};
    let is_of_a_width = |operation: &&Operation| {
        matches!(
            operation,
            AddSegments | MontMul | MulHigh | Not | PowFixed | PowPair | SetBit | TrailingZeros
        )
    };
    match function.operations().iter().find(is_of_a_width) {
        Some(&operation) => Err(Error::NeedsWidth { operation }),
        None => Ok(()),
    }
}

/// Computes batches of rows; answers their results, or none where they go into a total.
type Compute<'c> = dyn FnMut(&[&SignedBatch]) -> Result<Vec<SignedBatch>, Error> + 'c;

/// Columns, and numbers that stand for all their rows.
struct Rows<'a> {
    engine: &'a Engine,
    inputs: &'a [&'a Integers],
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
    fn new(engine: &'a Engine, inputs: &'a [&'a Integers]) -> Result<Self, Error> {
        let ones = inputs.iter().map(|input| engine.one_of(input));
        Ok(Rows {
            engine,
            inputs,
            ones: ones.collect::<Result<_, _>>()?,
        })
    }

    /// Those inputs that have a number for each row.
    fn columns(&self) -> impl Iterator<Item = &'a Integers> + '_ {
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
        let count = self.count()?;
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
        let mut classes = Classes::default();
        let mut windows = vec![Vec::new(); results];
        let mut end_window = |classes: &mut Classes, places: &[(usize, usize)]| {
            let columns = self.window(compute, classes, places)?;
            for (windows, column) in windows.iter_mut().zip(columns) {
                windows.push(column);
            }
            Ok::<_, Error>(())
        };
        // The class of each row of the window, and its place there.
        let mut places = bigint_cpu::with_capacity(count)?;
        for row in 0..count {
            let at = self.class(row, &mut classes, &grouping);
            if grouping.takes(classes.classes[at].cost) {
                end_window(&mut classes, &places)?;
                places.clear();
            }
            let rows = &mut classes.classes[at].rows;
            places.push((at, rows.len()));
            rows.push(row);
        }
        end_window(&mut classes, &places)?;
        let joined = windows.into_iter().map(Column::joined);
        joined.map(|column| Ok(column?.into())).collect()
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

    /// Computes the rows of a window, class by class, and leaves the classes without rows: the
    /// results, unless they go into a total.
    fn window(
        &self,
        compute: &mut Compute<'_>,
        classes: &mut Classes,
        places: &[(usize, usize)],
    ) -> Result<Vec<Column>, Error> {
        let mut made = Vec::with_capacity(classes.classes.len());
        for class in &mut classes.classes {
            let rows = std::mem::take(&mut class.rows);
            let results = match rows.is_empty() {
                true => Ok(Vec::new()),
                false => self.class_of(&class.widths, &rows, compute),
            };
            made.push(results.map_err(|error| {
                error.renumbered(|index| rows.get(index).copied().unwrap_or(index))
            })?);
        }
        let results = made.iter().map(Vec::len).max().unwrap_or(0);
        let result = |which| self.gathered(&made, which, places);
        (0..results).map(result).collect()
    }

    /// The results of some rows of a class.
    fn class_of(
        &self,
        widths: &[usize],
        rows: &[usize],
        compute: &mut Compute<'_>,
    ) -> Result<Vec<SignedBatch>, Error> {
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
        compute(&inputs)
    }

    /// One of the results that classes have made of a window's rows, in the rows' order.
    fn gathered(
        &self,
        made: &[Vec<SignedBatch>],
        which: usize,
        places: &[(usize, usize)],
    ) -> Result<Column, Error> {
        let none = self.engine.signed_from_bigints(&[])?;
        let numbers = made.iter().map(|results| {
            let batch = results.get(which).unwrap_or(&none);
            let magnitude: &Batch = batch.magnitude();
            Ok((magnitude.rows()?, magnitude.width(), batch.negative()?))
        });
        let numbers = numbers.collect::<Result<Vec<_>, Error>>()?;
        let limbs: usize = numbers.iter().map(|(rows, ..)| rows.len()).sum();
        let number = |place: usize| {
            let (class, row) = places[place];
            let (limbs, width, negative) = &numbers[class];
            (&limbs[row * width..][..*width], negative[row])
        };
        let mean = limbs / places.len().max(1);
        Column::of_numbers(None, places.len(), mean, number)
    }
}
