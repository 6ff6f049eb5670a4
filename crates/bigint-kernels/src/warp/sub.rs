//! Subtraction, all limbs at once (CarryLookahead; [Langer 2015], [Bringgaard 2024]).
//!
//! A limb's difference is negative, which generates a borrow, or zero, which
//! propagates one; never both. The rest is [`lookahead`]'s: the maths, the cost and
//! how a batch is spread over warps.

use super::Batches;
use super::lookahead::{self, Digit};
use crate::gpu::memory::{Number, Stride};
use crate::gpu::warp::Group;
use bigint_core::Limb;

/// A digit of `a - b`.
#[derive(Clone, Copy)]
pub struct Difference;

impl Digit for Difference {
    const THROUGH: Limb = 0;

    #[inline(always)]
    fn limb(x: Limb, y: Limb) -> Limb {
        x.wrapping_sub(y)
    }

    #[inline(always)]
    fn generates(x: Limb, y: Limb, _: Limb) -> bool {
        x < y
    }

    #[inline(always)]
    fn carried(limb: Limb, borrow: Limb) -> Limb {
        limb.wrapping_sub(borrow)
    }
}

/// The differences of the calling warp's stretch.
#[inline(always)]
pub fn carry_lookahead<S: Stride>(batches: Batches<'_, 32, S>) {
    lookahead::batch::<Difference, S>(batches);
}

/// `r = a - b` modulo the width of `r`; returns the borrow out of its top limb,
/// in every lane.
#[inline(always)]
pub fn number<const LANES: u32>(
    group: Group<LANES>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
) -> Limb {
    lookahead::number::<Difference, LANES>(group, r, a, b)
}
