#![doc = include_str!("../README.md")]

mod error;
pub mod fast;
mod memory;
mod numbers;
mod piece;
pub mod radix;
pub mod reference;
mod share;

use bigint_core::{Algorithm, Limb};

pub use error::Error;
pub use fast::{Cpu, LaneTuning, Path, Tuning, tune};
pub use memory::{with_capacity, zeroed};
pub use numbers::{Numbers, NumbersMut};
pub use share::{Cut, LIMB_WORK, Sharing, share};

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
