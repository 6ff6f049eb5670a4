//! The room that workers have: how much of a number stands in registers and in shared memory, into
//! which parts a leaf cuts it, and how much scratch it needs.
//!
//! Each file describes one kind of leaf. Both sides call its functions: the host to size a launch,
//! and a kernel that is not specialized to find out where its numbers are. These limits are
//! therefore part of the kernels, as the size of a tile is, even where a measurement suggested
//! them; to change one is to build the PTX anew. Limits that the host alone applies, and that may
//! differ between machines, are data in `bigint-host/tuning`.

mod divsteps;
pub mod karatsuba;
pub(crate) mod lehmer;
mod modulus;
mod product;
mod root;
pub(crate) mod scan;
mod toeplitz;

pub use divsteps::*;
pub use lehmer::{ZEROS_BELOW, gcd_digits, inverse_digits};
pub use modulus::*;
pub use product::*;
pub use root::*;
pub use scan::{
    HELD, Scanned, WIDEST_SCANNED, chunks_held, is_in_strips, numbers_scanned, scanned, strip,
};
pub use toeplitz::*;
