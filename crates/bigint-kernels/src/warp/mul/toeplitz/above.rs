//! The limbs of operands above their columns, which are multiplied by multiply-adds.
//!
//! Let `X` be the weight above all columns. Then `(a + u X) (b + v X) = a b + (a v + u (b + v X)) X`. Lane `t` has
//! limbs `t`, `t + 32`, ... of the sum in parentheses, and adds up the products of limbs that belong to each: in
//! decimal digits, with `u` and `v` of one digit, 312 times 457 is `12 * 57 + (12 * 4 + 3 * 457) 100 = 142584`.
//!
//! Bound: the sums of `a b` are below 2^53. Each gets a number of 56 bits, and one below 2^36.
//!
//! Cost: for each limb of `v`, two products and two loads for each of `2 T + 1` limbs of a lane.

use super::{BLOCK, Warp, for_each};
use crate::gpu::carry::Accumulator;
use crate::gpu::memory::{Number, Stride};
use crate::warp::{LANES, lookahead};
use bigint_core::Limb;
use bigint_core::kernel::MOST_ABOVE;

impl<const T: usize> Warp<T> {
    /// Sets the zeros below and above the copy of `b`.
    #[inline(always)]
    pub(super) fn set_zeros_around_copy(self) {
        let lane = self.lane();
        let copy = self.plan.copy_at();
        self.shared.set_limb_below(lane, BLOCK, copy + lane, 0);
        let above = copy + BLOCK + self.plan.limbs() + MOST_ABOVE;
        self.shared.set_limb(above + lane, 0);
    }

    /// Moves the limbs above the columns to shared memory, with zeros above.
    #[inline(always)]
    pub(super) fn bring_in_above<S: Stride>(self, a: Number<S>, b: Number<S>) {
        let lane = self.lane();
        let from = self.plan.limbs();
        let (u, v) = (a.limb(from + lane), b.limb(from + lane));
        let (u_at, v_at) = (self.plan.top_at(), self.plan.copy_at() + BLOCK + from);
        self.shared.set_limb_below(lane, MOST_ABOVE, u_at + lane, u);
        self.shared.set_limb_below(lane, MOST_ABOVE, v_at + lane, v);
        let top = 2 * self.plan.sum(2 * from);
        self.shared.set_limb(top + lane, 0);
        self.shared.set_limb(top + LANES + lane, 0);
    }

    /// Adds the products with the limbs above the columns to the sums.
    #[inline(always)]
    pub(super) fn add_above(self) {
        let lane = self.lane();
        let (plan, shared) = (self.plan, self.shared);
        let mut sums = [[Accumulator::default(); 2]; T];
        let mut last = Accumulator::default();
        let mut at = lane + BLOCK;
        let mut i = 0;
        while i < plan.above {
            let u = shared.limb(plan.top_at() + i);
            let v = shared.limb(plan.copy_at() + BLOCK + plan.limbs() + i);
            let multiply = |sum: &mut Accumulator, up: u32| {
                sum.add_product(u, shared.limb(plan.copy_at() + at + up));
                sum.add_product(v, shared.limb(at + up));
            };
            for_each::<T>(
                #[inline(always)]
                |m| {
                    for_each::<2>(
                        #[inline(always)]
                        |k| multiply(&mut sums[m][k], LANES * (2 * m + k) as u32),
                    );
                },
            );
            multiply(&mut last, plan.limbs());
            at -= 1;
            i += 1;
        }
        // Of each sum, 56 bits go to its own limb, and the others to the limb above.
        for_each::<2>(
            #[inline(always)]
            |i| {
                let add = |sum: Accumulator, up: u32| {
                    let at = plan.sum(plan.limbs() + up + lane + i as u32);
                    let [low, middle, high] = sum.limbs();
                    let part = match i {
                        0 => u64::from(low) | u64::from(middle & 0xff_ffff) << 32,
                        _ => u64::from(middle >> 24 | high << 8) << 24,
                    };
                    shared.set_word(at, shared.word(at) + part);
                };
                for_each::<T>(
                    #[inline(always)]
                    |m| {
                        for_each::<2>(
                            #[inline(always)]
                            |k| add(sums[m][k], LANES * (2 * m + k) as u32),
                        );
                    },
                );
                if lane + (i as u32) < 2 * MOST_ABOVE {
                    add(last, plan.limbs());
                }
                self.group.sync();
            },
        );
    }

    /// Sets the limbs of the product above those of a round, with `carry` coming in.
    #[inline(always)]
    pub(super) fn release_above<S: Stride>(self, r: Number<S>, carry: Limb) {
        let (group, lane) = (self.group, self.lane());
        let at = 2 * self.plan.limbs() + lane;
        let is_there = lane < 2 * MOST_ABOVE;
        let sum = if is_there {
            self.shared.word(self.plan.sum(at))
        } else {
            0
        };
        let below = group.rotate_up((sum >> 32) as Limb, 1);
        let below = if lane == 0 { carry } else { below };
        let (limb, out) = (sum as Limb).overflowing_add(below);
        let (generate, propagate) = (group.ballot(out), group.ballot(limb == Limb::MAX));
        let carries = lookahead::carries(generate, propagate, 0);
        if is_there {
            r.set(at, limb.wrapping_add(lookahead::bit(carries, lane)));
        }
    }
}
