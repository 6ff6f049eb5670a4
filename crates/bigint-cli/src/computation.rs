//! What `calc` computes of a window: its formulas, one after another.

use std::sync::Arc;

use bigint_host::plan::{Evaluator, Tallies};
use bigint_host::{Engine, Error, SignedBatch};

use crate::column::Column;
use crate::expression::Expressions;
use crate::failure::{Failure, Place};
use crate::operands::{Operands, Origin};
use crate::window::{Order, Results, Window};

/// What computes window after window.
pub struct Computation<'a> {
    operands: &'a Operands,
    /// Where each input stands in the expressions.
    places: Vec<Place>,
    /// The files, in the order of the columns.
    pub paths: Vec<String>,
    constants: Vec<SignedBatch>,
    engine: &'a Engine,
    /// One for each formula.
    evaluators: Vec<Evaluator<'a>>,
}

/// The error of a formula, by its number.
type Failed = (usize, Error);

impl<'a> Computation<'a> {
    /// A computation that has seen no window.
    ///
    /// # Errors
    /// As [`Operands::constants`].
    pub fn new(
        engine: &'a Engine,
        expressions: &Expressions,
        operands: &'a Operands,
        paths: Vec<String>,
    ) -> Result<Self, Error> {
        let formulas = operands.formulas.iter();
        let inputs = 0..operands.origins.len();
        Ok(Computation {
            operands,
            places: inputs.map(|input| expressions.place(input)).collect(),
            paths,
            constants: operands.constants(engine)?,
            engine,
            evaluators: formulas
                .map(|formula| Evaluator::new(engine, formula))
                .collect(),
        })
    }

    /// What was done, by each formula.
    pub fn tallies(&self) -> impl Iterator<Item = &Tallies> {
        self.evaluators.iter().map(|evaluator| &evaluator.tallies)
    }

    /// Computes a window; answers what comes of it, with the number of the formula: nothing
    /// where it goes into a total.
    ///
    /// # Errors
    /// [`Failure`], with the place of the number that is to blame.
    pub fn window(&mut self, window: Window) -> Result<Vec<(usize, Results)>, Failure> {
        let mut groups: Vec<Vec<SignedBatch>> = vec![Vec::new(); self.evaluators.len()];
        let (order, text) = (Arc::new(window.order), window.text);
        for (group, columns) in window.groups.into_iter().enumerate() {
            let computed = self.group(columns).map_err(|failed| {
                self.failure(&failed, |column, row| {
                    text.place(column, order.line(group, row)?, &self.paths)
                })
            });
            // A line alone is to blame for whatever happens.
            let computed = computed.map_err(|failure| match (failure, text.len()) {
                (Failure::Running(what), 1) => match text.place(0, 0, &self.paths) {
                    Some(place) => Failure::Running(format!("{place}: {what}")),
                    None => Failure::Running(what),
                },
                (failure, _) => failure,
            })?;
            for (groups, computed) in groups.iter_mut().zip(computed) {
                groups.extend(computed);
            }
        }
        let results = groups.into_iter().enumerate();
        let results = results.filter(|(_, groups)| !groups.is_empty());
        let results = results.map(|(formula, groups)| {
            let order = Arc::clone(&order);
            (formula, Results { groups, order })
        });
        Ok(results.collect())
    }

    /// What each formula makes of a group.
    fn group(&mut self, columns: Vec<Column>) -> Result<Vec<Option<SignedBatch>>, Failed> {
        let columns = columns.into_iter().map(|column| column.batch(self.engine));
        let columns = columns.collect::<Result<Vec<_>, _>>();
        let columns = columns.map_err(|error| (0, error))?;
        let inputs = self.operands.inputs(&self.constants, &columns);
        each(&mut self.evaluators, |evaluator| evaluator.rows(&inputs))
    }

    /// The one line of each formula that is a total.
    ///
    /// # Errors
    /// As [`Computation::window`].
    pub fn totals(&mut self) -> Result<Vec<(usize, Results)>, Failure> {
        let inputs = self.operands.inputs(&self.constants, &self.constants);
        let totals = each(&mut self.evaluators, |evaluator| evaluator.finish(&inputs));
        let totals = totals.map_err(|failed| self.failure(&failed, |_, _| None))?;
        let totals = totals.into_iter().enumerate();
        let totals = totals.filter_map(|(formula, total)| {
            let results = Results {
                groups: vec![total?],
                order: Arc::new(Order::Straight(1)),
            };
            Some((formula, results))
        });
        Ok(totals.collect())
    }

    /// An error, told with the place of the number that is to blame: in a file by `place`,
    /// else in the expression.
    fn failure(
        &self,
        (formula, error): &Failed,
        place: impl Fn(usize, usize) -> Option<Place>,
    ) -> Failure {
        let Some((input, row)) = self.evaluators[*formula].blamed(error) else {
            return Failure::Running(error.to_string());
        };
        let place = match self.operands.origins[input] {
            Origin::Column(column) => place(column, row),
            Origin::Constant(_) => None,
        };
        let place = place.unwrap_or_else(|| self.places[input].clone());
        Failure::Input(place, error.to_string())
    }
}

/// What `evaluate` makes of each formula, on the host, where an error can still be told.
fn each<'a>(
    evaluators: &mut [Evaluator<'a>],
    evaluate: impl Fn(&mut Evaluator<'a>) -> Result<Option<SignedBatch>, Error>,
) -> Result<Vec<Option<SignedBatch>>, Failed> {
    let evaluators = evaluators.iter_mut().enumerate();
    let results = evaluators.map(|(formula, evaluator)| {
        let result = evaluate(evaluator).and_then(|result| {
            if let Some(result) = &result {
                result.magnitude().rows()?;
            }
            Ok(result)
        });
        result.map_err(|error| (formula, error))
    });
    results.collect()
}
