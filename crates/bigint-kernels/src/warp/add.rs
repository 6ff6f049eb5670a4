//! Addition, all limbs at once (CarryLookahead; [Langer 2015], [Bringgaard 2024]).
//!
//! A limb's sum overflows, which generates a carry, or is all ones, which propagates
//! one; never both. The rest is [`lookahead`]'s: the maths, the cost and how a batch
//! is spread over warps.

use super::Batches;
use super::lookahead::{self, Digit};
use crate::gpu::memory::{Number, Stride};
use crate::gpu::warp::Group;
use bigint_core::Limb;

/// A digit of `a + b`.
#[derive(Clone, Copy)]
pub struct Sum;

impl Digit for Sum {
    const THROUGH: Limb = Limb::MAX;

    #[inline(always)]
    fn limb(x: Limb, y: Limb) -> Limb {
        x.wrapping_add(y)
    }

    #[inline(always)]
    fn generates(x: Limb, _: Limb, limb: Limb) -> bool {
        limb < x
    }

    #[inline(always)]
    fn carried(limb: Limb, carry: Limb) -> Limb {
        limb.wrapping_add(carry)
    }
}

/// `x + y + carry` of one chunk, and the word of carries into its lanes; bit
/// `LANES` is the carry out. `carry` is 0 or 1.
#[inline(always)]
pub fn chunk<const LANES: u32>(group: Group<LANES>, x: Limb, y: Limb, carry: Limb) -> (Limb, u64) {
    lookahead::chunk::<Sum, LANES>(group, x, y, carry)
}

/// The sums of the calling warp's stretch.
#[inline(always)]
pub fn carry_lookahead<S: Stride>(batches: Batches<'_, 32, S>) {
    lookahead::batch::<Sum, S>(batches);
}

/// `r = a + b`, cut to the width of `r`; returns the carry out of its top limb,
/// in every lane.
#[inline(always)]
pub fn number<const LANES: u32>(
    group: Group<LANES>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
) -> Limb {
    lookahead::number::<Sum, LANES>(group, r, a, b)
}
