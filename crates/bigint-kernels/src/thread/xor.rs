//! Exclusive disjunction, bit by bit (Limbwise): `r[j] = a[j] ^ b[j]`. Operands are
//! zero-extended.
//!
//! [`limbwise`](super::limbwise) explains the method and its cost.

use super::Batches;
use super::limbwise::{self, Limbwise};
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;

/// The operation `a ^ b`, limb by limb.
pub struct Xor;

impl Limbwise for Xor {
    const GUIDE: Option<usize> = None;

    type Plan = ();

    #[inline(always)]
    fn plan(_: Limb) {}

    #[inline(always)]
    fn limb<S: Stride>([a, b, _]: [Number<S>; 3], (): (), at: u32) -> Limb {
        a.limb(at) ^ b.limb(at)
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn limbwise<S: Stride>(batches: Batches<'_, S>) {
    limbwise::numbers::<Xor, S>(batches);
}
