//! The command `bigint calc`, in this process, and expressions that it should compute.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use arbitrary::Arbitrary;
use num_bigint::BigInt;
use num_integer::Integer;

/// What `calc EXPRESSION --let a=FROM -o TO` writes; `None` where it refuses, and leaves no file.
///
/// # Panics
/// Where it ends otherwise.
pub fn calc(expression: &str, from: &Path, to: &Path) -> Option<String> {
    let mut source = OsString::from("a=");
    source.push(from);
    let words = ["bigint", "calc", "--backend", "cpu", "--let"].map(OsString::from);
    let rest = [
        source,
        "-o".into(),
        to.into(),
        "--".into(),
        expression.into(),
    ];
    let code = bigint_cli::main(words.into_iter().chain(rest));
    if code == ExitCode::SUCCESS {
        return Some(fs::read_to_string(to).expect("a good end leaves a file"));
    }
    assert!(
        [ExitCode::from(1), ExitCode::from(2)].contains(&code),
        "it ended with {code:?}"
    );
    assert!(!to.exists(), "a bad end leaves no file");
    None
}

/// An expression of one variable, `a`.
#[derive(Arbitrary, Debug)]
pub enum Ast {
    /// `a`.
    Variable,
    /// A number.
    Literal(i32),
    /// `-x`.
    Negative(Box<Ast>),
    /// A sum, difference, product, quotient or remainder.
    Infix(Box<Ast>, Sign, Box<Ast>),
    /// A function of two.
    Call(Function, Box<Ast>, Box<Ast>),
}

/// An operator.
#[derive(Arbitrary, Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Sign {
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
}

/// A function of two numbers.
#[derive(Arbitrary, Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Function {
    Min,
    Max,
    Gcd,
    Lcm,
}

impl Ast {
    /// Its value, quotients and remainders as Python has them; `None` where a divisor is zero.
    pub fn value(&self, a: &BigInt) -> Option<BigInt> {
        Some(match self {
            Ast::Variable => a.clone(),
            Ast::Literal(value) => (*value).into(),
            Ast::Negative(x) => -x.value(a)?,
            Ast::Infix(x, sign, y) => {
                let (x, y) = (x.value(a)?, y.value(a)?);
                match sign {
                    Sign::Plus => x + y,
                    Sign::Minus => x - y,
                    Sign::Times => x * y,
                    Sign::Over | Sign::Modulo if y == BigInt::ZERO => return None,
                    Sign::Over => x.div_floor(&y),
                    Sign::Modulo => x.mod_floor(&y),
                }
            }
            Ast::Call(function, x, y) => {
                let (x, y) = (x.value(a)?, y.value(a)?);
                match function {
                    Function::Min => x.min(y),
                    Function::Max => x.max(y),
                    Function::Gcd => x.gcd(&y),
                    Function::Lcm => x.lcm(&y),
                }
            }
        })
    }
}

impl fmt::Display for Ast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ast::Variable => write!(f, "a"),
            Ast::Literal(value) if *value < 0 => write!(f, "({value})"),
            Ast::Literal(value) => write!(f, "{value}"),
            Ast::Negative(x) => write!(f, "(-{x})"),
            Ast::Infix(x, sign, y) => {
                let sign = match sign {
                    Sign::Plus => '+',
                    Sign::Minus => '-',
                    Sign::Times => '*',
                    Sign::Over => '/',
                    Sign::Modulo => '%',
                };
                write!(f, "({x}{sign}{y})")
            }
            Ast::Call(function, x, y) => {
                let name = match function {
                    Function::Min => "min",
                    Function::Max => "max",
                    Function::Gcd => "gcd",
                    Function::Lcm => "lcm",
                };
                write!(f, "{name}({x},{y})")
            }
        }
    }
}
