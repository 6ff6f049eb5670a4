//! Formulas: terms that are computed of inputs, row by row, each once.

use super::cost::Extent;
use super::function::Function;
use super::grouping::Grouping;
use crate::common::error::Misplaced;
use crate::{Error, Integers};
use bigint_core::{LIMB_BITS, Operation};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

/// A part of a formula: an input, or a function of other parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Term {
    Input(usize),
    Apply(Function, Vec<usize>),
}

/// Parts of a formula that is being put together. Equal parts are one: `a*b - b*a` has one
/// product. A product of a part with itself is a square.
///
/// ```
/// use bigint_host::expression::{Function, Terms};
/// use bigint_host::Operation::{Add, Mul};
/// let mut terms = Terms::default();
/// let (a, b) = (terms.input(0), terms.input(1));
/// let product = terms.apply(Function::Operation(Mul), &[a, b]);
/// assert_eq!(terms.apply(Function::Operation(Mul), &[b, a]), product);
/// let sum = terms.apply(Function::Operation(Add), &[product, a]);
/// assert_eq!(terms.formula(sum, &[true, true])?.to_string(), "mul_add(0, 1, 0)");
/// # Ok::<(), bigint_host::expression::Misplaced>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Terms {
    terms: Vec<Term>,
    known: HashMap<Term, usize>,
}

/// A part of [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part(usize);

impl Terms {
    /// The part that stands for input number `index`.
    pub fn input(&mut self, index: usize) -> Part {
        self.part(Term::Input(index))
    }

    /// Applies a function to parts.
    ///
    /// # Panics
    /// If there are not as many parts as the function has operands.
    pub fn apply(&mut self, function: Function, operands: &[Part]) -> Part {
        assert_eq!(operands.len(), function.operands().len(), "{function}");
        let mut operands: Vec<usize> = operands.iter().map(|part| part.0).collect();
        if function.commutes() {
            operands.sort_unstable();
        }
        let function = match (function, &operands[..]) {
            (Function::Operation(Operation::Mul), [a, b]) if a == b => {
                operands.pop();
                Function::Operation(Operation::Square)
            }
            _ => function,
        };
        // A sign turned twice is as it was.
        if let (Function::Negate, Term::Apply(Function::Negate, of)) =
            (function, &self.terms[operands[0]])
        {
            return Part(of[0]);
        }
        self.part(Term::Apply(function, operands))
    }

    fn part(&mut self, term: Term) -> Part {
        match self.known.entry(term) {
            Entry::Occupied(known) => Part(*known.get()),
            Entry::Vacant(new) => {
                self.terms.push(new.key().clone());
                Part(*new.insert(self.terms.len() - 1))
            }
        }
    }

    /// The formula of a part. `are_rows` says which inputs are columns, with one number for
    /// each row; the others are one number for all. A sum or product of what is one number
    /// is that number.
    ///
    /// # Errors
    /// [`Misplaced`] where a column stands beside a reduction, or in two.
    ///
    /// # Panics
    /// If an input is not in `are_rows`.
    pub fn formula(&self, root: Part, are_rows: &[bool]) -> Result<Formula, Misplaced> {
        let mut terms = self.terms[..=root.0].to_vec();
        let mut uses = vec![0_usize; terms.len()];
        uses[root.0] = 1;
        for at in (0..terms.len()).rev() {
            if let (Term::Apply(_, operands), true) = (&terms[at], uses[at] > 0) {
                operands.iter().for_each(|&operand| uses[operand] += 1);
            }
        }
        // A product that is needed for a sum alone is part of that.
        for at in 0..terms.len() {
            let Term::Apply(Function::Operation(Operation::Add), sum) = &terms[at] else {
                continue;
            };
            let product = [(sum[0], sum[1]), (sum[1], sum[0])];
            let product = product.into_iter().find_map(|(product, other)| {
                let Term::Apply(Function::Operation(Operation::Mul), of) = &terms[product] else {
                    return None;
                };
                (uses[product] == 1).then(|| (product, vec![of[0], of[1], other]))
            });
            if let Some((product, operands)) = product {
                uses[product] = 0;
                terms[at] = Term::Apply(Function::Operation(Operation::MulAdd), operands);
            }
        }
        // What is needed moves together. A column is followed on its way up.
        let mut column: Vec<Option<usize>> = vec![None; terms.len()];
        let mut reduced: Vec<Option<usize>> = vec![None; terms.len()];
        let mut place = vec![0; terms.len()];
        let mut formula = Formula::default();
        for at in (0..terms.len()).filter(|&at| uses[at] > 0) {
            match &terms[at] {
                Term::Input(index) => column[at] = are_rows[*index].then_some(*index),
                Term::Apply(function, operands) => {
                    let first = |of: &[Option<usize>]| operands.iter().find_map(|&o| of[o]);
                    (column[at], reduced[at]) = (first(&column), first(&reduced));
                    if function.reduces() {
                        match (column[at].take(), reduced[at]) {
                            (Some(_), Some(input)) => return Err(Misplaced::Within { input }),
                            (Some(input), None) => reduced[at] = Some(input),
                            // One number is its own sum.
                            (None, Some(input)) => return Err(Misplaced::Within { input }),
                            (None, None) => {
                                place[at] = place[operands[0]];
                                continue;
                            }
                        }
                    } else if let (Some(input), Some(_)) = (column[at], reduced[at]) {
                        return Err(Misplaced::Beside { input });
                    }
                }
            }
            place[at] = formula.terms.len();
            let mut term = terms[at].clone();
            if let Term::Apply(_, operands) = &mut term {
                operands
                    .iter_mut()
                    .for_each(|operand| *operand = place[*operand]);
            }
            formula.terms.push(term);
            formula.is_total.push(reduced[at].is_some());
        }
        formula.root = place[root.0];
        Ok(formula)
    }
}

/// A function of inputs, as a list of terms in which each comes after its operands.
#[derive(Clone, Debug, Default)]
pub struct Formula {
    pub(crate) terms: Vec<Term>,
    /// Whether a term is of all rows: a reduction, or made of one.
    pub(crate) is_total: Vec<bool>,
    pub(crate) root: usize,
}

impl Formula {
    /// The functions that the formula applies.
    pub fn functions(&self) -> impl Iterator<Item = Function> + '_ {
        self.terms.iter().filter_map(|term| match term {
            Term::Apply(function, _) => Some(*function),
            Term::Input(_) => None,
        })
    }

    /// The indices of the inputs that the formula uses.
    pub fn inputs(&self) -> impl Iterator<Item = usize> + '_ {
        self.terms.iter().filter_map(|term| match term {
            Term::Apply(..) => None,
            Term::Input(input) => Some(*input),
        })
    }

    /// Whether the formula makes one number of all rows.
    pub fn is_total(&self) -> bool {
        self.is_total[self.root]
    }
}

/// Formulas of the same inputs, each of which is a column of integers or one number for all rows.
#[derive(Clone, Debug)]
pub struct Formulas {
    pub(crate) formulas: Vec<Formula>,
    /// The numbers of inputs that are no columns.
    pub(crate) constants: Vec<Option<Integers>>,
}

impl Formulas {
    /// Formulas whose input `i` is the one number `constants[i]`, or a column where that is `None`.
    pub fn new(formulas: Vec<Formula>, constants: Vec<Option<Integers>>) -> Self {
        Formulas {
            formulas,
            constants,
        }
    }

    /// A formula of these inputs, of which those of one number are its constants, and the columns
    /// among them.
    pub(crate) fn of(formula: Formula, inputs: &[&Integers]) -> (Self, Vec<Integers>) {
        let mut columns = Vec::new();
        let constant = |&input: &&Integers| match input.len() {
            1 => Some(input.clone()),
            _ => {
                columns.push(input.clone());
                None
            }
        };
        let constants = inputs.iter().map(constant).collect();
        (Formulas::new(vec![formula], constants), columns)
    }

    /// The formulas.
    pub fn as_slice(&self) -> &[Formula] {
        &self.formulas
    }

    /// Formula number `index` alone.
    ///
    /// # Panics
    /// If there is no such formula.
    pub fn only(&self, index: usize) -> Self {
        let formula = self.formulas[index].clone();
        Formulas::new(vec![formula], self.constants.clone())
    }

    /// Whether formula number `index` uses a column, and not constants alone.
    pub(crate) fn has_columns(&self, index: usize) -> bool {
        let is_column = |term: &Term| match term {
            Term::Input(input) => self.constants[*input].is_none(),
            Term::Apply(..) => false,
        };
        self.formulas[index].terms.iter().any(is_column)
    }

    /// Cuts the rows of columns into consecutive parts, each of which takes at most `limbs` limbs
    /// of memory while it is computed and written as text, where a limb becomes `text_bytes` bytes;
    /// a single row may take more. Without columns there is one row.
    ///
    /// # Errors
    /// [`Error::CountMismatch`] where columns are of different lengths; [`Error::OutOfMemory`].
    pub fn windows(
        &self,
        columns: &[Integers],
        limbs: usize,
        text_bytes: usize,
    ) -> Result<Vec<Range<usize>>, Error> {
        let count = count_of_rows(columns)?;
        Ok(Grouping::new(self, columns, count, limbs, text_bytes)?.windows())
    }

    /// What is known of each input before any row is computed.
    pub(crate) fn extents(&self) -> Vec<Extent> {
        let extent = |constant: &Option<Integers>| Extent {
            bits: constant.as_ref().map_or(0, |x| x.limbs().len() * LIMB_BITS),
            most: constant.as_ref().and_then(|x| match x.limbs() {
                [] => Some(0),
                &[only] => Some(u64::from(only)),
                _ => None,
            }),
            is_column: constant.is_none(),
        };
        self.constants.iter().map(extent).collect()
    }
}

/// The number of rows of columns; one where there are no columns.
pub(crate) fn count_of_rows(columns: &[Integers]) -> Result<usize, Error> {
    let count = columns.first().map_or(1, Integers::len);
    match columns.iter().map(Integers::len).find(|&b| b != count) {
        Some(b) => Err(Error::CountMismatch { a: count, b }),
        None => Ok(count),
    }
}

/// Writes the formula as nested functions; an input is its number.
impl std::fmt::Display for Formula {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut texts: Vec<String> = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            texts.push(match term {
                Term::Input(index) => index.to_string(),
                Term::Apply(function, operands) => {
                    let operands: Vec<&str> = operands.iter().map(|&o| &*texts[o]).collect();
                    format!("{}({})", function.name(), operands.join(", "))
                }
            });
        }
        f.write_str(&texts[self.root])
    }
}
