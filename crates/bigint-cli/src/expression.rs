//! Expressions over named batches: the operators and functions that the library's
//! declarations write, unary minus, parentheses, names and integer literals.
//!
//! ```text
//! expression = factor { operator factor }          (as strong as `strength` says)
//! factor     = { "+" | "-" } primary [ "^" factor ]
//! primary    = name | literal | "(" expression ")" | function "(" expression { "," expression } ")"
//! ```
//!
//! The result is a formula's terms, not a tree: neither running nor dropping it
//! recurses, however long the expression is. Only parentheses and powers nest, and those
//! are counted.

use std::ops::Range;

use bigint_host::Syntax;
use bigint_host::expression::{Formula, Function, Misplaced, Part, Terms};

use crate::failure::{Failure, SourcePlace};

/// Parentheses that may be open at one time: each takes a few stack frames of the parser.
pub const MAX_DEPTH: usize = 1000;

/// The name by which errors call the expression, where they call others by a file's.
pub const SOURCE_NAME: &str = "expression";

/// How strongly an operator binds, as in Python.
fn strength(symbol: &str) -> u8 {
    match symbol {
        "<<" | ">>" => 0,
        "+" | "-" => 1,
        POWER => 3,
        _ => 2,
    }
}

/// The operator that binds more strongly than a sign, and groups from the right.
const POWER: &str = "^";

/// The operators and functions that an expression may contain, as text.
pub fn vocabulary() -> String {
    let written: Vec<String> = Function::written().map(|known| known.to_string()).collect();
    format!("{}, parentheses, names and integers", written.join(", "))
}

fn there_are() -> String {
    format!("there are {}", vocabulary())
}

/// A named input of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The batch bound to this name.
    Name(String),
    /// An unsigned integer, decimal or `0x` hex, as it was written.
    Literal(String),
}

/// Parsed expressions, which share their operands.
#[derive(Clone, Debug)]
pub struct Expressions {
    terms: Terms,
    roots: Vec<Part>,
    /// Distinct operands, in order of first appearance: the inputs.
    pub operands: Vec<Operand>,
    /// The place of each operand's first appearance.
    places: Vec<SourcePlace>,
}

impl Expressions {
    /// Parses texts; errors call each text by the name that stands before it.
    ///
    /// # Errors
    /// [`Failure::Input`] with the column, in characters from 1, of the first
    /// character that cannot continue an expression.
    pub fn parse<'a>(texts: impl IntoIterator<Item = (String, &'a str)>) -> Result<Self, Failure> {
        let mut parser = Parser {
            source: String::new(),
            text: "",
            token: Token::End,
            span: 0..0,
            terms: Terms::default(),
            operands: Vec::new(),
            places: Vec::new(),
        };
        let roots = texts.into_iter().map(|(source, text)| {
            parser.source = source;
            parser.text = text;
            parser.whole()
        });
        Ok(Expressions {
            roots: roots.collect::<Result<_, _>>()?,
            terms: parser.terms,
            operands: parser.operands,
            places: parser.places,
        })
    }

    /// Makes the formulas. Their inputs are the operands; `are_rows` says which of them have one
    /// number for each line.
    ///
    /// # Errors
    /// [`Failure::Input`] where such an operand stands beside a sum of all lines.
    pub fn formulas(&self, are_rows: &[bool]) -> Result<Vec<Formula>, Failure> {
        let formula = |&root: &Part| {
            self.terms.formula(root, are_rows).map_err(|misplaced| {
                let (Misplaced::Beside { input } | Misplaced::Within { input }) = misplaced;
                Failure::Input(self.place(input), misplaced.to_string())
            })
        };
        self.roots.iter().map(formula).collect()
    }

    /// The place of an operand's first appearance.
    pub fn place(&self, operand: usize) -> SourcePlace {
        self.places[operand].clone()
    }
}

/// Whether `text` may stand as a name in an expression.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(is_word)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Name,
    Literal,
    /// An operator, and what it applies.
    Infix(&'static str, Function),
    Symbol(char),
    End,
}

struct Parser<'a> {
    source: String,
    text: &'a str,
    token: Token,
    /// The bytes of `text` that `token` was read from.
    span: Range<usize>,
    terms: Terms,
    operands: Vec<Operand>,
    places: Vec<SourcePlace>,
}

/// The longest operator with which `text` begins.
fn infix(text: &str) -> Option<(&'static str, Function)> {
    let known = Function::written().filter_map(|function| match function.syntax() {
        Syntax::Infix(symbol) if text.starts_with(symbol) => Some((symbol, function)),
        _ => None,
    });
    known.max_by_key(|(symbol, _)| symbol.len())
}

/// The function of this name.
fn function(name: &str) -> Option<Function> {
    Function::written().find(|function| function.syntax_is(name))
}

impl Parser<'_> {
    /// Parses the whole text.
    fn whole(&mut self) -> Result<Part, Failure> {
        self.span = 0..0;
        self.advance()?;
        if self.token == Token::End {
            return Err(self.error_here("the expression is empty"));
        }
        let root = self.expression(0, 0)?;
        match self.token {
            Token::End => Ok(root),
            Token::Symbol(')') => Err(self.error_here("this ')' closes nothing")),
            _ => Err(self.error_here(format!(
                "expected an operator or the end of the expression: {}",
                there_are()
            ))),
        }
    }

    fn advance(&mut self) -> Result<(), Failure> {
        let rest = &self.text[self.span.end..];
        let start = self.text.len() - rest.trim_start().len();
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else {
            self.span = start..start;
            self.token = Token::End;
            return Ok(());
        };
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let length;
        (self.token, length) = match first {
            '0'..='9' => (Token::Literal, word),
            c if is_word(c) => (Token::Name, word),
            '(' | ')' | ',' => (Token::Symbol(first), 1),
            _ => match infix(rest) {
                Some((symbol, function)) => (Token::Infix(symbol, function), symbol.len()),
                None => {
                    let what = format!("unexpected character {first:?}: {}", there_are());
                    return Err(self.error_at(start, what));
                }
            },
        };
        self.span = start..start + length;
        if self.token == Token::Literal {
            let word = &self.text[self.span.clone()];
            if let Err(bad) = crate::number::Number::scan(word.as_bytes()).and_then(|n| n.check()) {
                return Err(self.error_at(start + bad.offset, bad.to_string()));
            }
        }
        Ok(())
    }

    /// Parses factors joined by operators that bind at least as strongly as `least`.
    fn expression(&mut self, least: u8, depth: usize) -> Result<Part, Failure> {
        let mut value = self.factor(depth)?;
        while let Token::Infix(symbol, function) = self.token
            && strength(symbol) >= least
        {
            self.advance()?;
            let other = self.expression(strength(symbol) + 1, depth)?;
            value = self.terms.apply(function, &[value, other]);
        }
        Ok(value)
    }

    fn factor(&mut self, depth: usize) -> Result<Part, Failure> {
        let mut negative = false;
        while let Token::Infix(sign @ ("+" | "-"), _) = self.token {
            negative ^= sign == "-";
            self.advance()?;
        }
        let mut value = self.primary(depth)?;
        if let Token::Infix(POWER, function) = self.token {
            self.check_depth(depth)?;
            self.advance()?;
            let exponent = self.factor(depth + 1)?;
            value = self.terms.apply(function, &[value, exponent]);
        }
        Ok(match negative {
            true => self.terms.apply(Function::Negate, &[value]),
            false => value,
        })
    }

    fn primary(&mut self, depth: usize) -> Result<Part, Failure> {
        match self.token {
            Token::Name => {
                let name = self.span.clone();
                self.advance()?;
                match self.token {
                    Token::Symbol('(') => self.call(name, depth),
                    _ => Ok(self.operand(Operand::Name, name)),
                }
            }
            Token::Literal => {
                let literal = self.span.clone();
                self.advance()?;
                Ok(self.operand(Operand::Literal, literal))
            }
            Token::Symbol('(') => {
                let value = self.parentheses(depth, false)?;
                Ok(value[0])
            }
            Token::End => {
                Err(self
                    .error_here("the expression ends where a name, an integer or '(' should stand"))
            }
            Token::Symbol(_) | Token::Infix(..) => {
                Err(self.error_here("expected a name, an integer, '-' or '('"))
            }
        }
    }

    /// Parses a call of a function, whose name has been read, up to the closing parenthesis.
    fn call(&mut self, name: Range<usize>, depth: usize) -> Result<Part, Failure> {
        let Some(function) = function(&self.text[name.clone()]) else {
            let what = format!("no such function: {}", there_are());
            return Err(self.error_at(name.start, what));
        };
        let expected = function.operands().len();
        let operands = self.parentheses(depth, expected > 1)?;
        if operands.len() != expected {
            let found = operands.len();
            let what = format!("{function} has {expected} operands, not {found}");
            return Err(self.error_at(name.start, what));
        }
        Ok(self.terms.apply(function, &operands))
    }

    /// Parses what stands in parentheses: one expression, or a list of them where `is_list`.
    fn parentheses(&mut self, depth: usize, is_list: bool) -> Result<Vec<Part>, Failure> {
        self.check_depth(depth)?;
        let open = self.span.start;
        let mut values = Vec::new();
        loop {
            self.advance()?;
            values.push(self.expression(0, depth + 1)?);
            match self.token {
                Token::Symbol(',') if is_list => {}
                Token::Symbol(')') => break,
                Token::End => return Err(self.error_at(open, "this '(' is never closed")),
                _ => return Err(self.error_here("expected an operator or ')'")),
            }
        }
        self.advance()?;
        Ok(values)
    }

    fn check_depth(&self, depth: usize) -> Result<(), Failure> {
        if depth < MAX_DEPTH {
            return Ok(());
        }
        let what = format!("more than {MAX_DEPTH} parentheses are open here");
        Err(self.error_here(what))
    }

    /// An operand. The same name is the same operand each time.
    fn operand(&mut self, kind: fn(String) -> Operand, span: Range<usize>) -> Part {
        let operand = kind(self.text[span.clone()].to_owned());
        let index = self.operands.iter().position(|known| *known == operand);
        let index = index.unwrap_or_else(|| {
            self.operands.push(operand);
            self.places.push(self.place(span.start));
            self.operands.len() - 1
        });
        self.terms.input(index)
    }

    fn error_here(&self, what: impl Into<String>) -> Failure {
        self.error_at(self.span.start, what)
    }

    fn error_at(&self, byte: usize, what: impl Into<String>) -> Failure {
        Failure::Input(self.place(byte), what.into())
    }

    fn place(&self, byte: usize) -> SourcePlace {
        SourcePlace {
            source: self.source.clone(),
            line: 1,
            column: self.text[..byte].chars().count() as u64 + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Expressions, Failure> {
        Expressions::parse([(SOURCE_NAME.to_owned(), text)])
    }

    /// The formula of a text, written with the operands' names.
    fn formula(text: &str) -> String {
        let expression = parsed(text).unwrap();
        let columns = vec![true; expression.operands.len()];
        let mut text = expression.formulas(&columns).unwrap()[0].to_string();
        for (input, operand) in expression.operands.iter().enumerate().rev() {
            let (Operand::Name(word) | Operand::Literal(word)) = operand;
            text = text.replace(&input.to_string(), word);
        }
        text
    }

    fn error(text: &str) -> (u64, String) {
        match parsed(text) {
            Err(Failure::Input(place, what)) => (place.column, what),
            other => panic!("{text:?} gave {other:?}"),
        }
    }

    #[test]
    fn operators_bind_as_pythons_and_associate_to_the_left() {
        assert_eq!(formula("a*b"), "mul(a, b)");
        assert_eq!(formula("a-b*c-d"), "sub(sub(a, mul(b, c)), d)");
        assert_eq!(formula("a-b-c"), "sub(sub(a, b), c)");
        assert_eq!(formula("(a - b) * (c + d)"), "mul(sub(a, b), add(c, d))");
        assert_eq!(formula("a << b + c >> d"), "shr(shl(a, add(b, c)), d)");
        assert_eq!(formula("min(a - b, c)"), "min(sub(a, b), c)");
    }

    #[test]
    fn unary_minus_binds_tightest_and_cancels_in_pairs() {
        assert_eq!(formula("-a*-b"), "mul(negate(a), negate(b))");
        assert_eq!(formula("a - -b"), "sub(a, negate(b))");
        assert_eq!(formula("---a"), "negate(a)");
        assert_eq!(formula("a-+b++c"), "add(sub(a, b), c)");
        assert_eq!(formula("--(a+b)"), "add(a, b)");
    }

    #[test]
    fn what_is_written_twice_is_computed_once() {
        assert_eq!(formula("a*a"), "square(a)");
        assert_eq!(formula("a*b+c"), "mul_add(a, b, c)");
        let expression = parsed("(a*b+c) * (c+b*a) - a*b").unwrap();
        let formulas = expression.formulas(&[true; 3]).unwrap();
        // a*b is needed twice, and their sum with c is squared.
        assert_eq!(formulas[0].functions().count(), 4);
    }

    #[test]
    fn several_expressions_share_their_operands() {
        let texts = [("x", "b - a*7"), ("y", "a + c")].map(|(name, text)| (name.to_owned(), text));
        let both = Expressions::parse(texts).unwrap();
        let formulas = both.formulas(&[true, true, false, true]).unwrap();
        assert_eq!(formulas[0].to_string(), "sub(0, mul(1, 2))");
        assert_eq!(formulas[1].to_string(), "add(1, 3)");
        assert_eq!(both.place(1).to_string(), "x:1:5");
        assert_eq!(both.place(3).to_string(), "y:1:5");
        let texts = [("x", "a"), ("y", "a+")].map(|(name, text)| (name.to_owned(), text));
        let wrong = Expressions::parse(texts);
        assert!(matches!(wrong, Err(Failure::Input(place, _)) if place.to_string() == "y:1:3"));
    }

    #[test]
    fn lines_stand_in_a_sum_of_all_or_beside_none() {
        let formula = |text, rows: &[bool]| parsed(text).unwrap().formulas(rows);
        assert!(formula("sum(a*b) + 3", &[true, true, false]).is_ok());
        assert!(formula("sum(a) + b", &[true, false]).is_ok());
        let beside = formula("sum(a) + b", &[true, true]);
        assert!(matches!(beside, Err(Failure::Input(place, _)) if place.column == 10));
        let within = formula("sum(b * sum(a))", &[true, true]);
        assert!(matches!(within, Err(Failure::Input(..))));
    }

    #[test]
    fn errors_name_the_column_where_the_expression_goes_wrong() {
        assert_eq!(error("").0, 1);
        assert_eq!(error("   ").0, 4);
        assert_eq!(error("a b").0, 3);
        assert_eq!(error("a+").0, 3);
        assert_eq!(error("a**b").0, 3);
        assert_eq!(error("(a").0, 1);
        assert_eq!(error("()").0, 2);
        assert_eq!(error("a)").0, 2);
        assert_eq!(error("(a b)").0, 4);
        assert_eq!(error("a+12z4").0, 5);
        assert_eq!(error("a*0x").0, 5);
        assert_eq!(error("é").0, 1);
        assert_eq!(error("a+π").0, 3);
        assert_eq!(error("a?b").0, 2);
        assert_eq!(error("f(a)").0, 1);
        assert_eq!(error("a+min(a)").0, 3);
        assert_eq!(error("abs(a, b)").0, 6);
        assert_eq!(error("min(a, b").0, 4);
        assert_eq!(error("(a, b)").0, 3);
        assert_eq!(error("a,b").0, 2);
        assert_eq!(error("a<b").0, 2);
    }

    #[test]
    fn nesting_is_bounded_and_long_chains_are_not() {
        // A test has less of a stack than the command, which matters without optimisation.
        let thread = std::thread::Builder::new().stack_size(8 << 20);
        let nests = thread.spawn(nests).expect("a thread");
        nests.join().expect("it nests");
    }

    fn nests() {
        let nested = |n| format!("{}a{}", "(".repeat(n), ")".repeat(n));
        assert_eq!(formula(&nested(MAX_DEPTH)), "a");
        assert_eq!(error(&nested(MAX_DEPTH + 1)).0, MAX_DEPTH as u64 + 1);
        assert_eq!(error(&"(".repeat(1_000_000)).0, MAX_DEPTH as u64 + 1);
        let chain = parsed(&format!("a{}", "+a".repeat(100_000))).unwrap();
        let formulas = chain.formulas(&[true]).unwrap();
        assert_eq!(formulas[0].functions().count(), 100_000);
        assert_eq!(formula(&format!("{}a", "-".repeat(100_001))), "negate(a)");
    }
}
