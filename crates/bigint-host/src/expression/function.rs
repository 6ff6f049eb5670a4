//! The functions of expressions, and how they are written.

use bigint_core::Operation;
use bigint_core::operation::{Signs, Syntax};
use std::fmt;

/// A function of an expression: an operation, or something made of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// An operation, on signed numbers as its declaration's [`Signs`] says.
    Operation(Operation),
    /// `-a`.
    Negate,
    /// `|a|`.
    Absolute,
    /// `a^e`, exact.
    Power,
    /// 1 for a prime, otherwise 0; no negative number is a prime.
    IsPrime,
    /// The least prime above a number.
    NextPrime,
    /// The sum of all rows, as one number.
    Sum,
    /// The product of all rows, as one number.
    Product,
}

impl Function {
    /// All functions: the declared operations, and then the others.
    pub fn all() -> impl Iterator<Item = Function> {
        let operations = Operation::ALL.into_iter().map(Function::Operation);
        operations.chain([
            Function::Power,
            Function::Negate,
            Function::Absolute,
            Function::IsPrime,
            Function::NextPrime,
            Function::Sum,
            Function::Product,
        ])
    }

    /// The functions that can be written in an expression's text.
    pub fn written() -> impl Iterator<Item = Function> {
        Function::all().filter(|function| function.syntax() != Syntax::Unwritten)
    }

    /// The function of this name: a method's, as `pow_mod`, or the written one, as `powmod`.
    ///
    /// ```
    /// use bigint_host::{Operation, expression::Function};
    /// let pow_mod = Some(Function::Operation(Operation::PowMod));
    /// assert_eq!((Function::named("pow_mod"), Function::named("powmod")), (pow_mod, pow_mod));
    /// assert_eq!(Function::named("+"), Some(Function::Operation(Operation::Add)));
    /// assert_eq!(Function::named("power"), None);
    /// assert!(pow_mod.is_some_and(|f| f.syntax_is("pow_mod") && f.syntax_is("powmod")));
    /// ```
    pub fn named(name: &str) -> Option<Function> {
        Function::all().find(|function| {
            let is_written = matches!(function.syntax(),
                Syntax::Infix(known) | Syntax::Function(known) if known == name);
            is_written || function.name() == name
        })
    }

    /// How the function is written; the sign of [`Negate`](Function::Negate) stands before its
    /// operand.
    pub fn syntax(self) -> Syntax {
        match self {
            Function::Operation(operation) => operation.declaration().syntax,
            Function::Negate => Syntax::Unwritten,
            Function::Absolute => Syntax::Function("abs"),
            Function::Power => Syntax::Infix("^"),
            Function::IsPrime => Syntax::Function("is_prime"),
            Function::NextPrime => Syntax::Function("next_prime"),
            Function::Sum => Syntax::Function("sum"),
            Function::Product => Syntax::Function("product"),
        }
    }

    /// Whether the function is written as a call of this name, or has a method of this name.
    pub fn syntax_is(self, name: &str) -> bool {
        matches!(self.syntax(), Syntax::Function(known) if known == name || self.name() == name)
    }

    /// The names of the operands.
    pub fn operands(self) -> &'static [&'static str] {
        match self {
            Function::Operation(operation) => operation.declaration().operands,
            Function::Power => &["a", "e"],
            _ => &["a"],
        }
    }

    /// The name of the operation or function.
    pub fn name(self) -> &'static str {
        match self {
            Function::Operation(operation) => operation.name(),
            Function::Negate => "negate",
            Function::Absolute => "abs",
            Function::Power => "pow",
            Function::IsPrime => "is_prime",
            Function::NextPrime => "next_prime",
            Function::Sum => "sum",
            Function::Product => "product",
        }
    }

    /// The operations that may compute the function: for a square or `a b + c` also the product and
    /// the sum, in case an algorithm is forced that only those have. A function that is no
    /// operation has those that it is made of.
    pub fn operations(self) -> &'static [Operation] {
        use Operation::{Add, Mul, MulAdd, PowMod, Square};
        match self {
            Function::Operation(Square) => &[Square, Mul],
            Function::Operation(MulAdd) => &[MulAdd, Mul, Add],
            Function::Operation(operation) => {
                let all = const { &Operation::ALL };
                let at = all.iter().position(|known| *known == operation);
                at.map_or(&[], |at| &all[at..=at])
            }
            Function::Negate | Function::Absolute => &[],
            Function::Power => &[Square, Mul],
            Function::IsPrime | Function::NextPrime => &[PowMod],
            Function::Sum => &[Add],
            Function::Product => &[Mul],
        }
    }

    /// Whether the function makes one number of all rows.
    pub fn reduces(self) -> bool {
        matches!(self, Function::Sum | Function::Product)
    }

    /// Whether the order of the operands makes no difference.
    pub(super) fn commutes(self) -> bool {
        match self {
            Function::Operation(operation) => match operation.declaration().signs {
                Signs::Sum | Signs::Least | Signs::Greatest => true,
                _ => operation == Operation::Mul,
            },
            _ => false,
        }
    }
}

/// Writes the function as in an expression: `+`, or `min(a, b)`.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.syntax() {
            Syntax::Infix(symbol) => f.write_str(symbol),
            Syntax::Function(name) => write!(f, "{name}({})", self.operands().join(", ")),
            Syntax::Unwritten => f.write_str(self.name()),
        }
    }
}
