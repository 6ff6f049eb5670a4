#![doc = include_str!("../README.md")]

// What DataFusion's columns are as integers.
mod key;
mod value;

// Functions of rows, and of groups of rows.
mod aggregate;
mod joined;
mod scalar;
mod sliding;
mod totals;

// Where operators and orders become these functions.
mod plan;
mod sql;

// One call that registers all.
mod register;
mod tables;

pub use register::{aggregates, functions, register, state};
pub use sql::sql;
pub use tables::{ENDINGS, columns_of, register_files, shown};
