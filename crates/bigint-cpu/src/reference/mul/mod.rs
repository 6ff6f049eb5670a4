//! Multiplication: `r = (a * b) mod 2^(32 w)`, `w = r.len()`.

mod comba;
mod karatsuba;
mod school;

pub use comba::comba;
pub use karatsuba::karatsuba;
pub use school::school;
