//! Comparison (Scan): 0, 1 or 2 as `a` is less than, equal to or greater than `b`. The word of a
//! place `j` where limbs differ is `2 (j + 1)` if the limb of `a` is less, and one more if it is
//! greater. The greatest word is that of the highest such place.
//!
//! [`scan`](super::scan) explains the method and its cost.

use super::Batches;
use super::own::Own;
use super::scan::{self, Scan};
use crate::gpu::memory::Stride;
use bigint_core::{Limb, Operation};

/// The finding that `a` is less than `b`.
pub const LESS: Limb = 0;

/// The finding that `a` and `b` are equal.
pub const EQUAL: Limb = 1;

/// The finding that `a` is greater than `b`.
pub const GREATER: Limb = 2;

/// The order of two numbers.
pub struct Compare;

impl Scan for Compare {
    const OPERATION: Operation = Operation::Compare;
    const NOTHING: Limb = 0;
    const SETTLES: bool = true;

    #[inline(always)]
    fn word(x: Limb, y: Limb, at: u32) -> Limb {
        if x == y {
            0
        } else {
            2 * (at + 1) + Limb::from(x > y)
        }
    }

    #[inline(always)]
    fn both(first: Limb, second: Limb) -> Limb {
        first.max(second)
    }

    #[inline(always)]
    fn answer(word: Limb, _: u32) -> Limb {
        if word == 0 { EQUAL } else { 2 * (word & 1) }
    }
}

/// Whether `a < b`. Mostly the highest limbs decide it, and then they are all that is loaded twice,
/// for this and for the result.
#[inline(always)]
pub fn is_less(a: impl Own, b: impl Own) -> bool {
    let top = a.width().max(b.width()).wrapping_sub(1);
    let (x, y) = (a.limb(top), b.limb(top));
    if x == y {
        scan::number::<Compare>(a, b) == LESS
    } else {
        x < y
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    scan::numbers::<Compare, S>(batches);
}
