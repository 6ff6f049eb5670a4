//! PTX source text to a syntax tree: tokens, then statements with their types. What names and
//! opcodes mean is found later, when it is decoded.

mod body;
mod constant;
pub(crate) mod error;
mod lexer;
pub(crate) mod parser;
pub(crate) mod tree;
pub(crate) mod types;
