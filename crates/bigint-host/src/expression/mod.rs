//! Expressions: descriptions of what will be computed.
//!
//! Operators on batches or [`Integers`], or on references to them, build an [`Expression`]; nothing is
//! computed until [`Engine::eval`] is asked. `/` and `%` round down, as in Python: `-7 / 2` is -4. Then equal parts are computed once, `a * a` is a square and
//! `a * b + c` one operation, and a chain of sums and products is one pass over memory: one
//! launch on a GPU, block by block on the CPU.
//!
//! ```
//! use bigint_host::{BigUint, Engine};
//! let engine = Engine::auto();
//! let a = engine.batch_from_biguints(&[3u32, 5].map(Into::into))?;
//! let b = engine.batch_from_biguints(&[BigUint::from(7u32) << 100])?;
//! let e = &a * &b + &a - 1u64;
//! let exact = engine.eval(&e)?.to_biguints()?;
//! assert_eq!(exact[0], (BigUint::from(21u32) << 100) + 2u32);
//! assert_eq!(engine.eval_wrapping(&e, 1)?.to_biguints()?, [2u32, 4].map(Into::into));
//! # Ok::<(), bigint_host::Error>(())
//! ```
//!
//! What cannot be written with batches in hand, as what a command's user types, is built of
//! [`Terms`] and computed by an [`Evaluation`](crate::Evaluation). Batches of rows of a [`Formula`]
//! are computed operation by operation (`evaluate`), or a chain of them at a time (`segment`);
//! `cost` and `grouping` say beforehand how much memory rows take.

pub(crate) mod cost;
pub(crate) mod evaluate;
mod formula;
mod function;
pub(crate) mod grouping;
mod operators;
mod segment;

pub use crate::common::error::Misplaced;
pub use formula::{Formula, Formulas, Part, Terms};
pub(crate) use formula::{Term, count_of_rows};
pub use function::Function;

use crate::expression::evaluate::Evaluator;
use crate::values::batch::Batch;
use crate::{BigInt, Engine, Error, Integers, SignedBatch};
use bigint_core::Operation;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

/// The values of expressions: [`Batch`], [`SignedBatch`] or [`Integers`].
pub trait Value: Clone + private::Sealed {
    /// The expression's result.
    #[doc(hidden)]
    fn evaluated(engine: &Engine, expression: &Expression<Self>) -> Result<Self, Error>;
}

/// The values whose numbers all have one width: [`Batch`] or [`SignedBatch`].
pub trait OneWidth: Value {}

impl OneWidth for Batch {}
impl OneWidth for SignedBatch {}

mod private {
    pub trait Sealed {}
    impl Sealed for crate::Batch {}
    impl Sealed for crate::SignedBatch {}
    impl Sealed for crate::Integers {}
}

impl Value for Batch {
    fn evaluated(engine: &Engine, expression: &Expression<Self>) -> Result<Self, Error> {
        natural(expression.of_batches(engine, None)?)
    }
}

impl Value for SignedBatch {
    fn evaluated(engine: &Engine, expression: &Expression<Self>) -> Result<Self, Error> {
        expression.of_batches(engine, None)
    }
}

/// A result as a batch, if no number is negative.
fn natural(result: SignedBatch) -> Result<Batch, Error> {
    match result.first_negative()? {
        Some(index) => Err(Error::Underflow { index }),
        None => Ok(result.magnitude().clone()),
    }
}

/// A graph of operations on columns and numbers, one result for each row, which shares equal parts:
/// cloning one is free. `V` is the type of the result: [`Batch`], [`SignedBatch`] or [`Integers`].
///
/// Also where `V` is [`Batch`], values inside may be negative; only the result must not be.
#[derive(Debug)]
pub struct Expression<V> {
    node: Arc<Node>,
    value: PhantomData<fn() -> V>,
}

#[derive(Debug)]
enum Node {
    Batch(Batch),
    Signed(SignedBatch),
    Integers(Integers),
    Number(BigInt),
    Apply(Function, Vec<Arc<Node>>),
}

/// However deep the graph, dropping it does not recurse.
impl Drop for Node {
    fn drop(&mut self) {
        let mut open = Vec::new();
        if let Node::Apply(_, operands) = self {
            open.append(operands);
        }
        while let Some(node) = open.pop() {
            if let Some(mut node) = Arc::into_inner(node)
                && let Node::Apply(_, operands) = &mut node
            {
                open.append(operands);
            }
        }
    }
}

impl<V> Clone for Expression<V> {
    fn clone(&self) -> Self {
        Expression::of(Arc::clone(&self.node))
    }
}

impl<V> Expression<V> {
    fn of(node: Arc<Node>) -> Self {
        Expression {
            node,
            value: PhantomData,
        }
    }

    /// A number for all rows.
    fn number(number: BigInt) -> Self {
        Expression::of(Arc::new(Node::Number(number)))
    }

    /// Applies an operation to expressions.
    ///
    /// # Panics
    /// If there are not as many operands as the operation has.
    pub fn apply<const N: usize>(operation: Operation, operands: [Expression<V>; N]) -> Self {
        let operands = operands.map(|operand| Arc::clone(&operand.node));
        Expression::function(Function::Operation(operation), operands.into())
    }

    /// Applies a function to expressions; of several results it takes the first.
    ///
    /// # Panics
    /// If there are not as many operands as the function has.
    pub fn call(function: Function, operands: impl IntoIterator<Item = Expression<V>>) -> Self {
        let operands = operands.into_iter();
        let nodes = operands.map(|operand| Arc::clone(&operand.node));
        Expression::function(function, nodes.collect())
    }

    fn function(function: Function, operands: Vec<Arc<Node>>) -> Self {
        assert_eq!(operands.len(), function.operands().len(), "{function}");
        Expression::of(Arc::new(Node::Apply(function, operands)))
    }

    /// The sum of all rows, as one number.
    #[must_use]
    pub fn sum(self) -> Self {
        Expression::function(Function::Sum, vec![Arc::clone(&self.node)])
    }

    /// The product of all rows, as one number.
    #[must_use]
    pub fn product(self) -> Self {
        Expression::function(Function::Product, vec![Arc::clone(&self.node)])
    }

    /// `self^exponent`, exact.
    #[must_use]
    pub fn pow(self, exponent: impl Into<Self>) -> Self {
        let operands = [self, exponent.into()].map(|operand| Arc::clone(&operand.node));
        Expression::function(Function::Power, operands.into())
    }

    /// The lesser of two numbers.
    #[must_use]
    pub fn min(self, other: impl Into<Self>) -> Self {
        Expression::apply(Operation::Min, [self, other.into()])
    }

    /// The greater of two numbers.
    #[must_use]
    pub fn max(self, other: impl Into<Self>) -> Self {
        Expression::apply(Operation::Max, [self, other.into()])
    }

    /// The formula, and the nodes that are its inputs.
    fn formula(&self) -> Result<(Formula, Vec<&Node>), Error> {
        let mut terms = Terms::default();
        let mut leaves: Vec<&Node> = Vec::new();
        let mut numbers: HashMap<&BigInt, Part> = HashMap::new();
        let mut columns: HashMap<usize, Part> = HashMap::new();
        let mut parts: HashMap<*const Node, Part> = HashMap::new();
        let mut open: Vec<&Arc<Node>> = vec![&self.node];
        while let Some(&node) = open.last() {
            let key = Arc::as_ptr(node);
            if parts.contains_key(&key) {
                open.pop();
                continue;
            }
            let leaf: &Node = node;
            let mut input = || {
                leaves.push(leaf);
                terms.input(leaves.len() - 1)
            };
            let part = match leaf {
                // Two with the same magnitudes may have other signs.
                Node::Signed(batch) if batch.signs().is_some() => input(),
                Node::Batch(batch) => {
                    let same = Arc::as_ptr(batch.node()) as usize;
                    *columns.entry(same).or_insert_with(input)
                }
                Node::Signed(batch) => {
                    let same = Arc::as_ptr(batch.magnitude().node()) as usize;
                    *columns.entry(same).or_insert_with(input)
                }
                Node::Integers(integers) => {
                    *columns.entry(integers.identity()).or_insert_with(input)
                }
                Node::Number(number) => *numbers.entry(number).or_insert_with(input),
                Node::Apply(function, operands) => {
                    let missing = operands
                        .iter()
                        .filter(|operand| !parts.contains_key(&Arc::as_ptr(operand)));
                    let before = open.len();
                    open.extend(missing);
                    if open.len() > before {
                        continue;
                    }
                    let operands = operands.iter().map(|operand| parts[&Arc::as_ptr(operand)]);
                    terms.apply(*function, &operands.collect::<Vec<_>>())
                }
            };
            parts.insert(key, part);
            open.pop();
        }
        let is_column = |leaf: &&Node| match leaf {
            Node::Batch(batch) => batch.len() != 1,
            Node::Signed(batch) => batch.len() != 1,
            Node::Integers(integers) => integers.len() != 1,
            Node::Number(_) | Node::Apply(..) => false,
        };
        let are_rows: Vec<bool> = leaves.iter().map(is_column).collect();
        let root = parts[&Arc::as_ptr(&self.node)];
        Ok((terms.formula(root, &are_rows)?, leaves))
    }

    /// The formula of an expression of integers, and its columns.
    pub(crate) fn of_integers(&self) -> Result<(Formula, Vec<Integers>), Error> {
        let (formula, leaves) = self.formula()?;
        let columns = leaves.iter().map(|leaf| match leaf {
            Node::Integers(integers) => Ok(integers.clone()),
            Node::Number(number) => Integers::from_bigints(std::slice::from_ref(number)),
            _ => unreachable!("an expression of integers is of nothing else"),
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        Ok((formula, columns))
    }

    /// The result of an expression of batches, modulo `2^(32 limbs)` if so many are wanted.
    fn of_batches(&self, engine: &Engine, limbs: Option<usize>) -> Result<SignedBatch, Error> {
        let (formula, leaves) = self.formula()?;
        let batches = leaves.iter().map(|leaf| match leaf {
            Node::Batch(batch) => Ok(SignedBatch::natural(batch.clone())),
            Node::Signed(batch) => Ok(batch.clone()),
            Node::Number(number) => engine.signed_from_bigints(std::slice::from_ref(number)),
            _ => unreachable!("an expression of batches is of nothing else"),
        });
        let inputs = batches.collect::<Result<Vec<_>, Error>>()?;
        let inputs: Vec<&SignedBatch> = inputs.iter().collect();
        let evaluator = Evaluator::new(engine, &formula);
        let mut evaluator = match limbs {
            Some(limbs) => evaluator.wrapping(limbs),
            None => evaluator,
        };
        let result = match evaluator.rows(&inputs)? {
            Some(rows) => Some(rows),
            None => evaluator.finish(&inputs)?,
        };
        Ok(result.expect("a formula has rows or a total"))
    }
}

impl Engine {
    /// Computes an expression exactly. The result is as wide as follows from the lengths of its
    /// parts, or a limb wider.
    ///
    /// # Errors
    /// [`Error::Underflow`] names the first result that is negative where a [`Batch`] is to
    /// come; [`Error::Misplaced`] where rows stand beside a sum of all rows;
    /// [`Error::NeedsWidth`] of integers that have none; otherwise as the operations.
    pub fn eval<V: Value>(&self, expression: &Expression<V>) -> Result<V, Error> {
        V::evaluated(self, expression)
    }

    /// Computes an expression modulo `2^(32 limbs)`: of sums and products only so many
    /// limbs are computed.
    ///
    /// # Errors
    /// As for [`Engine::eval`], except for underflow.
    pub fn eval_wrapping<V: OneWidth>(
        &self,
        expression: &Expression<V>,
        limbs: usize,
    ) -> Result<Batch, Error> {
        natural(expression.of_batches(self, Some(limbs))?)
    }
}

impl From<&Batch> for Expression<Batch> {
    fn from(batch: &Batch) -> Self {
        Expression::of(Arc::new(Node::Batch(batch.clone())))
    }
}

impl From<&SignedBatch> for Expression<SignedBatch> {
    fn from(batch: &SignedBatch) -> Self {
        Expression::of(Arc::new(Node::Signed(batch.clone())))
    }
}

impl From<&Integers> for Expression<Integers> {
    fn from(integers: &Integers) -> Self {
        Expression::of(Arc::new(Node::Integers(integers.clone())))
    }
}

impl From<Batch> for Expression<Batch> {
    fn from(batch: Batch) -> Self {
        Expression::of(Arc::new(Node::Batch(batch)))
    }
}

impl From<SignedBatch> for Expression<SignedBatch> {
    fn from(batch: SignedBatch) -> Self {
        Expression::of(Arc::new(Node::Signed(batch)))
    }
}

impl From<Integers> for Expression<Integers> {
    fn from(integers: Integers) -> Self {
        Expression::of(Arc::new(Node::Integers(integers)))
    }
}

/// Numbers without signs, among signed ones.
impl From<&Batch> for Expression<SignedBatch> {
    fn from(batch: &Batch) -> Self {
        Expression::of(Arc::new(Node::Batch(batch.clone())))
    }
}

/// An expression of numbers without signs, whose result may be negative.
impl From<Expression<Batch>> for Expression<SignedBatch> {
    fn from(expression: Expression<Batch>) -> Self {
        Expression::of(Arc::clone(&expression.node))
    }
}

impl<V> From<&Expression<V>> for Expression<V> {
    fn from(expression: &Expression<V>) -> Self {
        expression.clone()
    }
}
