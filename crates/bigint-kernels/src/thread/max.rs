//! The greater of two numbers (Scan): `a` where `a > b`, else `b`.
//!
//! Cost: a [comparison](super::compare), which mostly ends at the highest limbs, and one
//! pass. No scratch.

use super::Batches;
use super::compare::{Compare, GREATER};
use super::own::{self, Leaf, Numbers, Own};
use super::scan;
use crate::gpu::memory::Stride;
use bigint_core::Operation;

struct Max;

impl Leaf for Max {
    const OPERATION: Operation = Operation::Max;

    #[inline(always)]
    fn number<R: Own, N: Own>(Numbers { r, a, b, .. }: Numbers<R, N>) {
        let order = scan::number::<Compare>(a, b);
        own::copy(r, if order == GREATER { a } else { b });
    }
}

/// The numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    own::numbers::<Max, S>(batches);
}
