//! The greater of two numbers (Scan): `a` if `a > b`, else `b`.
//!
//! Cost: a [comparison](super::compare), which mostly ends at the highest limbs, and one pass
//! over the limbs. No scratch.

use super::own::{self, Leaf, Numbers, Own};
use super::{Batches, compare};
use crate::gpu::memory::Stride;
use bigint_core::Operation;

struct Max;

impl Leaf for Max {
    const OPERATION: Operation = Operation::Max;

    #[inline(always)]
    fn number<R: Own, N: Own>(Numbers { r, a, b, .. }: Numbers<R, N>) {
        own::copy(r, if compare::is_less(b, a) { a } else { b });
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    own::numbers::<Max, S>(batches);
}
