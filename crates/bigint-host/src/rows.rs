//! Formulas of integers of any lengths, row by row.
//!
//! Rows whose numbers are of alike lengths are computed together, as batches, and as many at
//! a time as memory should hold ([`Grouping`]); results go back into the order of the rows.

use crate::expression::{Formula, Part, Terms};
use crate::plan::{Evaluator, Extent, Grouping};
use crate::{Engine, Error, Integers, SignedBatch};
use bigint_core::LIMB_BITS;
use std::collections::HashMap;

impl Engine {
    /// Computes a formula of columns of integers, exact: one result for each row, or one for
    /// all where it is a sum or product of all rows. A column of one number stands for all
    /// rows.
    ///
    /// Every function is there that [`Terms`] have, and what is written twice is computed
    /// once.
    ///
    /// ```
    /// use bigint_host::expression::{Function, Terms};
    /// use bigint_host::{BigInt, Engine, Integers, Operation};
    /// let a: Integers = [BigInt::from(-3), BigInt::from(1) << 500].into_iter().collect();
    /// let b: Integers = [BigInt::from(5)].into_iter().collect();
    /// let mut terms = Terms::default();
    /// let (x, y) = (terms.input(0), terms.input(1));
    /// let product = terms.apply(Function::Operation(Operation::Mul), &[x, y]);
    /// let sum = terms.apply(Function::Operation(Operation::Add), &[product, x]);
    /// let engine = Engine::auto();
    /// let found = engine.eval_integers(&terms, sum, &[&a, &b])?;
    /// assert_eq!(found.to_bigints()?, [BigInt::from(-18), BigInt::from(6) << 500]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::CountMismatch`], [`Error::Misplaced`], [`Error::Width`];
    /// [`Error::ZeroDivisor`] and the like name a row; [`Error::OutOfMemory`];
    /// [`Error::Device`] on a device.
    ///
    /// # Panics
    /// Where the formula has an input that is not among these.
    pub fn eval_integers(
        &self,
        terms: &Terms,
        root: Part,
        inputs: &[&Integers],
    ) -> Result<Integers, Error> {
        let columns: Vec<bool> = inputs.iter().map(|input| input.len() != 1).collect();
        let formula = terms.formula(root, &columns)?;
        let rows = Rows {
            engine: self,
            inputs,
            ones: inputs
                .iter()
                .map(|input| self.one_of(input))
                .collect::<Result<_, _>>()?,
        };
        rows.evaluated(&formula)
    }

    /// The number that stands for all rows; of a column, no rows.
    fn one_of(&self, input: &Integers) -> Result<SignedBatch, Error> {
        match input.len() {
            1 => self.batch_of_integers(input, 1, input.magnitude(0).len().max(1), |_| 0),
            _ => self.signed_from_bigints(&[]),
        }
    }
}

/// Columns, and numbers that stand for all their rows.
struct Rows<'a> {
    engine: &'a Engine,
    inputs: &'a [&'a Integers],
    /// Where an input is no column, its number.
    ones: Vec<SignedBatch>,
}

/// Rows whose numbers are padded to the same widths.
struct Group {
    widths: Vec<usize>,
    rows: Vec<usize>,
}

impl<'a> Rows<'a> {
    /// Those inputs that have a number for each row.
    fn columns(&self) -> impl Iterator<Item = &'a Integers> + '_ {
        let columns = self.inputs.iter().filter(|input| input.len() != 1);
        columns.copied()
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
        let mut grouping = Grouping::new(formula, extents, &|_| 0);
        let mut evaluator = Evaluator::new(self.engine, formula);
        let mut results = Integers::new();
        let mut start = 0;
        let class = |row: usize| Grouping::class(self.columns().map(|x| x.magnitude(row).len()));
        for row in 0..count {
            if grouping.begins(class(row)) {
                self.window(&mut evaluator, start..row, &class, &mut results)?;
                start = row;
            }
        }
        self.window(&mut evaluator, start..count, &class, &mut results)?;
        if formula.is_total() {
            let inputs: Vec<&SignedBatch> = self.ones.iter().collect();
            if let Some(total) = evaluator.finish(&inputs)? {
                results.extend_from(&total, 0..1)?;
            }
        }
        Ok(results)
    }

    /// Computes some rows after one another, group by group.
    fn window(
        &self,
        evaluator: &mut Evaluator<'_>,
        rows: std::ops::Range<usize>,
        class: &impl Fn(usize) -> Vec<usize>,
        results: &mut Integers,
    ) -> Result<(), Error> {
        let mut groups: Vec<Group> = Vec::new();
        let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
        let mut places = bigint_cpu::with_capacity(rows.len())?;
        for row in rows {
            let widths = class(row);
            let at = *known.entry(widths.clone()).or_insert(groups.len());
            if at == groups.len() {
                let rows = Vec::new();
                groups.push(Group { widths, rows });
            }
            places.push((at, groups[at].rows.len()));
            groups[at].rows.push(row);
        }
        let mut made = Vec::with_capacity(groups.len());
        for group in &groups {
            let result = self.group(evaluator, group);
            made.extend(result.map_err(|error| {
                error.renumbered(|index| group.rows.get(index).copied().unwrap_or(index))
            })?);
        }
        if made.is_empty() {
            return Ok(());
        }
        let numbers = made.iter().map(|batch| {
            let magnitude = batch.magnitude();
            Ok((magnitude.rows()?, magnitude.width(), batch.negative()?))
        });
        let numbers = numbers.collect::<Result<Vec<_>, Error>>()?;
        for (group, row) in places {
            let (limbs, width, negative) = &numbers[group];
            results.push(negative[row], &limbs[row * width..][..*width])?;
        }
        Ok(())
    }

    /// The results of a group; none where they go into a total.
    fn group(
        &self,
        evaluator: &mut Evaluator<'_>,
        group: &Group,
    ) -> Result<Option<SignedBatch>, Error> {
        let mut widths = group.widths.iter();
        let inputs = self.inputs.iter().zip(&self.ones).map(|(input, one)| {
            if input.len() == 1 {
                return Ok(one.clone());
            }
            let width = *widths.next().expect("a class has a width for each column");
            let rows = &group.rows;
            self.engine
                .batch_of_integers(input, rows.len(), width, |i| rows[i])
        });
        let inputs = inputs.collect::<Result<Vec<_>, Error>>()?;
        let inputs: Vec<&SignedBatch> = inputs.iter().collect();
        evaluator.rows(&inputs)
    }
}
