#![doc = include_str!("../README.md")]

mod error;
pub mod fast;
mod mask;
mod memory;
mod numbers;
mod piece;
pub mod program;
pub mod radix;
pub mod reference;
mod share;
pub mod smooth;
mod threads;

use bigint_core::{Algorithm, Operation};

pub use error::Error;
pub use fast::chain;
pub use fast::number::Symbol;
pub use fast::{Cpu, LaneTuning, Path, Reduced, Tuning, signed_sum, tune};
pub use memory::{collect, or_out_of_memory, reserve, with_capacity, zeroed};
pub use numbers::{Numbers, NumbersMut, Results};
pub use share::{Cut, LIMB_WORK, Sharing, copy, map, share};
pub use threads::{is_in_pool, set_threads, threads};

/// Computes any operation, as it is declared, modulo `2^(32 w)` for results of `w` limbs.
/// Everything that an engine computes goes through this function.
///
/// There are as many operands as the operation declares. Each has as many numbers as the
/// results, or one number, which is used for all.
///
/// ```
/// use bigint_core::{Algorithm, Layout, Operation, Shape};
/// use bigint_cpu::{Numbers, NumbersMut, Results};
/// let shape = Shape::new(2, 1, Layout::Contiguous);
/// let (a, b, mut r) = ([7, 8], [5, 6], [0; 2]);
/// let operands = [Numbers::new(&a, shape)?, Numbers::new(&b, shape)?];
/// let r_of = NumbersMut::new(&mut r, shape)?;
/// let results = Results { r: r_of, s: None, flags: None };
/// bigint_cpu::compute(Operation::Mul, results, &operands, Algorithm::Auto)?;
/// assert_eq!(r, [35, 48]);
/// # Ok::<(), bigint_cpu::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Operands`] if there are more or fewer operands or results than declared,
/// [`Error::Count`] if an operand has neither one number nor as many as `r`,
/// [`Error::CarryLength`] if there is not one flag word for each number, and
/// [`Error::Algorithm`] for an algorithm that does not compute the operation.
#[inline]
pub fn compute(
    operation: Operation,
    results: Results<'_>,
    operands: &[Numbers<'_>],
    algorithm: Algorithm,
) -> Result<(), Error> {
    Cpu::current().compute(operation, results, operands, algorithm)
}
