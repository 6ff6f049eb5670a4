//! The syntax tree of a PTX source, close to its text.

use super::error::Position;
use super::types::{Space, Type};
use crate::check::SourceLine;
use std::collections::HashMap;

pub(crate) struct Source<'s> {
    pub version: (u32, u32),
    pub target: &'s str,
    pub variables: Vec<Variable<'s>>,
    pub functions: Vec<Function<'s>>,
    pub locations: Locations,
}

/// The origin of lines of PTX: the names that `.file` gives, and by `.loc` the file and line of the
/// source from a line of PTX on, as far as that is said; ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locations {
    pub files: HashMap<u64, String>,
    pub from: Vec<(u32, Option<(u64, u64)>)>,
}

impl Locations {
    /// The place in the source that a line of PTX was made from.
    pub fn of(&self, line: u32) -> Option<SourceLine> {
        let after = self.from.partition_point(|(from, _)| *from <= line);
        let (_, location) = self.from.get(after.checked_sub(1)?)?;
        let (file, line) = (*location)?;
        Some(SourceLine {
            file: self.files.get(&file)?.clone(),
            line: line as u32,
        })
    }
}

impl Source<'_> {
    /// The number of the target: 75 for `sm_75`, 90 for `sm_90a`; 0 where it has none.
    pub fn sm(&self) -> u32 {
        let digits: String = self.target.chars().filter(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    }
}

/// A variable in memory; the unit of `.param` lists too.
#[derive(Clone, Debug)]
pub(crate) struct Variable<'s> {
    pub space: Space,
    pub name: &'s str,
    pub align: u64,
    pub bytes: u64,
    /// An array without length: dynamic shared memory.
    pub unsized_array: bool,
    pub is_extern: bool,
    /// Width in bytes of an element, and the elements that have initial values.
    pub element: u32,
    pub initial: Vec<Initial<'s>>,
    pub at: Position,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Initial<'s> {
    Value(u64),
    /// The address of a symbol plus `addend`; with a mask, the masked bits
    /// shifted down to the mask's lowest bit.
    Address {
        symbol: &'s str,
        addend: u64,
        mask: u64,
    },
}

/// A parameter or return value.
#[derive(Clone, Debug)]
pub(crate) enum Formal<'s> {
    Register(&'s str, Type),
    Memory(Variable<'s>),
}

pub(crate) struct Function<'s> {
    pub name: &'s str,
    pub entry: bool,
    pub returns: Vec<Formal<'s>>,
    pub formals: Vec<Formal<'s>>,
    /// Absent in a declaration.
    pub body: Option<Vec<Statement<'s>>>,
    /// `.maxntid` and `.reqntid`: each dimension, or nothing.
    pub max_threads: Option<[u32; 3]>,
    pub required_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`: blocks of a cluster, or nothing.
    pub cluster: Option<[u32; 3]>,
    pub at: Position,
}

pub(crate) enum Statement<'s> {
    /// `.reg .b32 %r<count>`, or one register without a count.
    Registers {
        name: &'s str,
        count: Option<u32>,
        ty: Type,
        /// Values of that type in each: 1, or more for `.v2` and `.v4`.
        lanes: u32,
        at: Position,
    },
    Variable(Variable<'s>),
    Label(&'s str, Position),
    /// `name: .branchtargets a, b;` and `.calltargets`.
    Targets(&'s str, Vec<&'s str>),
    /// `name: .callprototype ...;`, of which nothing is needed to execute a call.
    Prototype,
    Instruction(Instruction<'s>),
    Scope(Vec<Statement<'s>>),
}

pub(crate) struct Instruction<'s> {
    /// The guard predicate, and whether it is negated.
    pub guard: Option<(&'s str, bool)>,
    pub opcode: &'s str,
    pub operands: Vec<Operand<'s>>,
    pub at: Position,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand<'s> {
    /// A register, label, symbol, function or `_`.
    Name(&'s str),
    /// A symbol's address plus a constant.
    Offset(&'s str, i64),
    /// `!%p`
    Not(&'s str),
    /// `%p|%q`
    Pair(&'s str, &'s str),
    Integer(u64),
    Single(u32),
    Double(u64),
    /// `[base + offset]`; without a base, an absolute address.
    Address(Option<&'s str>, i64),
    /// `[a, {b, ...}]`, of textures and tensors
    Compound,
    /// `{a, b, ...}`
    Vector(Vec<Operand<'s>>),
    /// `(a, b, ...)` of a call.
    List(Vec<Operand<'s>>),
}
