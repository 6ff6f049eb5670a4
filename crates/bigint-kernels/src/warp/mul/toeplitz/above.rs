//! The limbs of operands above their columns, which are multiplied by multiply-adds.
//!
//! Let `X` be the weight above all columns. Then `(a + u X) (b + v X) = a b + (a v + u (b + v X)) X`. Lane `t` adds up
//! limbs `t`, `t + 32`, ... of the sum in parentheses: the lower halves of the products that belong to each and the upper
//! halves of those of the limb below. In decimal digits, with `u` and `v` of one digit, 312 times 457 is
//! `12 * 57 + (12 * 4 + 3 * 457) 100 = 142584`.
//!
//! Bound: each is below 2^34 for each of them, and the sums of `a b` are below 2^53.
//!
//! Cost: for each limb of `v`, four products and four loads for each of `2 P + 1` limbs of a lane.

use super::{BLOCK, Warp, for_each_column, reversed};
use crate::gpu::memory::{Number, Stride};
use crate::gpu::wide;
use crate::warp::LANES;
use bigint_core::kernel::MOST_ABOVE;
use bigint_core::{LIMB_BITS, Limb};

/// Where `v` begins among the limbs above, which has zeros around it, how far above that there are any, and where `u` begins.
const V: u32 = 4;
const ZEROS: u32 = 7;
const U: u32 = 12;

impl<const P: usize> Warp<P> {
    /// Moves the limbs above the columns to shared memory, those of `b` with bytes reversed.
    #[inline(always)]
    pub(super) fn bring_in_above<S: Stride>(self, a: Number<S>, b: Number<S>) {
        let lane = self.lane();
        let [u, v] = [(a, U), (b, V)].map(
            #[inline(always)]
            |(x, from)| x.part(Self::LIMBS, u32::MAX).limb(lane.wrapping_sub(from)),
        );
        let limb = if lane < U { reversed(v) } else { u };
        let at = self.plan.top_at() + lane;
        self.shared.set_limb_below(lane, U + V, at, limb);
    }

    /// Sets the sums above the columns to those of products with limbs above them.
    #[inline(always)]
    pub(super) fn add_above(self) {
        let lane = self.lane();
        let (shared, top) = (self.shared, self.plan.top_at());
        let (mut sums, mut last) = ([[0; 2]; P], 0);
        let mut i = 0;
        while i < self.plan.above {
            let (u, v) = (shared.limb(top + U + i), reversed(shared.limb(top + V + i)));
            // Limbs of both operands, with zeros below them.
            let of_b = |at: u32| reversed(shared.limb(self.first_place(at)));
            let of_a = |at: u32| shared.limb((BLOCK + at).wrapping_sub(i));
            let low = |x: Limb, y: Limb| u64::from(x.wrapping_mul(y));
            let high = |x: Limb, y: Limb| wide::multiply(x, y) >> LIMB_BITS;
            for_each_column::<P>(
                #[inline(always)]
                |k, half| {
                    let at = lane + LANES * (2 * k + half) as u32;
                    let [b, below] = [at.wrapping_sub(i), at.wrapping_sub(i + 1)].map(of_b);
                    sums[k][half] += low(u, b)
                        + low(v, of_a(at))
                        + high(u, below)
                        + high(v, of_a(at.wrapping_sub(1)));
                },
            );
            let at = lane + Self::LIMBS;
            let [b, below] = [i, i + 1].map(
                #[inline(always)]
                |down| match lane < down {
                    true => of_b(at - down),
                    false => reversed(shared.limb(top + V + (lane - down).min(ZEROS))),
                },
            );
            last += low(u, b) + high(u, below) + low(v, of_a(at)) + high(v, of_a(at - 1));
            i += 1;
        }
        let from = shared.from_word(self.plan.sum(lane) + Self::up(Self::LIMBS));
        for_each_column::<P>(
            #[inline(always)]
            |k, half| from.set_word(Self::up(LANES * (2 * k + half) as u32), sums[k][half]),
        );
        if lane < 2 * MOST_ABOVE {
            from.set_word(Self::up(Self::LIMBS), last);
        }
        self.group.sync();
    }

    /// Sets the limbs of the product above those of the columns, with `carry` coming in.
    #[inline(always)]
    pub(super) fn release_above<S: Stride>(self, r: Number<S>, carry: Limb) {
        let lane = self.lane();
        let (mut left, mut limb) = (u64::from(carry), 0);
        let end = 2 * self.plan.above;
        let mut at = 0;
        while at < end {
            left += self.shared.word(self.plan.sum(2 * Self::LIMBS + at));
            if at == lane {
                limb = left as Limb;
            }
            left >>= LIMB_BITS;
            at += 1;
        }
        if lane < end {
            r.set(2 * Self::LIMBS + lane, limb);
        }
    }
}
