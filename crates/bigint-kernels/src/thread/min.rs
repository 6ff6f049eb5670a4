//! The lesser of two numbers (Scan): `b` if `a > b`, else `a`.
//!
//! Cost: a [comparison](super::compare), which mostly ends at the highest limbs, and one pass
//! over the limbs. No scratch.

use super::own::{self, Leaf, Numbers, Own};
use super::{Batches, compare};
use crate::gpu::memory::Stride;
use bigint_core::Operation;

struct Min;

impl Leaf for Min {
    const OPERATION: Operation = Operation::Min;

    #[inline(always)]
    fn number<R: Own, N: Own>(Numbers { r, a, b, .. }: Numbers<R, N>) {
        own::copy(r, if compare::is_less(b, a) { b } else { a });
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    own::numbers::<Min, S>(batches);
}
