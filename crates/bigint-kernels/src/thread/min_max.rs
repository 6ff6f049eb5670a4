//! Two numbers in order (Scan): `(b, a)` if `a > b`, else `(a, b)`.
//!
//! Cost: a [comparison](super::compare), which mostly ends at the highest limbs, and one pass
//! over the limbs. No scratch.

use super::own::{self, Leaf, Numbers, Own};
use super::{Batches, CHUNK, compare};
use crate::gpu::memory::Stride;
use bigint_core::Operation;

struct MinMax;

impl Leaf for MinMax {
    const OPERATION: Operation = Operation::MinMax;

    #[inline(always)]
    fn number<R: Own, N: Own>(Numbers { r, s, a, b, .. }: Numbers<R, N>) {
        let (is_swapped, mut at) = (compare::is_less(b, a), 0);
        while at < r.width() {
            let (least, greatest) = own::swapped(is_swapped, a.four(at), b.four(at));
            r.set_four(at, least);
            s.set_four(at, greatest);
            at += CHUNK;
        }
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    own::numbers::<MinMax, S>(batches);
}
