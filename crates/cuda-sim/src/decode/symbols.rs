//! What names mean: the symbols of scopes, one within the other.

use crate::ir::Reg;
use crate::syntax::types::Type;
use std::collections::HashMap;

#[derive(Clone, Debug)]
pub(super) enum Symbol<'s> {
    Register(Reg, Type),
    /// A vector of values of a type, or one value of 128 bits in two registers.
    Vector(Vec<Reg>, Type),
    Label(usize),
    Targets(Vec<&'s str>),
    Param {
        offset: u32,
        bytes: u32,
    },
    Local(u32),
    Shared(u32),
    Global(u32),
    Function(u32),
}

/// `.reg .b32 %r<count>`; its registers come into being as they are named.
#[derive(Debug)]
pub(super) struct Range<'s> {
    pub prefix: &'s str,
    pub count: u32,
    pub ty: Type,
    /// Values of that type in each.
    pub lanes: u32,
    pub registers: HashMap<u32, Symbol<'s>>,
}

#[derive(Debug, Default)]
pub(super) struct Scope<'s> {
    pub names: HashMap<&'s str, Symbol<'s>>,
    pub ranges: Vec<Range<'s>>,
}
