//! What workers have room for: how much of a number stands in registers and in shared memory, into
//! which parts a leaf cuts it, and how much scratch it needs.
//!
//! Each file is of one kind of leaf, and both sides call it: the host sizes a launch by it, and a
//! kernel that is not specialized finds out by the same functions where its numbers are. So these
//! limits are part of the kernels, as a tile's size is, even where a measurement has suggested them:
//! another limit is another build of the PTX. What the host alone decides, and what a machine may
//! answer in another way, is data in `bigint-host/tuning`.

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
pub use scan::{Scanned, WIDEST_SCANNED, is_in_strips, numbers_scanned, scanned, strip};
pub use toeplitz::*;
