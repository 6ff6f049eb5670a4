//! The absolute difference (Scan): `b - a` if `a < b`, else `a - b`.
//!
//! Cost: a [comparison](super::compare), which mostly ends at the highest limbs, and one pass
//! over the limbs. No scratch.

use super::own::{self, Leaf, Numbers, Own};
use super::{Batches, CHUNK, compare};
use crate::gpu::carry;
use crate::gpu::memory::Stride;
use bigint_core::Operation;

struct AbsDiff;

impl Leaf for AbsDiff {
    const OPERATION: Operation = Operation::AbsDiff;

    #[inline(always)]
    fn number<R: Own, N: Own>(Numbers { r, a, b, .. }: Numbers<R, N>) {
        let is_negative = compare::is_less(a, b);
        let (mut borrow, mut at) = (0, 0);
        while at < r.width() {
            let (greater, less) = own::swapped(is_negative, a.four(at), b.four(at));
            let difference;
            (difference, borrow) = carry::sub(greater, less, borrow);
            r.set_four(at, difference);
            at += CHUNK;
        }
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    own::numbers::<AbsDiff, S>(batches);
}
