//! The processor's side: fields in words of 64 bits, digits of numbers, tables.

pub mod batch;
pub mod complete;
pub mod digits;
pub mod fold;
pub mod generator;
pub mod montgomery;
pub mod split;
pub mod words;
