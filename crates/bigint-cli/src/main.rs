//! The `bigint` command.
fn main() {}
