//! The `bigint` command.
pub mod expression;
pub mod failure;
pub mod lines;
pub mod number;
