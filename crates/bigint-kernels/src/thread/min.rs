//! The lesser of two numbers (Scan): `b` where `a > b`, else `a`.
//!
//! Cost: a [comparison](super::compare), which mostly ends at the highest limbs, and one
//! pass. No scratch.

use super::Batches;
use super::compare::{Compare, GREATER};
use super::own::{self, Leaf, Numbers, Own};
use super::scan;
use crate::gpu::memory::Stride;
use bigint_core::Operation;

struct Min;

impl Leaf for Min {
    const OPERATION: Operation = Operation::Min;

    #[inline(always)]
    fn number<R: Own, N: Own>(Numbers { r, a, b, .. }: Numbers<R, N>) {
        let order = scan::number::<Compare>(a, b);
        own::copy(r, if order == GREATER { b } else { a });
    }
}

/// The numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    own::numbers::<Min, S>(batches);
}
