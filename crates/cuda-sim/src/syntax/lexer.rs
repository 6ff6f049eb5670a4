//! PTX source to tokens. A word keeps its dots (`mad.lo.cc.u32`, `%tid.x`), since
//! PTX allows no space around them; directives are words of their own however close
//! they stand (`.visible.entry`).

use super::error::{ParseError, Position};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'s> {
    /// An identifier, an opcode with its modifiers, or a directive (`.reg`).
    Word(&'s str),
    /// An integer literal, as its 64 bits.
    Integer(u64),
    /// A literal of single precision: `0f3F800000`.
    Single(u32),
    /// A literal of double precision: `0d3FF0000000000000` or decimal.
    Double(u64),
    Text(&'s str),
    /// Punctuation, one character at a time.
    Mark(char),
    End,
}

/// All tokens of a source, each with where it stands.
pub(crate) fn tokens(source: &str) -> Result<Vec<(Token<'_>, Position)>, ParseError> {
    Lexer {
        source,
        at: 0,
        line: 1,
        line_start: 0,
    }
    .run()
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    line: u32,
    line_start: usize,
}

impl<'s> Lexer<'s> {
    fn run(mut self) -> Result<Vec<(Token<'s>, Position)>, ParseError> {
        let mut tokens = Vec::with_capacity(self.source.len() / 4);
        loop {
            self.skip_blanks()?;
            let position = self.position();
            let token = self.token()?;
            let done = token == Token::End;
            tokens.push((token, position));
            if done {
                return Ok(tokens);
            }
        }
    }

    fn position(&self) -> Position {
        Position {
            line: self.line,
            column: (self.at - self.line_start + 1) as u32,
        }
    }

    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn peek(&self) -> u8 {
        self.source.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError::at(self.position(), message))
    }

    fn advance(&mut self, bytes: usize) {
        for i in self.at..self.at + bytes {
            if self.source.as_bytes()[i] == b'\n' {
                self.line += 1;
                self.line_start = i + 1;
            }
        }
        self.at += bytes;
    }

    /// Skips white space and comments.
    fn skip_blanks(&mut self) -> Result<(), ParseError> {
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.advance(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.advance(end + 2),
                    None => return self.fail("a comment that does not end"),
                }
            } else if self.peek().is_ascii_whitespace() || self.peek() == 0 && !rest.is_empty() {
                // A NUL at the end of an image from C is a blank too.
                self.advance(1);
            } else {
                return Ok(());
            }
        }
    }

    /// The next token.
    fn token(&mut self) -> Result<Token<'s>, ParseError> {
        let first = self.peek();
        match first {
            0 => Ok(Token::End),
            b'"' => {
                let rest = &self.rest()[1..];
                match rest.find('"') {
                    Some(end) => {
                        self.advance(end + 2);
                        Ok(Token::Text(&rest[..end]))
                    }
                    None => self.fail("a string that does not end"),
                }
            }
            b'0'..=b'9' => self.number(),
            b'.' | b'_' | b'$' | b'%' | b'a'..=b'z' | b'A'..=b'Z' => Ok(self.word()),
            _ => match self.rest().chars().next() {
                Some(mark) if mark.is_ascii_punctuation() => {
                    self.advance(1);
                    Ok(Token::Mark(mark))
                }
                other => self.fail(format!("unexpected character {other:?}")),
            },
        }
    }

    fn word(&mut self) -> Token<'s> {
        let bytes = self.rest().as_bytes();
        let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'%');
        let mut len = 1;
        // `.param.u64` is two directives: what begins with a dot ends before the next.
        let directive = bytes[0] == b'.';
        while len < bytes.len() {
            let next = bytes.get(len + 1).copied().unwrap_or(0);
            if part(bytes[len]) || bytes[len] == b'.' && part(next) && !directive {
                len += 1;
            } else if bytes[len..].starts_with(b"::") {
                len += 2;
            } else {
                break;
            }
        }
        let word = &self.rest()[..len];
        self.at += len;
        Token::Word(word)
    }

    /// A literal.
    fn number(&mut self) -> Result<Token<'s>, ParseError> {
        let rest = self.rest();
        let len = rest
            .bytes()
            .position(|b| !(b.is_ascii_alphanumeric() || b == b'.'))
            .unwrap_or(rest.len());
        let mut text = &rest[..len];
        // The sign of a decimal exponent belongs to the number.
        let lower = text.to_ascii_lowercase();
        let prefixed = ["0x", "0f", "0d", "0b"]
            .iter()
            .any(|p| lower.starts_with(p));
        if !prefixed && lower.ends_with('e') {
            let tail = &rest[len..];
            if let Some(digits) = tail.strip_prefix(['+', '-']) {
                let more = digits.bytes().take_while(u8::is_ascii_digit).count();
                text = &rest[..len + 1 + more];
            }
        }
        let bits = |digits: &str, radix| u64::from_str_radix(digits, radix).ok();
        let integer = lower.strip_suffix('u').unwrap_or(&lower);
        let token = if let Some(hex) = lower.strip_prefix("0f") {
            (hex.len() == 8)
                .then(|| u32::from_str_radix(hex, 16).ok().map(Token::Single))
                .flatten()
        } else if let Some(hex) = lower.strip_prefix("0d") {
            (hex.len() == 16)
                .then(|| bits(hex, 16).map(Token::Double))
                .flatten()
        } else if let Some(hex) = integer.strip_prefix("0x") {
            bits(hex, 16).map(Token::Integer)
        } else if let Some(binary) = integer.strip_prefix("0b") {
            bits(binary, 2).map(Token::Integer)
        } else if text.contains(['.', 'e', 'E']) {
            text.parse::<f64>().ok().map(|d| Token::Double(d.to_bits()))
        } else if let Some(octal) = integer.strip_prefix('0').filter(|o| !o.is_empty()) {
            bits(octal, 8).map(Token::Integer)
        } else {
            bits(integer, 10).map(Token::Integer)
        };
        match token {
            Some(token) => {
                self.at += text.len();
                Ok(token)
            }
            None => self.fail(format!("`{text}` is not a number")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<Token<'_>> {
        let mut tokens: Vec<_> = tokens(source).unwrap().into_iter().map(|t| t.0).collect();
        assert_eq!(tokens.pop(), Some(Token::End));
        tokens
    }

    #[test]
    fn opcodes_and_registers_keep_their_dots() {
        assert_eq!(
            words("ld.global.L2::128B.v2 {%r1, _}, [%rd1+-8]; // rest"),
            [
                Token::Word("ld.global.L2::128B.v2"),
                Token::Mark('{'),
                Token::Word("%r1"),
                Token::Mark(','),
                Token::Word("_"),
                Token::Mark('}'),
                Token::Mark(','),
                Token::Mark('['),
                Token::Word("%rd1"),
                Token::Mark('+'),
                Token::Mark('-'),
                Token::Integer(8),
                Token::Mark(']'),
                Token::Mark(';'),
            ]
        );
        assert_eq!(words("%tid.x$a"), [Token::Word("%tid.x$a")]);
        assert_eq!(
            words("L1:x"),
            [Token::Word("L1"), Token::Mark(':'), Token::Word("x")]
        );
    }

    #[test]
    fn every_form_of_number_has_its_value() {
        assert_eq!(
            words("10 0x1F 0XffU 017 0b101 0 4294967295U 18446744073709551615"),
            [10, 31, 255, 15, 5, 0, 0xffff_ffff, u64::MAX].map(Token::Integer)
        );
        assert_eq!(words("0f3f800000"), [Token::Single(0x3f80_0000)]);
        assert_eq!(
            words("0d3FF0000000000000"),
            [Token::Double(1.0f64.to_bits())]
        );
        assert_eq!(
            words("1.5 2e3 1.0e-2 2.5E+1"),
            [1.5f64, 2e3, 1.0e-2, 25.0].map(|d| Token::Double(d.to_bits()))
        );
    }

    #[test]
    fn errors_say_where_they_are() {
        for (source, line, column) in [("a\n  0f12", 2, 3), ("/* x", 1, 1), ("a\n\n\"b", 3, 1)] {
            let error = tokens(source).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{source}");
        }
    }
}
