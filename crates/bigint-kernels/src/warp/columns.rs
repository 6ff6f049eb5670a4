//! Multiplication by columns (Comba; [Honda 2015]), with four columns for each lane.
//!
//! In a chunk of `LANES` groups of four columns that begins with group `k`, lane `t` sums the
//! columns of group `k + t` by itself. Lanes load the same limbs of one operand, and
//! neighbouring limbs of the other. The sum of a lane is a number of nine limbs ([`Sum`]): four
//! for the lane itself, four for the lane above, and one for the lane above that.
//!
//! ```text
//! lane      0     1     2     3     next chunk
//! sum 0   llll  hhhh  t
//! sum 1         llll  hhhh  t
//! sum 2               llll  hhhh    t
//! sum 3                     llll    hhhh  t
//! ```
//!
//! Limbs in the same place are added. Limbs that go past the top lane wait for the next chunk.
//! The carry out of a lane's four limbs is then at most 2, and is added to the lane above.
//! Carries that this causes are found as in [`lookahead`].
//!
//! Lanes have different numbers of pairs to sum, so all wait for one another before they
//! shuffle.
//!
//! Cost: that of the columns, and nine shuffles and two votes for each lane's four limbs of the
//! result. No scratch.

use super::lookahead;
use crate::columns::{STEP, Sum};
use crate::gpu::carry;
use crate::gpu::warp::Group;
use bigint_core::Limb;

/// Adds up the sums of all groups of four columns, and calls `store` in each lane with the
/// place and the values of four limbs, up to limb `end`. `sum` computes the sum of a group.
#[inline(always)]
pub fn each_four<const LANES: u32>(
    group: Group<LANES>,
    end: u32,
    sum: impl Fn(u32) -> Sum,
    store: impl Fn(u32, [Limb; STEP]),
) {
    let lane = group.lane();
    let mut chunk = Handed::default();
    let mut k = 0;
    while STEP as u32 * k < end {
        let Sum { low, high, top } = sum(k + lane);
        group.sync();
        let high = chunk.high.up(group, high);
        let top = chunk.top.up(group, top);
        let (limbs, over) = carry::add(low, high, 0);
        let (limbs, more) = carry::add(limbs, [top, 0, 0, 0], 0);
        let over = chunk.over.up(group, over + more);
        let (limbs, generated) = carry::add(limbs, [over, 0, 0, 0], 0);
        let [a, b, c, d] = limbs;
        let carries = lookahead::carries(
            group.ballot(generated != 0),
            group.ballot(a & b & c & d == Limb::MAX),
            chunk.carry,
        );
        chunk.carry = (carries >> group.lanes()) as Limb & 1;
        let (limbs, _) = carry::add(limbs, [0; STEP], (carries >> lane) as Limb & 1);
        store(STEP as u32 * (k + lane), limbs);
        k += group.lanes();
    }
}

/// The limbs and the carry that a chunk hands to the one above.
#[derive(Default)]
struct Handed {
    high: Waiting<[Limb; STEP], 1>,
    top: Waiting<Limb, 2>,
    over: Waiting<Limb, 1>,
    carry: Limb,
}

/// The values that the lowest `BY` lanes have received from the top lanes in the chunk below.
#[derive(Clone, Copy, Default)]
struct Waiting<T, const BY: u32>(T);

impl<const BY: u32> Waiting<Limb, BY> {
    /// Hands `value` to the lane `BY` places above, and returns the value received. The lowest
    /// lanes receive those of the chunk below.
    #[inline(always)]
    fn up<const LANES: u32>(&mut self, group: Group<LANES>, value: Limb) -> Limb {
        let received = group.rotate_up(value, BY);
        let waited = core::mem::replace(&mut self.0, received);
        if group.lane() < BY { waited } else { received }
    }
}

impl<const BY: u32> Waiting<[Limb; STEP], BY> {
    /// Hands four limbs to the lane `BY` places above, and returns those received. The lowest
    /// lanes receive those of the chunk below.
    #[inline(always)]
    fn up<const LANES: u32>(&mut self, group: Group<LANES>, value: [Limb; STEP]) -> [Limb; STEP] {
        let [a, b, c, d] = self.0;
        let [v, x, y, z] = value;
        let mut waiting = [a, b, c, d].map(Waiting::<Limb, BY>);
        let limbs = [
            waiting[0].up(group, v),
            waiting[1].up(group, x),
            waiting[2].up(group, y),
            waiting[3].up(group, z),
        ];
        self.0 = waiting.map(|waiting| waiting.0);
        limbs
    }
}
