//! Expressions over named batches: `+`, `-`, `*`, unary minus, parentheses,
//! names and integer literals.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = factor { "*" factor }
//! factor  = { "+" | "-" } ( name | literal | "(" sum ")" )
//! ```
//!
//! The result is a program for a stack machine, not a tree: neither running nor
//! dropping it recurses, however long the expression is. Only parentheses nest,
//! and those are counted.

use std::ops::Range;

use crate::failure::{Failure, Place};

/// Parentheses that may be open at one time.
///
/// Each may hold a batch of intermediate results, and takes a few stack frames
/// of the parser.
pub const MAX_DEPTH: usize = 1000;

/// What an expression may be made of.
const THERE_ARE: &str = "there are +, -, *, parentheses, names and integers";

/// The name errors carry in place of a file's.
pub const SOURCE_NAME: &str = "expression";

/// One step of the stack machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Push operand number `.0`.
    Push(usize),
    /// Change the sign of the top.
    Negate,
    /// Pop `b`, then `a`; push `a + b`.
    Add,
    /// Pop `b`, then `a`; push `a - b`.
    Sub,
    /// Pop `b`, then `a`; push `a * b`.
    Mul,
}

/// What a [`Step::Push`] pushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The batch bound to this name.
    Name(String),
    /// An unsigned integer, decimal or `0x` hex, as it was written.
    Literal(String),
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// The program; leaves exactly one value on the stack.
    pub steps: Vec<Step>,
    /// Distinct operands, in order of first appearance.
    pub operands: Vec<Operand>,
    /// For each operand, the column of its first appearance, from 1.
    pub columns: Vec<u64>,
}

impl Expression {
    /// Parses `text`.
    ///
    /// # Errors
    /// [`Failure::Input`] with the column, in characters from 1, of the first
    /// character that cannot continue an expression.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let mut parser = Parser {
            text,
            token: Token::End,
            span: 0..0,
            expression: Expression {
                steps: Vec::new(),
                operands: Vec::new(),
                columns: Vec::new(),
            },
        };
        parser.advance()?;
        if parser.token == Token::End {
            return Err(parser.error_here("the expression is empty"));
        }
        parser.sum(0)?;
        match parser.token {
            Token::End => Ok(parser.expression),
            Token::Symbol(')') => Err(parser.error_here("this ')' closes nothing")),
            Token::Symbol('(') => Err(parser.error_here(format!("no such function: {THERE_ARE}"))),
            _ => Err(parser.error_here("expected '+', '-', '*' or the end of the expression")),
        }
    }

    /// The place of an operand's first appearance.
    pub fn place(&self, operand: usize) -> Place {
        Place {
            source: SOURCE_NAME.to_owned(),
            line: 1,
            column: self.columns[operand],
        }
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
    Symbol(char),
    End,
}

struct Parser<'a> {
    text: &'a str,
    token: Token,
    /// The bytes of `text` that `token` was read from.
    span: Range<usize>,
    expression: Expression,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<(), Failure> {
        let rest = &self.text[self.span.end..];
        let start = self.text.len() - rest.trim_start().len();
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else {
            self.span = start..start;
            self.token = Token::End;
            return Ok(());
        };
        self.token = match first {
            '0'..='9' => Token::Literal,
            c if is_word(c) => Token::Name,
            '+' | '-' | '*' | '(' | ')' => Token::Symbol(first),
            _ => {
                let what = format!("unexpected character {first:?}: {THERE_ARE}");
                return Err(self.error_at(start, what));
            }
        };
        let length = match self.token {
            Token::Symbol(_) => 1,
            _ => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
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

    fn sum(&mut self, depth: usize) -> Result<(), Failure> {
        self.product(depth)?;
        loop {
            let step = match self.token {
                Token::Symbol('+') => Step::Add,
                Token::Symbol('-') => Step::Sub,
                _ => return Ok(()),
            };
            self.advance()?;
            self.product(depth)?;
            self.expression.steps.push(step);
        }
    }

    fn product(&mut self, depth: usize) -> Result<(), Failure> {
        self.factor(depth)?;
        while self.token == Token::Symbol('*') {
            self.advance()?;
            self.factor(depth)?;
            self.expression.steps.push(Step::Mul);
        }
        Ok(())
    }

    fn factor(&mut self, depth: usize) -> Result<(), Failure> {
        let mut negative = false;
        while let Token::Symbol(sign @ ('+' | '-')) = self.token {
            negative ^= sign == '-';
            self.advance()?;
        }
        match self.token {
            Token::Name => self.operand(Operand::Name),
            Token::Literal => self.operand(Operand::Literal),
            Token::Symbol('(') => {
                if depth == MAX_DEPTH {
                    let what = format!("more than {MAX_DEPTH} parentheses are open here");
                    return Err(self.error_here(what));
                }
                let open = self.span.start;
                self.advance()?;
                self.sum(depth + 1)?;
                if self.token == Token::End {
                    return Err(self.error_at(open, "this '(' is never closed"));
                }
                if self.token != Token::Symbol(')') {
                    return Err(self.error_here("expected '+', '-', '*' or ')'"));
                }
            }
            Token::End => {
                return Err(self.error_here(
                    "the expression ends where a name, an integer or '(' should stand",
                ));
            }
            Token::Symbol(_) => {
                return Err(self.error_here("expected a name, an integer, '-' or '('"));
            }
        }
        self.advance()?;
        if negative {
            self.expression.steps.push(Step::Negate);
        }
        Ok(())
    }

    /// Pushes the token as an operand, the same one each time it is named.
    fn operand(&mut self, kind: fn(String) -> Operand) {
        let operand = kind(self.text[self.span.clone()].to_owned());
        let operands = &mut self.expression.operands;
        let index = operands.iter().position(|known| *known == operand);
        let index = index.unwrap_or_else(|| {
            operands.push(operand);
            self.expression
                .columns
                .push(column(self.text, self.span.start));
            operands.len() - 1
        });
        self.expression.steps.push(Step::Push(index));
    }

    fn error_here(&self, what: impl Into<String>) -> Failure {
        self.error_at(self.span.start, what)
    }

    fn error_at(&self, byte: usize, what: impl Into<String>) -> Failure {
        let place = Place {
            source: SOURCE_NAME.to_owned(),
            line: 1,
            column: column(self.text, byte),
        };
        Failure::Input(place, what.into())
    }
}

fn column(text: &str, byte: usize) -> u64 {
    text[..byte].chars().count() as u64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program, written as in a book on stack machines.
    fn postfix(text: &str) -> String {
        let expression = Expression::parse(text).unwrap();
        let word = |step: &Step| match step {
            Step::Push(i) => match &expression.operands[*i] {
                Operand::Name(word) | Operand::Literal(word) => word.clone(),
            },
            Step::Negate => "neg".into(),
            Step::Add => "+".into(),
            Step::Sub => "-".into(),
            Step::Mul => "*".into(),
        };
        expression
            .steps
            .iter()
            .map(word)
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn error(text: &str) -> (u64, String) {
        match Expression::parse(text) {
            Err(Failure::Input(place, what)) => (place.column, what),
            other => panic!("{text:?} gave {other:?}"),
        }
    }

    #[test]
    fn products_bind_tighter_than_sums_and_both_associate_to_the_left() {
        assert_eq!(postfix("a*b"), "a b *");
        assert_eq!(postfix("a+b*c-d"), "a b c * + d -");
        assert_eq!(postfix("a-b-c"), "a b - c -");
        assert_eq!(postfix("(a - b) * (c + 0x1F)"), "a b - c 0x1F + *");
    }

    #[test]
    fn unary_minus_binds_tightest_and_cancels_in_pairs() {
        assert_eq!(postfix("-a*-b"), "a neg b neg *");
        assert_eq!(postfix("2 - -3"), "2 3 neg -");
        assert_eq!(postfix("---a"), "a neg");
        assert_eq!(postfix("a-+b++c"), "a b - c +");
        assert_eq!(postfix("--(a+b)"), "a b +");
    }

    #[test]
    fn an_operand_named_twice_is_one_operand() {
        let square = Expression::parse("a*a").unwrap();
        assert_eq!(square.operands.len(), 1);
        assert_eq!(square.steps, [Step::Push(0), Step::Push(0), Step::Mul]);
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
        assert_eq!(error("a/b").0, 2);
    }

    #[test]
    fn nesting_is_bounded_and_long_chains_are_not() {
        let nested = |n| format!("{}a{}", "(".repeat(n), ")".repeat(n));
        assert_eq!(postfix(&nested(MAX_DEPTH)), "a");
        assert_eq!(error(&nested(MAX_DEPTH + 1)).0, MAX_DEPTH as u64 + 1);
        assert_eq!(error(&"(".repeat(1_000_000)).0, MAX_DEPTH as u64 + 1);
        let chain = format!("a{}", "+a".repeat(100_000));
        assert_eq!(Expression::parse(&chain).unwrap().steps.len(), 200_001);
        assert_eq!(postfix(&format!("{}a", "-".repeat(100_001))), "a neg");
    }
}
