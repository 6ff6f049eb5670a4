//! The bodies of functions: statements and operands.

use super::error::{ParseError, Position};
use super::lexer::Token;
use super::parser::{Parser, Result};
use super::tree::{Instruction, Operand, Statement};
use super::types::Space;

impl<'s> Parser<'s> {
    /// The statements up to a closing brace.
    pub(super) fn statements(&mut self) -> Result<Vec<Statement<'s>>> {
        let mut statements = Vec::new();
        loop {
            let at = self.position();
            match *self.peek() {
                Token::Mark('}') => {
                    self.next();
                    return Ok(statements);
                }
                Token::Mark('{') => {
                    self.next();
                    self.enter()?;
                    statements.push(Statement::Scope(self.statements()?));
                    self.leave();
                }
                Token::Mark(';') => {
                    self.next();
                }
                Token::Mark('@') => {
                    self.next();
                    let negated = self.take('!');
                    let guard = Some((self.word("a predicate")?, negated));
                    statements.push(Statement::Instruction(self.instruction(guard)?));
                }
                Token::Word(".reg") => {
                    self.next();
                    self.registers(&mut statements)?;
                }
                Token::Word(".loc") => self.location(),
                Token::Word(".file") => self.file(),
                Token::Word(".pragma") => self.skip_statement()?,
                Token::Word(word) if word.starts_with('.') => {
                    let Some(space) = Space::named(&word[1..]) else {
                        return self.fail(format!("unknown directive `{word}`"));
                    };
                    self.next();
                    self.variables(space, &mut |variable| {
                        statements.push(Statement::Variable(variable));
                    })?;
                }
                Token::Word(word) => {
                    if self.tokens[self.at + 1].0 == Token::Mark(':') {
                        self.next();
                        self.next();
                        self.after_label(word, at, &mut statements)?;
                    } else {
                        statements.push(Statement::Instruction(self.instruction(None)?));
                    }
                }
                _ => {
                    return self.fail(format!(
                        "expected an instruction, found {}",
                        self.describe()
                    ));
                }
            }
        }
    }

    fn after_label(
        &mut self,
        label: &'s str,
        at: Position,
        statements: &mut Vec<Statement<'s>>,
    ) -> Result<()> {
        match *self.peek() {
            Token::Word(".branchtargets" | ".calltargets") => {
                self.next();
                let mut targets = vec![self.word("a label")?];
                while self.take(',') {
                    targets.push(self.word("a label")?);
                }
                self.expect(';')?;
                statements.push(Statement::Targets(label, targets));
            }
            Token::Word(".callprototype") => {
                self.skip_statement()?;
                statements.push(Statement::Prototype);
            }
            _ => statements.push(Statement::Label(label, at)),
        }
        Ok(())
    }

    /// The declarations behind `.reg`.
    fn registers(&mut self, statements: &mut Vec<Statement<'s>>) -> Result<()> {
        let at = self.position();
        let lanes = match *self.peek() {
            Token::Word(".v2") => 2,
            Token::Word(".v4") => 4,
            _ => 1,
        };
        if lanes > 1 {
            self.next();
        }
        let ty = self.register_type()?;
        loop {
            let name = self.word("a register's name")?;
            let count = if self.take('<') {
                let count = u32::try_from(self.constant()?)
                    .map_err(|_| ParseError::at(at, "too many registers"))?;
                self.expect('>')?;
                Some(count)
            } else {
                None
            };
            statements.push(Statement::Registers {
                name,
                count,
                ty,
                lanes,
                at,
            });
            if !self.take(',') {
                return self.expect(';');
            }
        }
    }

    /// An instruction, whose guard has been read.
    fn instruction(&mut self, guard: Option<(&'s str, bool)>) -> Result<Instruction<'s>> {
        let at = self.position();
        let opcode = self.word("an instruction")?;
        let mut operands = Vec::new();
        if *self.peek() != Token::Mark(';') {
            loop {
                operands.push(self.operand()?);
                if !self.take(',') {
                    break;
                }
            }
        }
        self.expect(';')?;
        Ok(Instruction {
            guard,
            opcode,
            operands,
            at,
        })
    }

    /// An operand of an instruction.
    fn operand(&mut self) -> Result<Operand<'s>> {
        match *self.peek() {
            Token::Mark('[') => {
                self.next();
                let operand = if let Token::Word(base) = *self.peek() {
                    self.next();
                    let offset = match *self.peek() {
                        Token::Mark('+' | '-') => self.signed_offset()?,
                        _ => 0,
                    };
                    Operand::Address(Some(base), offset)
                } else {
                    Operand::Address(None, self.constant()? as i64)
                };
                if *self.peek() == Token::Mark(',') {
                    while self.take(',') {
                        self.operand()?;
                    }
                    self.expect(']')?;
                    return Ok(Operand::Compound);
                }
                self.expect(']')?;
                Ok(operand)
            }
            Token::Mark('{') => {
                self.next();
                Ok(Operand::Vector(self.list('}')?))
            }
            // A parenthesis opens the argument list of a call, or a constant expression.
            Token::Mark('(') if self.begins_list() => {
                self.next();
                Ok(Operand::List(self.list(')')?))
            }
            Token::Mark('!') => {
                self.next();
                Ok(Operand::Not(self.word("a predicate")?))
            }
            Token::Single(bits) => {
                self.next();
                Ok(Operand::Single(bits))
            }
            Token::Double(bits) => {
                self.next();
                Ok(Operand::Double(bits))
            }
            Token::Mark('-')
                if matches!(
                    self.tokens[self.at + 1].0,
                    Token::Single(_) | Token::Double(_)
                ) =>
            {
                self.next();
                Ok(match self.next() {
                    Token::Single(bits) => Operand::Single(bits ^ 1 << 31),
                    Token::Double(bits) => Operand::Double(bits ^ 1 << 63),
                    _ => Operand::Integer(0),
                })
            }
            Token::Word(name) if name != "WARP_SZ" => {
                self.next();
                match *self.peek() {
                    Token::Mark('|') => {
                        self.next();
                        Ok(Operand::Pair(name, self.word("a predicate")?))
                    }
                    Token::Mark('+' | '-') => Ok(Operand::Offset(name, self.signed_offset()?)),
                    _ => Ok(Operand::Name(name)),
                }
            }
            _ => Ok(Operand::Integer(self.constant()?)),
        }
    }

    fn begins_list(&self) -> bool {
        matches!(
            self.tokens[self.at + 1].0,
            Token::Word(_) | Token::Mark(')')
        ) || {
            // `(5, ...)` or `(5)` of a call: only calls have a comma or stand alone.
            let end = self.tokens[self.at..]
                .iter()
                .position(|(token, _)| *token == Token::Mark(')'));
            let inner = end.map_or(&[][..], |end| &self.tokens[self.at..self.at + end]);
            let before = self.at.checked_sub(1).map(|i| &self.tokens[i].0);
            inner.iter().any(|(token, _)| *token == Token::Mark(','))
                || matches!(before, Some(Token::Word(word)) if word.starts_with("call"))
        }
    }

    /// Operands up to a closing mark.
    fn list(&mut self, close: char) -> Result<Vec<Operand<'s>>> {
        self.enter()?;
        let mut operands = Vec::new();
        while !self.take(close) {
            if !operands.is_empty() {
                self.expect(',')?;
            }
            operands.push(self.operand()?);
        }
        self.leave();
        Ok(operands)
    }
}
