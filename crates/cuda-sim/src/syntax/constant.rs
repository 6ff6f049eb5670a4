//! Constant expressions, in 64-bit arithmetic.

use super::lexer::Token;
use super::parser::{Parser, Result};

/// A binary operator on constants; nothing where it has no value.
type Fold = fn(u64, u64) -> Option<u64>;

impl Parser<'_> {
    /// `+8`, `-8`, `+-8`
    pub(super) fn signed_offset(&mut self) -> Result<i64> {
        let negative = self.take('-');
        if !negative {
            self.expect('+')?;
        }
        let value = self.constant()? as i64;
        Ok(if negative {
            value.wrapping_neg()
        } else {
            value
        })
    }

    /// A constant expression in 64-bit arithmetic.
    pub(super) fn constant(&mut self) -> Result<u64> {
        self.binary(0)
    }

    fn binary(&mut self, lowest: u32) -> Result<u64> {
        let mut left = self.unary()?;
        loop {
            let second = &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0;
            let (level, marks, apply): (u32, usize, Fold) = match (self.peek(), second) {
                (Token::Mark('<'), Token::Mark('<')) => {
                    (4, 2, |a, b| Some(a.checked_shl(b as u32).unwrap_or(0)))
                }
                (Token::Mark('>'), Token::Mark('>')) => {
                    (4, 2, |a, b| Some(a.checked_shr(b as u32).unwrap_or(0)))
                }
                (Token::Mark('|'), Token::Integer(_)) => (1, 1, |a, b| Some(a | b)),
                (Token::Mark('^'), _) => (2, 1, |a, b| Some(a ^ b)),
                (Token::Mark('&'), _) => (3, 1, |a, b| Some(a & b)),
                (Token::Mark('+'), _) => (5, 1, |a, b| Some(a.wrapping_add(b))),
                (Token::Mark('-'), _) => (5, 1, |a, b| Some(a.wrapping_sub(b))),
                (Token::Mark('*'), _) => (6, 1, |a, b| Some(a.wrapping_mul(b))),
                (Token::Mark('/'), _) => (6, 1, |a, b| a.checked_div(b)),
                _ => return Ok(left),
            };
            if level < lowest {
                return Ok(left);
            }
            for _ in 0..marks {
                self.next();
            }
            let right = self.binary(level + 1)?;
            left = match apply(left, right) {
                Some(value) => value,
                None => return self.fail("a division by zero"),
            };
        }
    }

    fn unary(&mut self) -> Result<u64> {
        self.enter()?;
        let value = self.operand_of_unary();
        self.leave();
        value
    }

    fn operand_of_unary(&mut self) -> Result<u64> {
        match *self.peek() {
            Token::Integer(value) => {
                self.next();
                Ok(value)
            }
            Token::Word("WARP_SZ") => {
                self.next();
                Ok(32)
            }
            Token::Mark('-') => {
                self.next();
                Ok(self.unary()?.wrapping_neg())
            }
            Token::Mark('+') => {
                self.next();
                self.unary()
            }
            Token::Mark('~') => {
                self.next();
                Ok(!self.unary()?)
            }
            Token::Mark('!') => {
                self.next();
                Ok(u64::from(self.unary()? == 0))
            }
            Token::Mark('(') => {
                self.next();
                // `(.s64)` and `(.u64)` casts change no bits of a 64-bit value.
                if self.take_word(".s64") || self.take_word(".u64") {
                    self.expect(')')?;
                    return self.unary();
                }
                let value = self.binary(0)?;
                self.expect(')')?;
                Ok(value)
            }
            _ => self.fail(format!("expected a number, found {}", self.describe())),
        }
    }
}
