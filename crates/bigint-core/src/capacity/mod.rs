//! What workers have room for: how much of a number stands in registers and in shared memory, into
//! which parts a leaf cuts it, and how much scratch it needs.
//!
//! Each file is of one kind of leaf, and is used on both sides: the host reckons launches by it, and
//! the device goes by the same numbers.

mod divsteps;
pub mod karatsuba;
pub(crate) mod lehmer;
mod modulus;
mod product;
mod root;
pub(crate) mod scan;

pub use divsteps::*;
pub use lehmer::{ZEROS_BELOW, gcd_digits, inverse_digits};
pub use modulus::*;
pub use product::*;
pub use root::*;
pub use scan::{Scanned, WIDEST_SCANNED, is_in_strips, numbers_scanned, scanned, strip};
