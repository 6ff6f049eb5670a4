//! What `calc` computes of a window: its formulas, one after another.
//!
//! The library computes many rows at once, and tells of one that it does not take. Which
//! row of the input is the first that has no value, and which others have none, is found by
//! halves: no formula fails for a part whose rows all have values. So it does not depend on
//! how rows were cut into windows and groups, nor on who computes them.

use std::ops::Range;
use std::sync::Arc;

use bigint_core::{LIMB_BITS, MAX_WIDTH, Operation};
use bigint_host::expression::Function;
use bigint_host::plan::{Blame, Evaluator, Tallies};
use bigint_host::{Engine, Error, SignedBatch, Syntax};

use crate::column::Column;
use crate::failure::{Failure, Place};
use crate::on_error::{OnError, Valueless};
use crate::operands::{Operands, Origin};
use crate::window::{NOWHERE, Order, Results, Spot, Text, Window};

/// What computes window after window.
pub struct Computation<'a> {
    evaluation: Evaluation<'a>,
    /// What errors call each formula.
    names: Vec<String>,
    /// The files, in the order of the columns.
    pub paths: Vec<String>,
    on_error: OnError,
    /// The rows without a value so far.
    pub valueless: Valueless,
}

/// What comes of a window.
pub struct Computed {
    /// Lines, with the number of their formula.
    pub results: Vec<(usize, Results)>,
    /// Why there are no more.
    pub failure: Option<Failure>,
}

/// Formulas and their constants on an engine.
struct Evaluation<'a> {
    operands: &'a Operands,
    engine: &'a Engine,
    constants: Vec<SignedBatch>,
    /// One for each formula.
    evaluators: Vec<Evaluator<'a>>,
}

/// For each formula the rows of a group that have no value, in order.
type BadRows = Vec<Vec<usize>>;

/// What comes of a group.
struct Made {
    /// What each formula makes of the rows that have values; nothing where that is a total.
    results: Vec<Option<SignedBatch>>,
    bad: BadRows,
    /// The columns, where there are bad rows.
    columns: Vec<Column>,
}

impl<'a> Computation<'a> {
    /// A computation that has seen no window, of formulas that errors call by `names`.
    ///
    /// # Errors
    /// As [`Operands::constants`].
    pub fn new(
        engine: &'a Engine,
        operands: &'a Operands,
        names: Vec<String>,
        paths: Vec<String>,
        on_error: OnError,
    ) -> Result<Self, Error> {
        Ok(Computation {
            evaluation: Evaluation::new(engine, operands)?,
            names,
            paths,
            on_error,
            valueless: Valueless::default(),
        })
    }

    /// What was done, by each formula.
    pub fn tallies(&self) -> impl Iterator<Item = &Tallies> {
        let evaluators = self.evaluation.evaluators.iter();
        evaluators.map(|evaluator| &evaluator.tallies)
    }

    /// Computes a window; nothing comes of formulas whose rows go into a total.
    ///
    /// # Errors
    /// [`Failure::Running`] where no row is to blame, or the only one there is.
    pub fn window(&mut self, window: Window) -> Result<Computed, Failure> {
        let Window {
            groups,
            order,
            text,
            unread,
        } = window;
        let mut results: Vec<Vec<SignedBatch>> = vec![Vec::new(); self.names.len()];
        let (mut bad, mut failed) = (Vec::new(), Vec::new());
        for columns in groups {
            // A line alone is to blame for whatever happens.
            let made = self.group(columns).map_err(|error| match text.len() {
                1 => self.told(&error, 0, None, &text, 0),
                _ => Failure::Running(error.to_string()),
            })?;
            for (results, result) in results.iter_mut().zip(made.results) {
                results.extend(result);
            }
            bad.push(made.bad);
            failed.push(made.columns);
        }
        let (count, first) = bad_lines(&order, &bad);
        let failure = match (first, unread) {
            (None, _) => None,
            (Some((_, (NOWHERE, _))), unread) => unread,
            (Some((line, (group, row))), _) => {
                let columns = &failed[group as usize];
                Some(self.explained(columns, row as usize, &text, line)?)
            }
        };
        let order = Arc::new(order);
        let results = results.into_iter().enumerate();
        let results = results.filter(|(formula, _)| !self.evaluation.is_total(*formula));
        let results = results.map(|(formula, groups)| {
            let bad = bad.iter().map(|group| &group[formula][..]);
            let order = match failure {
                None => Arc::clone(&order),
                Some(_) => Arc::new(self.without(&order, &bad.collect::<Vec<_>>())),
            };
            (formula, Results { groups, order })
        });
        let results = results.collect();
        let failure = match (failure, self.on_error) {
            (Some(first), OnError::Skip | OnError::Null) => {
                self.valueless.add(count, first);
                None
            }
            (failure, _) => failure,
        };
        Ok(Computed { results, failure })
    }

    /// What each formula makes of a group.
    fn group(&mut self, columns: Vec<Column>) -> Result<Made, Error> {
        let formulas = self.names.len();
        // Without columns there is a line nonetheless.
        let count = columns.first().map_or(1, |column| column.negative.len());
        let batches = self.evaluation.batches(columns)?;
        let evaluators = self.evaluation.evaluators.iter();
        let totals: Vec<_> = evaluators.map(Evaluator::totals).collect();
        let error = match self.evaluation.all(&batches) {
            Ok(results) => {
                return Ok(Made {
                    results,
                    bad: vec![Vec::new(); formulas],
                    columns: Vec::new(),
                });
            }
            Err(error) if !is_of_a_row(&error) => return Err(error),
            Err(error) => error,
        };
        let columns = batches.iter().map(Column::of);
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let mut bad = probe(self.evaluation.operands, |evaluation| {
            evaluation.bad_rows(&columns, count, self.on_error == OnError::Stop)
        })?;
        if bad.iter().all(Vec::is_empty) {
            return Err(error);
        }
        let mut all: Vec<usize> = bad.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        match self.on_error {
            OnError::Stop => bad.fill((all[0]..count).collect()),
            OnError::Skip => bad.fill(all),
            OnError::Null => {}
        }
        let evaluators = self.evaluation.evaluators.iter_mut();
        for (evaluator, totals) in evaluators.zip(&totals) {
            evaluator.go_back_to(totals);
        }
        let results = (0..formulas).map(|formula| {
            let is_good = |row: &usize| bad[formula].binary_search(row).is_err();
            let rows: Vec<usize> = (0..count).filter(is_good).collect();
            let picked = columns.iter().map(|column| column.picked(&rows));
            let batches = self.evaluation.batches(picked.collect::<Result<_, _>>()?)?;
            match rows.is_empty() {
                false => self.evaluation.one(formula, &batches),
                true if self.evaluation.is_total(formula) => Ok(None),
                true => self.evaluation.engine.signed_from_bigints(&[]).map(Some),
            }
        });
        Ok(Made {
            results: results.collect::<Result<_, Error>>()?,
            bad,
            columns,
        })
    }

    /// The lines of a window without those that have no value, or with nothing in their place.
    fn without(&self, order: &Order, bad: &[&[usize]]) -> Order {
        let spots = order.spots().map(|(group, row)| {
            let bad = bad.get(group as usize).copied().unwrap_or_default();
            match bad.binary_search(&(row as usize)) {
                Ok(_) => (NOWHERE, 0),
                Err(before) => (group, row - before as u32),
            }
        });
        let is_somewhere = |spot: &Spot| spot.0 != NOWHERE;
        Order::Mixed(match self.on_error {
            OnError::Stop => spots.take_while(is_somewhere).collect(),
            OnError::Skip => spots.filter(is_somewhere).collect(),
            OnError::Null => spots.collect(),
        })
    }

    /// Why a row has no value.
    fn explained(
        &self,
        columns: &[Column],
        row: usize,
        text: &Text,
        line: usize,
    ) -> Result<Failure, Failure> {
        let picked = columns.iter().map(|column| column.picked(&[row]));
        let columns = picked.collect::<Result<Vec<_>, _>>();
        let told = columns.and_then(|columns| {
            probe(self.evaluation.operands, |evaluation| {
                let batches = evaluation.batches(columns.clone())?;
                for formula in 0..self.names.len() {
                    let Some(error) = evaluation.error(formula, &batches)? else {
                        continue;
                    };
                    let blame = evaluation.evaluators[formula].blamed(&error);
                    let blame = blame.map(|blame| (blame, &columns[..]));
                    return Ok(self.told(&error, formula, blame, text, line));
                }
                let what = "a row was refused and then computed";
                Ok(Failure::Running(what.to_owned()))
            })
        });
        told.map_err(|error| Failure::Running(error.to_string()))
    }

    /// The one line of each formula that is a total.
    ///
    /// # Errors
    /// [`Failure::Running`] where no total is to blame.
    pub fn totals(&mut self) -> Result<Computed, Failure> {
        let mut computed = Computed {
            results: Vec::new(),
            failure: None,
        };
        for formula in 0..self.names.len() {
            let (groups, order) = match self.evaluation.total(formula) {
                Ok(None) => continue,
                Ok(Some(total)) => (vec![total], Order::Straight(1)),
                Err(error) if !is_of_a_row(&error) => {
                    return Err(Failure::Running(error.to_string()));
                }
                Err(error) => {
                    let blame = self.evaluation.evaluators[formula].blamed(&error);
                    let blame = blame.map(|blame| (blame, &[][..]));
                    let failure = self.told(&error, formula, blame, &Text::default(), 0);
                    match self.on_error {
                        OnError::Stop => {
                            computed.failure = Some(failure);
                            return Ok(computed);
                        }
                        OnError::Skip | OnError::Null => self.valueless.add(1, failure),
                    }
                    match self.on_error {
                        OnError::Null => (Vec::new(), Order::Mixed(vec![(NOWHERE, 0)])),
                        OnError::Stop | OnError::Skip => continue,
                    }
                }
            };
            let order = Arc::new(order);
            computed.results.push((formula, Results { groups, order }));
        }
        Ok(computed)
    }

    /// An error of a formula, told with the places of all of a line's numbers, that of the one
    /// to blame first; `blame` comes with the values of the line's columns.
    fn told(
        &self,
        error: &Error,
        formula: usize,
        blame: Option<(Blame, &[Column])>,
        text: &Text,
        line: usize,
    ) -> Failure {
        let columns = 0..self.paths.len();
        let mut places: Vec<Place> = columns
            .filter_map(|column| text.place(column, line, &self.paths))
            .collect();
        let origins = &self.evaluation.operands.origins;
        let place = |input: usize| match &origins[input] {
            Origin::Column(column) => text.place(*column, line, &self.paths),
            Origin::Constant(_, place) => Some(place.clone()),
        };
        let (mut is_input, mut first) = (false, None);
        if let Some((blame, columns)) = &blame {
            let is_wrong = |&&input: &&usize| match &origins[input] {
                Origin::Column(column) => columns
                    .get(*column)
                    .is_some_and(|number| refuses(error, number)),
                Origin::Constant(number, _) => refuses(error, number),
            };
            let is_constant = |input: &usize| matches!(origins[*input], Origin::Constant(..));
            let mut inputs = blame.inputs.iter();
            let wrong = inputs.clone().find(is_wrong);
            is_input = blame.is_given || wrong.is_some() || inputs.clone().all(is_constant);
            // What is the same in all rows explains less than what is not.
            let told = wrong.or_else(|| inputs.clone().find(|input| !is_constant(input)));
            first = told.or(inputs.next()).and_then(|&input| place(input));
        }
        let first = first.or_else(|| places.first().cloned());
        let first = first.unwrap_or_else(|| Place {
            source: self.names[formula].clone(),
            line: 1,
            column: 1,
        });
        places.retain(|place| *place != first);
        let mut what = in_words(error, blame.as_ref().map(|(blame, _)| blame));
        if !places.is_empty() {
            let places: Vec<String> = places.iter().map(Place::to_string).collect();
            what = format!("{what} (with {})", places.join(", "));
        }
        match is_input {
            true => Failure::Input(first, what),
            false => Failure::Running(format!("{first}: {what}")),
        }
    }
}

impl<'a> Evaluation<'a> {
    fn new(engine: &'a Engine, operands: &'a Operands) -> Result<Self, Error> {
        let formulas = operands.formulas.iter();
        Ok(Evaluation {
            operands,
            engine,
            constants: operands.constants(engine)?,
            evaluators: formulas
                .map(|formula| Evaluator::new(engine, formula))
                .collect(),
        })
    }

    fn is_total(&self, formula: usize) -> bool {
        self.operands.formulas[formula].is_total()
    }

    fn batches(&self, columns: Vec<Column>) -> Result<Vec<SignedBatch>, Error> {
        let columns = columns.into_iter();
        columns.map(|column| column.batch(self.engine)).collect()
    }

    /// What a formula makes of rows, on the host, where an error can still be told.
    fn one(
        &mut self,
        formula: usize,
        columns: &[SignedBatch],
    ) -> Result<Option<SignedBatch>, Error> {
        let inputs = self.operands.inputs(&self.constants, columns);
        on_host(self.evaluators[formula].rows(&inputs)?)
    }

    /// What each formula makes of rows.
    fn all(&mut self, columns: &[SignedBatch]) -> Result<Vec<Option<SignedBatch>>, Error> {
        let formulas = 0..self.evaluators.len();
        formulas.map(|formula| self.one(formula, columns)).collect()
    }

    /// The one result of a formula that is a total.
    fn total(&mut self, formula: usize) -> Result<Option<SignedBatch>, Error> {
        let inputs = self.operands.inputs(&self.constants, &self.constants);
        on_host(self.evaluators[formula].finish(&inputs)?)
    }

    /// The error of a formula, if its rows are to blame for one. Totals stay what they are.
    fn error(&mut self, formula: usize, columns: &[SignedBatch]) -> Result<Option<Error>, Error> {
        let totals = self.evaluators[formula].totals();
        let computed = self.one(formula, columns);
        self.evaluators[formula].go_back_to(&totals);
        match computed {
            Ok(_) => Ok(None),
            Err(error) if is_of_a_row(&error) => Ok(Some(error)),
            Err(error) => Err(error),
        }
    }

    /// The rows that have no value, of so many: all of them, or the first alone.
    fn bad_rows(
        &mut self,
        columns: &[Column],
        count: usize,
        first_alone: bool,
    ) -> Result<BadRows, Error> {
        let mut bad = vec![Vec::new(); self.evaluators.len()];
        let mut open: Vec<Range<usize>> = vec![0..count];
        while let Some(rows) = open.pop() {
            let picked: Vec<usize> = rows.clone().collect();
            let picked = columns.iter().map(|column| column.picked(&picked));
            let picked = self.batches(picked.collect::<Result<_, _>>()?)?;
            let mut fails = false;
            for (formula, bad) in bad.iter_mut().enumerate() {
                if self.error(formula, &picked)?.is_some() {
                    fails = true;
                    if rows.len() == 1 {
                        bad.push(rows.start);
                    } else {
                        break;
                    }
                }
            }
            match (fails, rows.len()) {
                (false, _) => {}
                (true, 1) if first_alone => break,
                (true, 1) => {}
                (true, length) => {
                    let half = rows.start + length / 2;
                    open.push(half..rows.end);
                    open.push(rows.start..half);
                }
            }
        }
        Ok(bad)
    }
}

/// Does `work` with an evaluation of its own on the CPU, which computes what all engines do,
/// and a single row at once.
fn probe<R>(
    operands: &Operands,
    work: impl FnOnce(&mut Evaluation<'_>) -> Result<R, Error>,
) -> Result<R, Error> {
    let engine = Engine::cpu();
    work(&mut Evaluation::new(&engine, operands)?)
}

fn on_host(result: Option<SignedBatch>) -> Result<Option<SignedBatch>, Error> {
    if let Some(result) = &result {
        result.magnitude().rows()?;
    }
    Ok(result)
}

/// How many lines of a window have no value; and the first of them, with its spot.
fn bad_lines(order: &Order, bad: &[BadRows]) -> (usize, Option<(usize, Spot)>) {
    let all_are_good = bad.iter().flatten().all(Vec::is_empty);
    if all_are_good && matches!(order, Order::Straight(_)) {
        return (0, None);
    }
    let is_bad = |&(_, (group, row)): &(usize, Spot)| {
        let has_it = |rows: &Vec<usize>| rows.binary_search(&(row as usize)).is_ok();
        group == NOWHERE || bad[group as usize].iter().any(has_it)
    };
    let mut lines = order.spots().enumerate().filter(is_bad);
    let first = lines.next();
    (usize::from(first.is_some()) + lines.count(), first)
}

/// Whether an error is about a row's numbers, and not about the machine.
fn is_of_a_row(error: &Error) -> bool {
    let is_of_length = matches!(
        error,
        Error::Width { .. } | Error::TooManyBits { .. } | Error::TooLarge { .. }
    );
    is_of_length || error.blamed_operand(1).is_some()
}

/// Whether a number is what an error is about.
fn refuses(error: &Error, number: &Column) -> bool {
    let limbs = number.magnitude(0);
    let is_zero = limbs.iter().all(|&limb| limb == 0);
    match error {
        Error::ZeroDivisor { .. } => is_zero,
        Error::Negative { .. } | Error::NegativeExponent { .. } => number.negative[0] && !is_zero,
        Error::EvenModulus { .. } => limbs[0] % 2 == 0,
        _ => false,
    }
}

/// An error in the words of the command.
fn in_words(error: &Error, blame: Option<&Blame>) -> String {
    use Operation::{Div, Rem};
    if let Error::Width { .. } | Error::TooManyBits { .. } | Error::TooLarge { .. } = error {
        let most = MAX_WIDTH * LIMB_BITS;
        return format!(
            "the result, or a part of it, is longer than a number may be ({most} bits)"
        );
    }
    let Some(blame) = blame else {
        return error.to_string();
    };
    let names = blame.function.operands();
    let name = names.get(blame.operand).copied().unwrap_or_default();
    let written = match blame.function.syntax() {
        Syntax::Infix(symbol) => format!("a {symbol} {}", names.last().unwrap_or(&"b")),
        _ => blame.function.to_string(),
    };
    match error {
        Error::ZeroDivisor { .. } => match blame.function {
            Function::Operation(Div | Rem) => "division by zero".to_owned(),
            _ => format!("{written}: {name} is zero"),
        },
        Error::Negative { .. } | Error::NegativeExponent { .. } => {
            format!("{written}: {name} is negative")
        }
        Error::EvenModulus { .. } => format!("{written}: {name} is even"),
        Error::NotInvertible { .. } => {
            format!("{written}: {} have a common divisor", names.join(" and "))
        }
        error => error.to_string(),
    }
}
