//! The product of two numbers, as fast as this machine can compute it.
//!
//! ```text
//! mul -> by length of the shorter operand:
//!        basecase   schoolbook (mulx/adx rows, or IFMA digits)
//!        karatsuba  equal lengths; longer operands are cut into such pieces
//!        toom3      the same, in three parts
//!        toom4      the same, in four parts
//!        transform  number-theoretic transform modulo four primes
//!     low            where the result is narrower than the product
//! ```
//!
//! Numbers are slices of 64-bit limbs, least significant first. The product of a number with
//! itself (the same slice twice) is computed as a square.

mod basecase;
pub(crate) mod division;
pub(crate) mod euclid;
mod isa;
pub(crate) mod jacobi;
mod karatsuba;
pub(crate) mod limbs;
mod long;
mod low;
pub(crate) mod reciprocal;
pub(crate) mod root;
#[cfg(test)]
mod tests;
mod toom3;
mod toom4;
mod transform;
mod tuning;
pub mod weighted;

use self::isa::Isa;
pub use self::jacobi::Symbol;
pub(crate) use self::transform::{Factor, Fractions};
pub use self::tuning::{NumberTuning, PathThresholds, Thresholds};
use crate::fast::Path;
use crate::memory;

/// `r = a b mod 2^(64 r.len())`: the product, or its low limbs if the result is narrower.
///
/// `path` names the instructions to use. If the machine lacks them, it uses the best that it
/// has below them. With `parallel`, products long enough for the transform use all threads
/// ([`crate::threads`]). The result is the same either way.
///
/// Operands of `n >= m` limbs cost about `n/m` products of `m` limbs. An empty operand is zero.
/// A result narrower than the product costs less, if the product is too short for the
/// transform: half as much for the schoolbook product of two numbers as long as the result.
///
/// The function allocates its scratch. Karatsuba and Toom-3 use up to `4 m` limbs and a few
/// more. The transform keeps a buffer for each thread between calls, about six times as long as
/// the product (three times for a square). A buffer of more than 256 MiB is not kept.
///
/// ```
/// use bigint_cpu::{Path, fast::number};
/// let ones = [u64::MAX; 2];
/// let mut square = [0; 4];
/// number::mul(&mut square, &ones, &ones, Path::best(), false);
/// assert_eq!(square, [1, 0, u64::MAX - 1, u64::MAX]);
/// ```
///
/// # Panics
///
/// If `r.len() > a.len() + b.len()`. If scratch cannot be allocated, for which
/// [`crate::compute`] returns an error, this unwinds without a message.
#[inline]
pub fn mul(r: &mut [u64], a: &[u64], b: &[u64], path: Path, parallel: bool) {
    let isa = Isa::of(path);
    if !basecase::mul_short(r, a, b, isa) {
        let thresholds = Thresholds::of_isa(isa, std::ptr::eq(a, b));
        dispatch(r, a, b, isa, &thresholds, parallel);
    }
}

/// Computes [`mul`] with the path's thresholds for products or for squares.
#[inline]
pub(crate) fn mul_tuned(
    r: &mut [u64],
    a: &[u64],
    b: &[u64],
    path: Path,
    tuning: &NumberTuning,
    parallel: bool,
) {
    let isa = Isa::of(path);
    if !basecase::mul_short(r, a, b, isa) {
        dispatch(r, a, b, isa, tuning.of(path).of(a, b), parallel);
    }
}

/// Computes `s = a d + b c`, and `p = c d` where it is wanted, of two fractions `(a, c)` and `(b, d)` by
/// transforms, modulo the powers of `2^64` at the ends of `s` and `p`, which are no longer than the
/// longest product.
pub(crate) fn sum_of_fractions(
    s: &mut [u64],
    p: Option<&mut [u64]>,
    fractions: Fractions<'_>,
    path: Path,
    parallel: bool,
) {
    transform::sum_of_fractions(s, p, fractions, Isa::of(path), parallel);
}

/// At least `counts[i]` limbs of `f factors[i]` by transforms, up to the last below `B^n`, for `f` of `n`
/// limbs. Of a factor of `m` limbs, the upper `n - m` are right to a unit, as [`Factor::middle`] has them.
pub(crate) fn middles(
    f: &[u64],
    factors: [&[u64]; 2],
    counts: [usize; 2],
    path: Path,
    parallel: bool,
) -> [Vec<u64>; 2] {
    transform::middles(f, factors, counts, Isa::of(path), parallel)
}

/// Computes [`mul`] with other thresholds, to tune them.
///
/// # Panics
///
/// If `r.len() > a.len() + b.len()`.
pub fn mul_with(
    r: &mut [u64],
    a: &[u64],
    b: &[u64],
    path: Path,
    thresholds: Thresholds,
    parallel: bool,
) {
    dispatch(r, a, b, Isa::of(path), &thresholds, parallel);
}

#[inline(never)]
fn dispatch(
    r: &mut [u64],
    a: &[u64],
    b: &[u64],
    isa: Isa,
    thresholds: &Thresholds,
    parallel: bool,
) {
    let (a, b) = (&a[..a.len().min(r.len())], &b[..b.len().min(r.len())]);
    assert!(
        r.len() <= a.len() + b.len(),
        "a product is as long as both operands together"
    );
    if r.len() < a.len() + b.len() {
        return low::mul(r, a, b, isa, thresholds, parallel);
    }
    let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    // The transform of the shorter operand serves all pieces of a longer one.
    let transform = if a.len() / 4 >= b.len() {
        thresholds.transform / 8 * 5
    } else {
        thresholds.transform
    };
    if b.is_empty() {
        r.fill(0);
    } else if b.len() < thresholds.karatsuba().min(transform) {
        basecase::mul(r, a, b, isa);
    } else if b.len() < transform {
        by_pieces(r, a, b, isa, thresholds);
    } else {
        transform::mul(r, a, b, isa, parallel);
    }
}

/// `r = a b`, by splitting `a` into pieces that are as long as `b`.
fn by_pieces(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa, thresholds: &Thresholds) {
    let m = b.len();
    with_scratch(scratch_len(m, thresholds), |scratch| {
        if a.len() == m {
            return equal(r, a, b, scratch, isa, thresholds);
        }
        r[..m].fill(0);
        let mut part = memory::scratch(2 * m);
        for (i, piece) in a.chunks(m).enumerate() {
            let part = &mut part[..piece.len() + m];
            if piece.len() == m {
                equal(part, piece, b, scratch, isa, thresholds);
            } else if piece.len() < thresholds.karatsuba() {
                basecase::mul(part, b, piece, isa);
            } else {
                by_pieces(part, b, piece, isa, thresholds);
            }
            // The low half is added to the high half of the piece before; the high half is new.
            let (low, high) = part.split_at(m);
            let r = &mut r[i * m..][..part.len()];
            r[m..].copy_from_slice(high);
            let overflow = limbs::add_assign(r, low);
            debug_assert!(!overflow);
        }
    });
}

/// The algorithm that splits two operands of `n` limbs each.
enum Split {
    None,
    InTwo,
    InThree,
    InFour,
}

impl Split {
    fn of(n: usize, thresholds: &Thresholds) -> Self {
        if n < thresholds.karatsuba() {
            Split::None
        } else if n < thresholds.toom3().min(thresholds.toom4()) {
            Split::InTwo
        } else if n < thresholds.toom4() {
            Split::InThree
        } else {
            Split::InFour
        }
    }
}

/// The limbs of scratch for [`equal`].
fn scratch_len(mut n: usize, thresholds: &Thresholds) -> usize {
    let mut sum = 0;
    loop {
        let (length, part) = match Split::of(n, thresholds) {
            Split::None => return sum,
            Split::InTwo => karatsuba::scratch_len(n),
            Split::InThree => toom3::scratch_len(n),
            Split::InFour => toom4::scratch_len(n),
        };
        sum += length;
        n = part;
    }
}

/// Runs `f` with so many limbs of scratch. They are on the stack if clearing them there is
/// faster than allocating them.
fn with_scratch(length: usize, f: impl FnOnce(&mut [u64])) {
    match length {
        0..=64 => f(&mut [0; 64][..length]),
        65..=256 => f(&mut [0; 256][..length]),
        _ => f(&mut memory::scratch(length)),
    }
}

/// `r = a b`, for operands of the same length.
fn equal(
    r: &mut [u64],
    a: &[u64],
    b: &[u64],
    scratch: &mut [u64],
    isa: Isa,
    thresholds: &Thresholds,
) {
    let product = |r: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]| {
        equal(r, a, b, scratch, isa, thresholds);
    };
    match Split::of(a.len(), thresholds) {
        Split::None => basecase::mul(r, a, b, isa),
        Split::InTwo => karatsuba::mul(r, a, b, scratch, &product),
        Split::InThree => toom3::mul(r, a, b, scratch, &product),
        Split::InFour => toom4::mul(r, a, b, scratch, &product),
    }
}
