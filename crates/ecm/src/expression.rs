//! Numbers as people write them: `2^1001-1`, `(10^41-1)/9`, `35!`, `97#`, `0xff`.
//!
//! Operators are those of GMP-ECM's input: `+ - * / % ^`, `!` and `#` (the product of all primes up to
//! a number), and parentheses; `/` must leave nothing. A power binds to the right: `2^3^2` is `2^9`.

use num_bigint::{BigInt, BigUint, Sign};

use crate::Error;
use crate::primes::primes;

/// Bits that a value may have.
const MOST_BITS: u64 = 1 << 24;

/// Parentheses, signs and powers within one another: each takes stack.
const DEEPEST: usize = 200;

/// The value of an expression, which is not negative.
///
/// ```
/// assert_eq!(ecm::evaluate("(2^67 - 1) / 193707721")?, 761838257287u64.into());
/// # Ok::<(), ecm::Error>(())
/// ```
///
/// # Errors
/// [`Error::Expression`], with the place.
pub fn evaluate(text: &str) -> Result<BigUint, Error> {
    let mut parser = Parser {
        text: text.chars().collect(),
        at: 0,
        depth: 0,
    };
    let value = parser.sum()?;
    match parser.peek() {
        Some(other) => Err(parser.wrong(format!("{other:?} stands where an operator should"))),
        None => value
            .to_biguint()
            .ok_or_else(|| parser.wrong("the value is negative".to_owned())),
    }
}

struct Parser {
    text: Vec<char>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn wrong(&self, what: String) -> Error {
        Error::Expression {
            column: self.at + 1,
            what,
        }
    }

    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// Goes past the next character, if it is one of these.
    fn take(&mut self, which: &[char]) -> Option<char> {
        let next = self.peek().filter(|next| which.contains(next));
        self.at += usize::from(next.is_some());
        next
    }

    fn sum(&mut self) -> Result<BigInt, Error> {
        let mut value = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            let term = self.product()?;
            value = if operator == '+' {
                value + term
            } else {
                value - term
            };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<BigInt, Error> {
        let mut value = self.signed()?;
        while let Some(operator) = self.take(&['*', '/', '%']) {
            let at = self.at;
            let factor = self.signed()?;
            if operator != '*' && factor.sign() == Sign::NoSign {
                self.at = at;
                return Err(self.wrong("a division by zero".to_owned()));
            }
            let rest = if operator == '*' {
                BigInt::ZERO
            } else {
                &value % &factor
            };
            value = match operator {
                '*' => value * factor,
                '%' => rest,
                _ if rest.sign() == Sign::NoSign => value / factor,
                _ => {
                    self.at = at;
                    return Err(self.wrong("a division that leaves a remainder".to_owned()));
                }
            };
            if value.bits() > MOST_BITS {
                return Err(self.wrong(format!("a value of more than {MOST_BITS} bits")));
            }
        }
        Ok(value)
    }

    fn signed(&mut self) -> Result<BigInt, Error> {
        if self.depth == DEEPEST {
            return Err(self.wrong(format!("it is nested more than {DEEPEST} deep")));
        }
        self.depth += 1;
        let value = match self.take(&['-']) {
            Some(_) => -self.signed()?,
            None => self.power()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn power(&mut self) -> Result<BigInt, Error> {
        let base = self.postfixed()?;
        let at = self.at;
        if self.take(&['^']).is_none() {
            return Ok(base);
        }
        let exponent = self.signed()?;
        let bits = base.bits().max(1);
        match u32::try_from(&exponent) {
            Ok(exponent) if bits * u64::from(exponent) <= MOST_BITS => Ok(base.pow(exponent)),
            _ => {
                self.at = at;
                Err(self.wrong(format!(
                    "a power that is negative or above {MOST_BITS} bits"
                )))
            }
        }
    }

    fn postfixed(&mut self) -> Result<BigInt, Error> {
        let mut value = self.atom()?;
        while let Some(operator) = self.take(&['!', '#']) {
            // 100000! has 1.5 million bits.
            let n = match u64::try_from(&value) {
                Ok(n) if n <= 100_000 => n,
                _ => {
                    self.at -= 1;
                    return Err(self.wrong(format!("{operator} takes numbers up to 100000")));
                }
            };
            let mut product = BigUint::from(1u8);
            match operator {
                '!' => (2..=n).for_each(|k| product *= k),
                _ => primes(2, n, |p| product *= p),
            }
            value = product.into();
        }
        Ok(value)
    }

    fn atom(&mut self) -> Result<BigInt, Error> {
        let first = self.peek();
        if self.take(&['(']).is_some() {
            let value = self.sum()?;
            return match self.take(&[')']) {
                Some(_) => Ok(value),
                None => Err(self.wrong("a ) is missing".to_owned())),
            };
        }
        let from = self.at;
        let rest = &self.text[from..];
        let word: String = rest.iter().take_while(|c| c.is_alphanumeric()).collect();
        let (digits, base) = match word.strip_prefix("0x").or(word.strip_prefix("0X")) {
            Some(digits) => (digits, 16),
            None => (&word[..], 10),
        };
        match BigUint::parse_bytes(digits.as_bytes(), base) {
            Some(value) => {
                self.at += word.chars().count();
                Ok(value.into())
            }
            None => Err(self.wrong(match first {
                Some(first) => format!("a number should stand where {first:?} does"),
                None => "a number is missing".to_owned(),
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_arithmetic() {
        for (text, value) in [
            ("0", 0u64),
            (" 12 ", 12),
            ("0xfF", 255),
            ("2^3^2", 512),
            ("-2^2+5", 1),
            ("7-2-1", 4),
            ("100/5/2", 10),
            ("17%5*2", 4),
            ("5!", 120),
            ("10#+3!", 216),
            ("2*(3+4)^2", 98),
            ("((2^11)-1)/23", 89),
        ] {
            assert_eq!(evaluate(text).unwrap(), value.into(), "{text}");
        }
    }

    #[test]
    fn an_error_says_in_which_column_it_is() {
        for (text, at) in [
            ("", 1),
            ("12 13", 4),
            ("2^", 3),
            ("(1", 3),
            ("7/2", 3),
            ("7/0", 3),
            ("x", 1),
            ("2^(2^40)", 2),
            ("1-2", 4),
            ("200000!", 7),
            ("12a", 1),
            ("(".repeat(100_000).as_str(), 201),
            ("-".repeat(100_000).as_str(), 201),
            ("1^".repeat(100_000).as_str(), 401),
        ] {
            match evaluate(text) {
                Err(Error::Expression { column, .. }) => assert_eq!(column, at, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
