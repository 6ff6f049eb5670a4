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
mod threads;

use bigint_core::{Algorithm, Limb, Operation};

pub use error::Error;
pub use fast::{Cpu, LaneTuning, Path, Tuning, signed_sum, tune};
pub use memory::{collect, or_out_of_memory, reserve, with_capacity, zeroed};
pub use numbers::{Numbers, NumbersMut, Results};
pub use share::{Cut, LIMB_WORK, Sharing, copy, map, share};
pub use threads::{is_in_pool, set_threads, threads};

/// Any operation, by its declaration, modulo `2^(32 w)` for results of `w` limbs: the
/// one door through which an engine computes.
///
/// Operands are as many as the operation declares; each has one number, which stands for
/// all, or as many as the results.
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
/// [`Error::Operands`] where there are more or fewer operands or results than declared,
/// [`Error::Count`] where an operand has neither one number nor `r`'s count,
/// [`Error::CarryLength`] where there is not one flag word per number,
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

/// `r = (a + b) mod 2^(32 w)` for every number of the batch, `w = r.width`.
///
/// Operands are cut to `w` limbs or extended by zeros; an operand of one number
/// stands for as many as `r` has. `carry`, where given, takes one word (0 or 1)
/// for each number: the carry out of limb `w - 1`. `w = max(n, m) + 1` is always
/// exact. Linear in the limbs; over all cores where the batch is large.
///
/// # Errors
///
/// [`Error::Count`] where an operand has neither one number nor `r`'s count,
/// [`Error::CarryLength`] where `carry` has not one word per number,
/// [`Error::Algorithm`] for an algorithm that does not add, [`Error::OutOfMemory`]
/// where scratch cannot be had: `r` holds anything then.
#[inline]
pub fn add(
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    carry: Option<&mut [Limb]>,
    algorithm: Algorithm,
) -> Result<(), Error> {
    Cpu::current().add(r, a, b, carry, algorithm)
}

/// `r = (a - b) mod 2^(32 w)` for every number of the batch, `w = r.width`.
///
/// As [`add`], with the borrow out of limb `w - 1` in `borrow`: 1 where
/// `a mod 2^(32 w) < b mod 2^(32 w)`.
///
/// # Errors
///
/// As [`add`].
#[inline]
pub fn sub(
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    borrow: Option<&mut [Limb]>,
    algorithm: Algorithm,
) -> Result<(), Error> {
    Cpu::current().sub(r, a, b, borrow, algorithm)
}

/// `r = (a * b) mod 2^(32 w)` for every number of the batch, `w = r.width`.
///
/// Operands and counts as in [`add`]. `w = n + m` is always exact; a narrower
/// result costs less.
///
/// # Errors
///
/// [`Error::Count`] where an operand has neither one number nor `r`'s count,
/// [`Error::Algorithm`] for an algorithm that does not multiply,
/// [`Error::OutOfMemory`] where scratch cannot be had: `r` holds anything then.
#[inline]
pub fn mul(
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    algorithm: Algorithm,
) -> Result<(), Error> {
    Cpu::current().mul(r, a, b, algorithm)
}
