//! The papers' algorithms, plain to read, under the names of the GPU kernels.
//!
//! Every function here takes one number, as a slice of limbs, least significant
//! first; [`add()`], [`sub()`] and [`mul()`] apply them to a batch. They are what
//! the kernels and the fast engine are checked against, so they trade speed for
//! being easy to believe.

pub mod add;
pub mod mul;
pub mod sub;

use bigint_core::{Algorithm, Limb, Operation};

use crate::piece::for_each_piece;
use crate::share::Cut;
use crate::{Error, Numbers, NumbersMut, memory};

/// Limbs a worker writes before it takes the next piece: an L2 cache's worth.
const PIECE_LIMBS: usize = 1 << 15;

/// [`crate::add`] by a reference algorithm; `Auto` is `Ripple`.
///
/// # Errors
///
/// As [`crate::add`].
pub fn add(
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    carry: Option<&mut [Limb]>,
    algorithm: Algorithm,
) -> Result<(), Error> {
    let one = match algorithm {
        Algorithm::Auto | Algorithm::Ripple => add::ripple,
        Algorithm::CarryLookahead => add::carry_lookahead,
        _ => return Err(refused(Operation::Add, algorithm)),
    };
    batch(r, a, b, carry, |r, a, b, _| one(r, a, b))
}

/// [`crate::sub`] by a reference algorithm; `Auto` is `Ripple`.
///
/// # Errors
///
/// As [`crate::sub`].
pub fn sub(
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    borrow: Option<&mut [Limb]>,
    algorithm: Algorithm,
) -> Result<(), Error> {
    let one = match algorithm {
        Algorithm::Auto | Algorithm::Ripple => sub::ripple,
        Algorithm::CarryLookahead => sub::carry_lookahead,
        _ => return Err(refused(Operation::Sub, algorithm)),
    };
    batch(r, a, b, borrow, |r, a, b, _| one(r, a, b))
}

/// [`crate::mul`] by a reference algorithm; `Auto` is `Comba`.
///
/// # Errors
///
/// As [`crate::mul`].
pub fn mul(
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    algorithm: Algorithm,
) -> Result<(), Error> {
    match algorithm {
        Algorithm::School => batch(r, a, b, None, |r, a, b, _| {
            mul::school(r, a, b);
            0
        }),
        Algorithm::Auto | Algorithm::Comba => batch(r, a, b, None, |r, a, b, _| {
            mul::comba(r, a, b);
            0
        }),
        Algorithm::Karatsuba => batch(r, a, b, None, |r, a, b, scratch| {
            mul::karatsuba(r, a, b, scratch);
            0
        }),
        _ => Err(refused(Operation::Mul, algorithm)),
    }
}

pub(crate) fn refused(operation: Operation, algorithm: Algorithm) -> Error {
    Error::Algorithm {
        operation,
        algorithm,
    }
}

/// Refuses operands and carry words that do not fit the result.
pub(crate) fn check(
    r: &NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    carry: Option<&[Limb]>,
) -> Result<(), Error> {
    let count = r.shape().count;
    a.check_count(count)?;
    b.check_count(count)?;
    match carry {
        Some(words) if words.len() != count => Err(Error::CarryLength {
            count,
            found: words.len(),
        }),
        _ => Ok(()),
    }
}

/// Applies `one(r, a, b, scratch) -> carry` to every number.
fn batch<'a>(
    r: NumbersMut<'a>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    carry: Option<&'a mut [Limb]>,
    one: impl Fn(&mut [Limb], &[Limb], &[Limb], &mut Vec<Limb>) -> Limb + Sync + Send,
) -> Result<(), Error> {
    check(&r, a, b, carry.as_deref())?;
    let cut = Cut {
        size: PIECE_LIMBS / r.shape().width.max(1),
        threads: usize::MAX,
    };
    for_each_piece(r, carry, cut, |mut piece| {
        let (mut number_a, mut number_b, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        let mut number_r = memory::scratch(piece.width);
        for i in 0..piece.count {
            let a = a.gather(piece.first + i, &mut number_a);
            let b = b.gather(piece.first + i, &mut number_b);
            let carry = one(&mut number_r, a, b, &mut scratch);
            piece.store(i, &number_r);
            piece.store_carry(i, carry);
        }
    })
}

/// Limb `i` of a number that zeros extend.
fn limb(number: &[Limb], i: usize) -> Limb {
    number.get(i).copied().unwrap_or(0)
}
