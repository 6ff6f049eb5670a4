//! From sums to limbs.

use super::{Warp, for_each, for_each_limb};
use crate::gpu::memory::{Number, Stride};
use crate::warp::{LANES, lookahead};
use bigint_core::{LIMB_BITS, Limb};

impl<const T: usize> Warp<T> {
    /// Turns the sums of a round into limbs of its window, with `carry` coming in. Returns the carry out, the same in
    /// all lanes.
    #[inline(always)]
    pub(super) fn release<const FOURS: bool, S: Stride>(
        self,
        round: u32,
        window: Number<S>,
        earlier: Number<S>,
        carry: Limb,
    ) -> Limb {
        let Warp { group, shared, .. } = self;
        let lane = self.lane();
        let chunk = 4 * T as u32;
        let first = self.plan.sum(round * Self::ROUND + chunk * lane);
        // The limbs of earlier products, if there are any; then those of the result.
        let mut limbs = [[0; 4]; T];
        if Self::HAS_PIECES && earlier.width() > 0 {
            for_each_limb::<T>(
                #[inline(always)]
                |i, k| limbs[i][k] = earlier.limb(chunk * lane + (4 * i + k) as u32),
            );
        }
        let mut left = u64::from(if lane == 0 { carry } else { 0 });
        for_each_limb::<T>(
            #[inline(always)]
            |i, k| {
                let at = (4 * i + k) as u32;
                left += shared.word(first + at) + u64::from(limbs[i][k]);
                limbs[i][k] = left as Limb;
                left >>= LIMB_BITS;
            },
        );
        let over = left as Limb;
        let below = group.rotate_up(over, 1);
        let below = if lane == 0 { 0 } else { below };
        let (lowest, carries) = limbs[0][0].overflowing_add(below);
        let mut out = over;
        if group.all(!carries) {
            // This is so for nearly all numbers, as carries between lanes are far less than a limb.
            limbs[0][0] = lowest;
        } else {
            let carry = add(&mut limbs, below);
            let mut all = Limb::MAX;
            for_each_limb::<T>(
                #[inline(always)]
                |i, k| all &= limbs[i][k],
            );
            let (generate, propagate) = (group.ballot(carry != 0), group.ballot(all == Limb::MAX));
            let carries = lookahead::carries(generate, propagate, 0);
            out += carry + add(&mut limbs, lookahead::bit(carries, lane));
        }
        self.set_side_by_side::<FOURS, S>(round, window, limbs);
        group.shuffle(out, LANES - 1)
    }

    /// Sets the limbs of a round's window, of which each lane has `4 T`. They pass through shared memory, in the
    /// place of the sums, so that neighbouring lanes set neighbouring limbs.
    #[inline(always)]
    fn set_side_by_side<const FOURS: bool, S: Stride>(
        self,
        round: u32,
        window: Number<S>,
        limbs: [[Limb; 4]; T],
    ) {
        let lane = self.lane();
        if FOURS && T == 1 {
            window.set_fours::<4, true>(4 * lane, limbs[0]);
            return;
        }
        let own = self.shared.from_word(self.plan.sum(round * Self::ROUND));
        self.group.sync();
        for_each::<T>(
            #[inline(always)]
            |i| own.set_four(Self::four_at(T as u32 * lane + i as u32), limbs[i]),
        );
        self.group.sync();
        if FOURS {
            for_each::<T>(
                #[inline(always)]
                |i| {
                    let at = lane + LANES * i as u32;
                    window.set_fours::<4, true>(4 * at, own.four(Self::four_at(at)));
                },
            );
        } else {
            let window = window.part(lane, u32::MAX);
            for_each_limb::<T>(
                #[inline(always)]
                |i, k| {
                    let up = LANES * (4 * i + k) as u32;
                    let at = lane + up;
                    window.set(up, own.limb(4 * Self::four_at(at / 4) + at % 4));
                },
            );
        }
    }

    /// The place of limbs `4 four .. 4 four + 4` of a round. Those that eight lanes set at once lie in different
    /// banks, and so do those that they load at once.
    #[inline(always)]
    fn four_at(four: u32) -> u32 {
        match T {
            2 => four ^ four / 8 % 2,
            4 => four ^ four / 8 % 4,
            _ => four,
        }
    }
}

/// Adds one limb, and returns the carry out.
#[inline(always)]
fn add<const T: usize>(limbs: &mut [[Limb; 4]; T], limb: Limb) -> Limb {
    let mut carry = u64::from(limb);
    for_each_limb::<T>(
        #[inline(always)]
        |i, k| {
            carry += u64::from(limbs[i][k]);
            limbs[i][k] = carry as Limb;
            carry >>= LIMB_BITS;
        },
    );
    carry as Limb
}
