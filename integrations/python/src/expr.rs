//! `Expr`: a computation of columns that is done when it is asked for, in one pass.

use crate::array::Array;
use crate::call::{Rows, operand, operated, place_of};
use crate::error::exception;
use crate::functions::{self, Function};
use crate::{run, write};
use bigint_host::Integers;
use bigint_host::expression::Expression;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// A computation of columns and numbers, which `eval` does in one pass over memory.
///
/// Operators and functions of expressions are expressions. Equal parts are computed once.
#[pyclass(module = "bigint_engine", frozen)]
pub struct Expr {
    node: Arc<Node>,
}

/// A part of an expression.
enum Node {
    Column(Array),
    Apply(&'static Function, Vec<Arc<Node>>),
    /// One number of all rows.
    Total(
        fn(Expression<Integers>) -> Expression<Integers>,
        Vec<Arc<Node>>,
    ),
}

impl Node {
    fn operands(&self) -> &[Arc<Node>] {
        match self {
            Node::Column(_) => &[],
            Node::Apply(_, operands) | Node::Total(_, operands) => operands,
        }
    }
}

/// However deep the expression, dropping it does not recurse.
impl Drop for Node {
    fn drop(&mut self) {
        let mut open = Vec::new();
        let mut take = |node: &mut Node| match node {
            Node::Column(_) => (),
            Node::Apply(_, operands) | Node::Total(_, operands) => open.append(operands),
        };
        take(self);
        while let Some(operand) = open.pop() {
            if let Some(mut node) = Arc::into_inner(operand)
                && let Node::Apply(_, operands) | Node::Total(_, operands) = &mut node
            {
                open.append(operands);
            }
        }
    }
}

impl Expr {
    fn of(node: Node) -> Self {
        Expr {
            node: Arc::new(node),
        }
    }

    /// A function of expressions, columns and numbers.
    pub fn applied(function: &'static Function, operands: &[&Bound<'_, PyAny>]) -> PyResult<Self> {
        if function.lazy.is_none() {
            let name = function.name;
            return Err(PyTypeError::new_err(format!(
                "expressions do not have {name}: use eval() first"
            )));
        }
        let operands = operands.iter().map(|object| node(object));
        let operands = operands.collect::<PyResult<_>>()?;
        Ok(Expr::of(Node::Apply(function, operands)))
    }

    fn total(&self, total: fn(Expression<Integers>) -> Expression<Integers>) -> Self {
        Expr::of(Node::Total(total, vec![Arc::clone(&self.node)]))
    }

    /// The parts, each after its operands.
    fn in_order(&self) -> Vec<&Arc<Node>> {
        let mut places: HashMap<*const Node, ()> = HashMap::new();
        let (mut order, mut open) = (Vec::new(), vec![&self.node]);
        while let Some(&node) = open.last() {
            let before = open.len();
            if !places.contains_key(&Arc::as_ptr(node)) {
                let missing = node.operands().iter();
                open.extend(missing.filter(|x| !places.contains_key(&Arc::as_ptr(x))));
                if open.len() > before {
                    continue;
                }
                places.insert(Arc::as_ptr(node), ());
                order.push(node);
            }
            open.pop();
        }
        order
    }
}

/// The part that an object is.
fn node(object: &Bound<'_, PyAny>) -> PyResult<Arc<Node>> {
    match object.cast::<Expr>() {
        Ok(expression) => Ok(Arc::clone(&expression.get().node)),
        Err(_) => Ok(Arc::new(Node::Column(operand(object)?))),
    }
}

class_with_operators! { Expr {
    /// An expression of a column, or of whatever `array` takes.
    #[new]
    pub fn new(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Expr { node: node(source)? })
    }

    /// Computes it: an array, or an int of a sum or product of all rows.
    fn eval<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let order = self.in_order();
        let columns = order.iter().filter_map(|node| match &***node {
            Node::Column(column) => Some(column.clone()),
            _ => None,
        });
        let columns: Vec<Array> = columns.collect();
        let is_total = order.iter().any(|node| matches!(***node, Node::Total(..)));
        let rows = Rows::of(&columns).map_err(|error| exception(&error))?;
        let mut known = columns.iter().map(|column| {
            let known = rows.known(column.numbers(py)?);
            known.map_err(|error| exception(&error))
        });
        let mut made: HashMap<*const Node, Expression<Integers>> = HashMap::new();
        for node in &order {
            let operands = node.operands().iter().map(|x| made[&Arc::as_ptr(x)].clone());
            let operands: Vec<_> = operands.collect();
            let expression = match &***node {
                Node::Column(_) => {
                    let column = known.next().unwrap_or_else(|| Ok(Integers::new()));
                    Expression::from(&column?)
                }
                Node::Apply(function, _) => {
                    let lazy = function.lazy.ok_or_else(|| PyTypeError::new_err(function.name))?;
                    lazy(&operands)
                }
                Node::Total(total, _) => total(operands[0].clone()),
            };
            made.insert(Arc::as_ptr(node), expression);
        }
        let expression = made[&Arc::as_ptr(&self.node)].clone();
        drop(made);
        let place = place_of(&columns);
        let (engine, row) = (place.engine(py)?, rows.row());
        let result = run::in_background(py, rows.count, move |_| {
            engine.eval(&expression).map_err(|error| error.renumbered(row))
        })?;
        if is_total {
            return Ok(write::int(py, &result, 0)?.into_bound(py));
        }
        let result = rows.spread(result).map_err(|error| exception(&error))?;
        Ok(Array::of(result, rows.nulls, place).into_pyobject(py)?.into_any())
    }

    /// The sum of all rows.
    fn sum(&self) -> Self {
        self.total(Expression::sum)
    }

    /// The product of all rows.
    fn prod(&self) -> Self {
        self.total(Expression::product)
    }

    fn __bool__(&self) -> PyResult<bool> {
        Err(PyTypeError::new_err("an expression has no value before eval()"))
    }

    fn __repr__(&self) -> String {
        let parts = self.in_order();
        let columns = parts.iter().filter(|node| matches!(****node, Node::Column(_))).count();
        format!("Expr({} parts, {columns} columns: use eval())", parts.len())
    }
} }
