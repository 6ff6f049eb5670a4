//! Expressions: what is to be computed, before it is.
//!
//! Operators on references to batches build an [`Expression`]; nothing is computed until
//! [`Engine::eval`] is asked. Then equal parts are computed once, `a * a` is a square and
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
//! [`Terms`] and computed by an [`Evaluator`].

mod formula;
mod function;
mod operators;

pub(crate) use formula::Term;
pub use formula::{Formula, Misplaced, Part, Terms};
pub use function::Function;

use crate::batch::Batch;
use crate::plan::Evaluator;
use crate::{BigInt, BigUint, Engine, Error, SignedBatch};
use bigint_core::Operation;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

/// What an expression may be of: [`Batch`] or [`SignedBatch`].
pub trait Value: Clone + private::Sealed {
    /// The value as an expression's result.
    #[doc(hidden)]
    fn of(result: SignedBatch) -> Result<Self, Error>;
}

mod private {
    pub trait Sealed {}
    impl Sealed for crate::Batch {}
    impl Sealed for crate::SignedBatch {}
}

impl Value for Batch {
    fn of(result: SignedBatch) -> Result<Self, Error> {
        match result.first_negative()? {
            Some(index) => Err(Error::Underflow { index }),
            None => Ok(result.magnitude().clone()),
        }
    }
}

impl Value for SignedBatch {
    fn of(result: SignedBatch) -> Result<Self, Error> {
        Ok(result)
    }
}

/// What is to be computed of batches and numbers, one result for each row, as a graph that
/// shares its parts: cloning one is free. `V` is what comes of it: [`Batch`] or
/// [`SignedBatch`].
///
/// A value within may be negative also where `V` is [`Batch`]: only the result must not.
#[derive(Debug)]
pub struct Expression<V> {
    node: Arc<Node>,
    value: PhantomData<fn() -> V>,
}

#[derive(Debug)]
enum Node {
    Batch(Batch),
    Signed(SignedBatch),
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

    /// An operation of expressions.
    ///
    /// # Panics
    /// Where there are more or fewer than it has operands.
    pub fn apply<const N: usize>(operation: Operation, operands: [Expression<V>; N]) -> Self {
        let operands = operands.map(|operand| Arc::clone(&operand.node));
        Expression::function(Function::Operation(operation), operands.into())
    }

    fn function(function: Function, operands: Vec<Arc<Node>>) -> Self {
        assert_eq!(operands.len(), function.operands().len(), "{function}");
        Expression::of(Arc::new(Node::Apply(function, operands)))
    }

    /// The sum of all rows, one number.
    #[must_use]
    pub fn sum(self) -> Self {
        Expression::function(Function::Sum, vec![Arc::clone(&self.node)])
    }

    /// The product of all rows, one number.
    #[must_use]
    pub fn product(self) -> Self {
        Expression::function(Function::Product, vec![Arc::clone(&self.node)])
    }

    /// The lesser of both.
    #[must_use]
    pub fn min(self, other: impl Into<Self>) -> Self {
        Expression::apply(Operation::Min, [self, other.into()])
    }

    /// The greater of both.
    #[must_use]
    pub fn max(self, other: impl Into<Self>) -> Self {
        Expression::apply(Operation::Max, [self, other.into()])
    }

    /// The formula, and its inputs.
    fn formula(&self, engine: &Engine) -> Result<(Formula, Vec<SignedBatch>), Error> {
        let mut terms = Terms::default();
        let mut inputs: Vec<SignedBatch> = Vec::new();
        let mut numbers: HashMap<&BigInt, Part> = HashMap::new();
        let mut batches: HashMap<(usize, bool), Part> = HashMap::new();
        let mut parts: HashMap<*const Node, Part> = HashMap::new();
        let mut open: Vec<&Arc<Node>> = vec![&self.node];
        while let Some(&node) = open.last() {
            let key = Arc::as_ptr(node);
            if parts.contains_key(&key) {
                open.pop();
                continue;
            }
            let mut input = |batch: SignedBatch| {
                inputs.push(batch);
                terms.input(inputs.len() - 1)
            };
            let part = match &**node {
                Node::Batch(batch) => {
                    let same = (Arc::as_ptr(batch.node()) as usize, false);
                    *batches
                        .entry(same)
                        .or_insert_with(|| input(SignedBatch::natural(batch.clone())))
                }
                // Two with the same magnitudes may have other signs.
                Node::Signed(batch) if batch.signs().is_some() => input(batch.clone()),
                Node::Signed(batch) => {
                    let same = (Arc::as_ptr(batch.magnitude().node()) as usize, false);
                    *batches.entry(same).or_insert_with(|| input(batch.clone()))
                }
                Node::Number(number) => match numbers.get(number) {
                    Some(part) => *part,
                    None => {
                        let one = engine.signed_from_bigints(std::slice::from_ref(number))?;
                        let part = input(one);
                        numbers.insert(number, part);
                        part
                    }
                },
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
        let are_rows: Vec<bool> = inputs.iter().map(|input| input.len() != 1).collect();
        let root = parts[&Arc::as_ptr(&self.node)];
        Ok((terms.formula(root, &are_rows)?, inputs))
    }
}

impl Engine {
    /// Computes an expression, exact: as wide as its parts' lengths ask for, or a limb
    /// wider.
    ///
    /// # Errors
    /// [`Error::Underflow`] names the first result that is negative where a [`Batch`] is to
    /// come; [`Error::Misplaced`] where rows stand beside a sum of all rows; otherwise as
    /// the operations.
    pub fn eval<V: Value>(&self, expression: &Expression<V>) -> Result<V, Error> {
        let (formula, inputs) = expression.formula(self)?;
        V::of(finished(Evaluator::new(self, &formula), &inputs)?)
    }

    /// Computes an expression modulo `2^(32 limbs)`: of sums and products only so many
    /// limbs are computed.
    ///
    /// # Errors
    /// As [`Engine::eval`], but for underflow.
    pub fn eval_wrapping<V: Value>(
        &self,
        expression: &Expression<V>,
        limbs: usize,
    ) -> Result<Batch, Error> {
        let (formula, inputs) = expression.formula(self)?;
        let evaluator = Evaluator::new(self, &formula).wrapping(limbs);
        Batch::of(finished(evaluator, &inputs)?)
    }
}

fn finished(mut evaluator: Evaluator<'_>, inputs: &[SignedBatch]) -> Result<SignedBatch, Error> {
    let inputs: Vec<&SignedBatch> = inputs.iter().collect();
    let rows = evaluator.rows(&inputs)?;
    let result = match rows {
        Some(rows) => Some(rows),
        None => evaluator.finish(&inputs)?,
    };
    Ok(result.expect("a formula has rows or a total"))
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

/// Numbers without signs among such with signs.
impl From<&Batch> for Expression<SignedBatch> {
    fn from(batch: &Batch) -> Self {
        Expression::of(Arc::new(Node::Batch(batch.clone())))
    }
}

/// The same, whose result may be negative.
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

/// One number for all rows.
impl From<u64> for Expression<Batch> {
    fn from(number: u64) -> Self {
        Expression::of(Arc::new(Node::Number(number.into())))
    }
}

/// One number for all rows.
impl From<BigUint> for Expression<Batch> {
    fn from(number: BigUint) -> Self {
        Expression::of(Arc::new(Node::Number(number.into())))
    }
}

/// One number for all rows.
impl From<i64> for Expression<SignedBatch> {
    fn from(number: i64) -> Self {
        Expression::of(Arc::new(Node::Number(number.into())))
    }
}

/// One number for all rows.
impl From<BigInt> for Expression<SignedBatch> {
    fn from(number: BigInt) -> Self {
        Expression::of(Arc::new(Node::Number(number)))
    }
}
