//! An opcode and its modifiers. Each modifier must be taken by somebody: what is
//! left over is an error, so that nothing is silently ignored.

use crate::lanes::half::Half;
use crate::syntax::error::{ParseError, Position};
use crate::syntax::types::{Space, Type};

pub(super) struct Opcode<'s> {
    pub base: &'s str,
    modifiers: Vec<&'s str>,
    text: &'s str,
    at: Position,
}

impl<'s> Opcode<'s> {
    pub fn new(text: &'s str, at: Position) -> Self {
        let mut parts = text.split('.');
        Opcode {
            base: parts.next().unwrap_or_default(),
            modifiers: parts.collect(),
            text,
            at,
        }
    }

    pub fn fail<T>(&self, message: &str) -> Result<T, ParseError> {
        Err(ParseError::unknown(
            self.at,
            format!("{message} in `{}`", self.text),
        ))
    }

    /// The whole word.
    pub fn text(&self) -> &'s str {
        self.text
    }

    /// Whether the modifier is there.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// Whether a type is a 16-bit floating-point format.
    pub fn is_half(&self) -> bool {
        self.modifiers.iter().any(|m| Half::named(m).is_some())
    }

    /// Takes the modifier if it is there.
    pub fn take(&mut self, modifier: &str) -> bool {
        let place = self.modifiers.iter().position(|&m| m == modifier);
        if let Some(i) = place {
            self.modifiers.remove(i);
        }
        place.is_some()
    }

    /// Takes the first modifier that `f` knows.
    pub fn take_with<T>(&mut self, f: impl Fn(&'s str) -> Option<T>) -> Option<T> {
        let (i, value) = self
            .modifiers
            .iter()
            .enumerate()
            .find_map(|(i, &m)| f(m).map(|value| (i, value)))?;
        self.modifiers.remove(i);
        Some(value)
    }

    /// Takes the first of these that is there.
    pub fn take_of(&mut self, known: &[&str]) -> Option<&'s str> {
        self.take_with(|m| known.contains(&m).then_some(m))
    }

    /// Takes the type, the first of them where there are two.
    pub fn take_type(&mut self) -> Result<Type, ParseError> {
        match self.take_with(Type::named) {
            Some(ty) => Ok(ty),
            None => self.fail("a type that is missing or not supported"),
        }
    }

    /// The first type, which stays where it is.
    pub fn type_ahead(&self) -> Option<Type> {
        self.modifiers.iter().find_map(|m| Type::named(m))
    }

    pub fn take_space(&mut self) -> Space {
        self.take_with(Space::named).unwrap_or(Space::Generic)
    }

    /// Complains about what nobody took.
    pub fn finish(&self) -> Result<(), ParseError> {
        match self.modifiers.first() {
            Some(modifier) => self.fail(&format!("unknown modifier `.{modifier}`")),
            None => Ok(()),
        }
    }
}
