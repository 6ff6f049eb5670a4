//! From sums to limbs.

use super::{Warp, for_each, for_each_limb};
use crate::gpu::memory::{Number, Stride};
use crate::warp::{LANES, lookahead};
use bigint_core::{LIMB_BITS, Limb};

impl<const P: usize> Warp<P> {
    /// Turns the sums into limbs of a window, with `carry` coming in at its middle. Returns the carry out, the same in
    /// all lanes.
    #[inline(always)]
    pub(super) fn release<S: Stride>(
        self,
        by_fours: bool,
        window: Number<S>,
        earlier: Number<S>,
        carry: Limb,
    ) -> Limb {
        let Warp { group, shared, .. } = self;
        let lane = self.lane();
        let chunk = self.plan.chunk();
        let sums = shared.from_word(self.plan.sum(chunk * lane));
        // The limbs of earlier products, if there are any; then those of the result.
        let mut limbs = [[0; 4]; P];
        if Self::HAS_PIECES && earlier.width() > 0 {
            for_each_limb::<P>(
                #[inline(always)]
                |i, k| limbs[i][k] = earlier.limb(chunk * lane + (4 * i + k) as u32),
            );
        }
        let mut left = u64::from(if lane == LANES / 2 { carry } else { 0 });
        for_each_limb::<P>(
            #[inline(always)]
            |i, k| {
                let at = (4 * i + k) as u32;
                left += sums.word(Self::up(at)) + u64::from(limbs[i][k]);
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
            for_each_limb::<P>(
                #[inline(always)]
                |i, k| all &= limbs[i][k],
            );
            let (generate, propagate) = (group.ballot(carry != 0), group.ballot(all == Limb::MAX));
            let carries = lookahead::carries(generate, propagate, 0);
            out += carry + add(&mut limbs, lookahead::bit(carries, lane));
        }
        self.set_side_by_side(by_fours, window, limbs);
        group.shuffle(out, LANES - 1)
    }

    /// Sets the limbs of a window, of which each lane has `4 P`. They pass through shared memory, in the
    /// place of the sums, so that neighbouring lanes set neighbouring limbs.
    #[inline(always)]
    fn set_side_by_side<S: Stride>(self, by_fours: bool, window: Number<S>, limbs: [[Limb; 4]; P]) {
        let lane = self.lane();
        if by_fours && P == 1 {
            window.set_fours::<4, true>(4 * lane, limbs[0]);
            return;
        }
        let own = self.shared.from_word(self.plan.sums_at());
        self.group.sync();
        for_each::<P>(
            #[inline(always)]
            |i| own.set_four(Self::four_at(P as u32 * lane + i as u32), limbs[i]),
        );
        self.group.sync();
        if by_fours {
            for_each::<P>(
                #[inline(always)]
                |i| {
                    let at = lane + LANES * i as u32;
                    window.set_fours::<4, true>(4 * at, own.four(Self::four_at(at)));
                },
            );
        } else {
            let window = window.part(lane, u32::MAX);
            for_each_limb::<P>(
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
        four ^ four / 8 % (P & P.wrapping_neg()) as u32
    }
}

/// Adds one limb, and returns the carry out.
#[inline(always)]
fn add<const P: usize>(limbs: &mut [[Limb; 4]; P], limb: Limb) -> Limb {
    let mut carry = u64::from(limb);
    for_each_limb::<P>(
        #[inline(always)]
        |i, k| {
            carry += u64::from(limbs[i][k]);
            limbs[i][k] = carry as Limb;
            carry >>= LIMB_BITS;
        },
    );
    carry as Limb
}
