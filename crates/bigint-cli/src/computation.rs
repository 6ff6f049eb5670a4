//! What `calc` computes of a window: its formulas, one after another.
//!
//! The library computes many rows at once, and names one that it does not take. Which
//! row of the input is the first that has no value, and which others have none, is found by
//! halves: no formula fails for a part whose rows all have values. So it does not depend on
//! how rows were cut into windows and groups, nor on who computes them.

use std::ops::Range;

use bigint_core::{LIMB_BITS, MAX_WIDTH, Operation};
use bigint_host::expression::{Formula, Formulas, Function};
use bigint_host::plan::{Blame, Tallies};
use bigint_host::{Engine, Error, Evaluation, Integers, Syntax};

use crate::failure::{Failure, SourcePlace};
use crate::on_error::{OnError, Valueless};
use crate::operands::{Operands, Origin};
use crate::window::{Results, Text, Window};

/// The formulas of a command, computed window after window.
pub struct Computation<'a> {
    operands: &'a Operands,
    evaluation: Evaluation<'a>,
    /// The names by which errors call the formulas.
    names: Vec<String>,
    /// The files, in the order of the columns.
    pub paths: Vec<String>,
    on_error: OnError,
    /// The rows that had no value so far.
    pub valueless: Valueless,
}

/// The results of a window.
pub struct Computed {
    /// Lines, each with the number of its formula.
    pub results: Vec<(usize, Results)>,
    /// The failure after which no more results follow.
    pub failure: Option<Failure>,
}

/// For each formula the rows of a window that have no value, in order.
type BadRows = Vec<Vec<usize>>;

impl<'a> Computation<'a> {
    /// Begins a computation; errors call its formulas by `names`.
    ///
    /// # Errors
    /// As for [`Evaluation::new`].
    pub fn new(
        engine: &'a Engine,
        operands: &'a Operands,
        names: Vec<String>,
        paths: Vec<String>,
        on_error: OnError,
    ) -> Result<Self, Error> {
        Ok(Computation {
            operands,
            evaluation: Evaluation::new(engine, &operands.formulas)?,
            names,
            paths,
            on_error,
            valueless: Valueless::default(),
        })
    }

    /// The tally of what was done, for each formula.
    pub fn tallies(&self) -> impl Iterator<Item = &Tallies> {
        self.evaluation.tallies()
    }

    /// Computes a window; nothing comes of formulas whose rows go into a total.
    ///
    /// # Errors
    /// [`Failure::Running`] where no row is to blame, or the only one there is.
    pub fn window(&mut self, window: Window) -> Result<Computed, Failure> {
        let nulls = self.nulls(&window);
        let computed = match self.values(&window, &nulls) {
            Ok(values) => Ok((values, vec![Vec::new(); nulls.len()])),
            Err(error) if is_of_a_row(&error) => self.good_rows(&window, &nulls, error),
            Err(error) => Err(error),
        };
        // A line alone is to blame for whatever happens.
        let (values, bad) = computed.map_err(|error| match window.text.len() {
            1 => self.told(&error, 0, None, &window.text, 0),
            _ => error.into(),
        })?;
        let failure = self.failure(&window, &bad, &nulls)?;
        let results = values.into_iter().zip(bad.iter().zip(&nulls)).enumerate();
        let results = results.filter_map(|(formula, (values, (bad, nulls)))| {
            let (lines, valueless) = self.lines(&window, bad, nulls);
            let values = values?;
            Some((
                formula,
                Results {
                    values,
                    lines,
                    valueless,
                },
            ))
        });
        let results = results.collect();
        let failure = match (failure, self.on_error) {
            (Some((count, first)), OnError::Skip | OnError::Null) => {
                self.valueless.add(count, first);
                None
            }
            (failure, _) => failure.map(|(_, first)| first),
        };
        Ok(Computed { results, failure })
    }

    /// For each formula, the rows in which one of its inputs is null.
    fn nulls(&self, window: &Window) -> Vec<Vec<usize>> {
        let of_formula = |formula: &Formula| {
            let columns = formula
                .inputs()
                .filter_map(|input| match self.operands.origins[input] {
                    Origin::Column(column) => window.nulls.get(column),
                    Origin::Constant(..) => None,
                });
            united(columns)
        };
        let formulas = self.operands.formulas.as_slice().iter();
        formulas.map(of_formula).collect()
    }

    /// The values of each formula, row by row, without the rows `without`.
    fn values(
        &mut self,
        window: &Window,
        without: &[Vec<usize>],
    ) -> Result<Vec<Option<Integers>>, Error> {
        if without.iter().all(Vec::is_empty) {
            return self.evaluation.rows(0..self.names.len(), &window.columns);
        }
        let columns = without.iter().map(|without| {
            let (rows, columns) = kept(window, without);
            (!rows.is_empty()).then_some(columns).transpose()
        });
        let columns = columns.collect::<Result<Vec<_>, Error>>()?;
        self.evaluation.rows_of_each(&columns)
    }

    /// The number of lines of results, and which of them are empty, where these rows of a window
    /// have no value or are null.
    fn lines(&self, window: &Window, bad: &[usize], nulls: &[usize]) -> (usize, Vec<usize>) {
        if bad.is_empty() && nulls.is_empty() && window.unread.is_empty() {
            return (window.rows(), Vec::new());
        }
        let (mut row, mut lines, mut valueless) = (0, 0, Vec::new());
        for line in 0..window.lines() {
            let is_read = window.unread.binary_search(&line).is_err();
            let is_good = is_read && bad.binary_search(&row).is_err();
            let is_null = is_read && nulls.binary_search(&row).is_ok();
            row += usize::from(is_read);
            match (is_good, self.on_error) {
                (true, _) if !is_null => {}
                (false, OnError::Stop) => break,
                (false, OnError::Skip) => continue,
                _ => valueless.push(lines),
            }
            lines += 1;
        }
        (lines, valueless)
    }

    /// The values of each formula for the rows that have one, and which rows have none, of a window
    /// that was refused.
    fn good_rows(
        &mut self,
        window: &Window,
        nulls: &[Vec<usize>],
        error: Error,
    ) -> Result<(Vec<Option<Integers>>, BadRows), Error> {
        let bad = self.bad_rows(window, nulls)?;
        if bad.iter().all(Vec::is_empty) {
            return Err(error);
        }
        let without = bad
            .iter()
            .zip(nulls)
            .map(|(bad, nulls)| united([bad, nulls]));
        let values = self.values(window, &without.collect::<Vec<_>>())?;
        Ok((values, bad))
    }

    /// The rows that get no result: those after the first row without a value, those for which any
    /// formula has no value, or for each formula its own, as `on_error` says. They are looked for
    /// on the CPU, whose results are those of every engine, and which computes a single row without
    /// delay.
    fn bad_rows(&self, window: &Window, nulls: &[Vec<usize>]) -> Result<BadRows, Error> {
        let engine = Engine::cpu();
        let stops = self.on_error == OnError::Stop;
        let formulas = 0..self.names.len();
        let bad = formulas.clone().map(|formula| {
            let (rows, columns) = kept(window, &nulls[formula]);
            let formula = self.operands.formulas.only(formula);
            let bad = bad_rows(&engine, &formula, rows.len(), &columns?, stops)?;
            Ok(bad.into_iter().map(|row| rows[row]).collect())
        });
        let bad = bad.collect::<Result<BadRows, Error>>()?;
        let all = united(&bad);
        let of_all = match (self.on_error, all.first()) {
            (OnError::Null, _) | (_, None) => return Ok(bad),
            (OnError::Stop, Some(&first)) => (first..window.rows()).collect(),
            (OnError::Skip, _) => all,
        };
        Ok(vec![of_all; formulas.len()])
    }

    /// How many lines of a window have no value, and why the first of them has none.
    fn failure(
        &self,
        window: &Window,
        bad: &[Vec<usize>],
        nulls: &[Vec<usize>],
    ) -> Result<Option<(usize, Failure)>, Failure> {
        let all = united(bad);
        let count = all.len() + window.unread.len();
        let row = all.first().copied();
        let line = row.and_then(|row| Some((row, window.lines_of_rows().nth(row)?)));
        let failure = match (line, window.unread.first()) {
            (None, None) => return Ok(None),
            (Some((row, line)), unread) if unread.is_none_or(|&unread| line < unread) => {
                self.explained(window, nulls, row, line)?
            }
            (_, unread) => {
                let wrong = unread.and_then(|&line| window.text.wrong(line, &self.paths));
                let what = "a number was refused and then accepted";
                wrong.unwrap_or_else(|| Failure::Running(what.to_owned()))
            }
        };
        Ok(Some((count, failure)))
    }

    /// The failure that says why a row has no value.
    fn explained(
        &self,
        window: &Window,
        nulls: &[Vec<usize>],
        row: usize,
        line: usize,
    ) -> Result<Failure, Error> {
        let engine = Engine::cpu();
        let columns = slices(&window.columns, row..row + 1)?;
        let has_null = |formula: &usize| nulls[*formula].binary_search(&row).is_ok();
        for formula in (0..self.names.len()).filter(|formula| !has_null(formula)) {
            let alone = self.operands.formulas.only(formula);
            let mut evaluation = Evaluation::new(&engine, &alone)?;
            if let Some(error) = error(&mut evaluation, &columns)? {
                let blame = evaluation.blamed(&error);
                let blame = blame.map(|blame| (blame, &columns[..]));
                return Ok(self.told(&error, formula, blame, &window.text, line));
            }
        }
        let what = "a row was refused and then computed";
        Ok(Failure::Running(what.to_owned()))
    }

    /// The results of formulas that are totals, one line each.
    ///
    /// # Errors
    /// [`Failure::Running`] where no total is to blame.
    pub fn totals(&mut self) -> Result<Computed, Failure> {
        let mut computed = Computed {
            results: Vec::new(),
            failure: None,
        };
        for formula in 0..self.names.len() {
            let (values, valueless) = match self.evaluation.finish(formula) {
                Ok(None) => continue,
                Ok(Some(total)) => (total, Vec::new()),
                Err(error) if !is_of_a_row(&error) => return Err(error.into()),
                Err(error) => {
                    let blame = self.evaluation.blamed(&error).map(|blame| (blame, &[][..]));
                    let failure = self.told(&error, formula, blame, &Text::default(), 0);
                    match self.on_error {
                        OnError::Stop => {
                            computed.failure = Some(failure);
                            return Ok(computed);
                        }
                        OnError::Skip | OnError::Null => self.valueless.add(1, failure),
                    }
                    match self.on_error {
                        OnError::Null => (Integers::new(), vec![0]),
                        OnError::Stop | OnError::Skip => continue,
                    }
                }
            };
            let results = Results {
                values,
                lines: 1,
                valueless,
            };
            computed.results.push((formula, results));
        }
        Ok(computed)
    }

    /// The failure for an error of a formula, with the places of all of the line's numbers, the one
    /// to blame first. `blame` comes with the values of the line's columns.
    fn told(
        &self,
        error: &Error,
        formula: usize,
        blame: Option<(Blame, &[Integers])>,
        text: &Text,
        line: usize,
    ) -> Failure {
        let columns = 0..self.paths.len();
        let mut places: Vec<SourcePlace> = columns
            .filter_map(|column| text.place(column, line, &self.paths))
            .collect();
        let origins = &self.operands.origins;
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
        let first = first.unwrap_or_else(|| SourcePlace {
            source: self.names[formula].clone(),
            line: 1,
            column: 1,
        });
        places.retain(|place| *place != first);
        let mut what = in_words(error, blame.as_ref().map(|(blame, _)| blame));
        if !places.is_empty() {
            let places: Vec<String> = places.iter().map(SourcePlace::to_string).collect();
            what = format!("{what} (with {})", places.join(", "));
        }
        match is_input {
            true => Failure::Input(first, what),
            false => Failure::Running(format!("{first}: {what}")),
        }
    }
}

/// Cuts a range of rows out of each column.
fn slices(columns: &[Integers], rows: Range<usize>) -> Result<Vec<Integers>, Error> {
    let columns = columns.iter();
    columns.map(|column| column.slice(rows.clone())).collect()
}

/// The error that a formula gives when it is evaluated alone, if its rows are to blame.
fn error(evaluation: &mut Evaluation<'_>, columns: &[Integers]) -> Result<Option<Error>, Error> {
    match evaluation.rows(0..1, columns) {
        Ok(_) => Ok(None),
        Err(error) if is_of_a_row(&error) => Ok(Some(error)),
        Err(error) => Err(error),
    }
}

/// The rows of a window that are left without some, and the columns of what is left.
fn kept(window: &Window, without: &[usize]) -> (Vec<usize>, Result<Vec<Integers>, Error>) {
    let is_kept = |row: &usize| without.binary_search(row).is_err();
    let rows: Vec<usize> = (0..window.rows()).filter(is_kept).collect();
    let column = |column: &Integers| match without {
        [] => Ok(column.clone()),
        _ => column.gather(&rows),
    };
    let columns = window.columns.iter().map(column).collect();
    (rows, columns)
}

/// The rows of all of these, in order.
fn united<'a>(rows: impl IntoIterator<Item = &'a Vec<usize>>) -> Vec<usize> {
    let mut all: Vec<usize> = rows.into_iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The rows of so many for which a formula has no value: all of them, or the first alone.
fn bad_rows(
    engine: &Engine,
    formula: &Formulas,
    count: usize,
    columns: &[Integers],
    first_alone: bool,
) -> Result<Vec<usize>, Error> {
    let mut bad = Vec::new();
    let whole: Range<usize> = 0..count;
    let mut open = Vec::from([whole]);
    while let Some(rows) = open.pop() {
        // Totals of rows that are tried out are forgotten.
        let mut evaluation = Evaluation::new(engine, formula)?;
        if error(&mut evaluation, &slices(columns, rows.clone())?)?.is_none() {
            continue;
        }
        match rows.len() {
            0 | 1 => {
                bad.extend(rows);
                if first_alone {
                    break;
                }
            }
            length => {
                let half = rows.start + length / 2;
                open.push(half..rows.end);
                open.push(rows.start..half);
            }
        }
    }
    Ok(bad)
}

/// Whether an error is about a row's numbers, and not about the machine.
fn is_of_a_row(error: &Error) -> bool {
    let is_of_length = matches!(
        error,
        Error::Width { .. } | Error::TooManyBits { .. } | Error::TooLarge { .. }
    );
    is_of_length || error.blamed_operand(1).is_some()
}

/// Whether an error is about this number.
fn refuses(error: &Error, number: &Integers) -> bool {
    match error {
        Error::ZeroDivisor { .. } => number.magnitude(0).is_empty(),
        Error::Negative { .. } | Error::NegativeExponent { .. } => number.is_negative(0),
        Error::NoPrimeBelow { .. } => {
            number.is_negative(0) || matches!(number.magnitude(0), [] | [1 | 2])
        }
        Error::EvenModulus { .. } => number.limbs().first().is_none_or(|x| x.is_multiple_of(2)),
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
        Error::NoPrimeBelow { .. } => format!("{written}: no prime is below {name}"),
        Error::NotInvertible { .. } => {
            format!("{written}: {} have a common divisor", names.join(" and "))
        }
        error => error.to_string(),
    }
}
