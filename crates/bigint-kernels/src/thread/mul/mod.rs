//! Multiplication, full or cut to the result's width.

pub mod comba;
pub mod karatsuba;
pub mod school;
