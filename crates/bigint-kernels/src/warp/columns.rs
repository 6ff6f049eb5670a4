//! Multiplication by columns (Comba; [Honda 2015]), four columns to a lane.
//!
//! Lane `t` sums the columns of four `k + t` of a chunk of `LANES` fours, all by itself:
//! where lanes load fours of the operand that lies forwards, it is the same one for all,
//! and of the other one they load neighbours. What a lane has then is a number of nine
//! limbs ([`Sum`]): four of its own, four for the lane above, one for the lane above that.
//!
//! ```text
//! lane      0     1     2     3     next chunk
//! sum 0   llll  hhhh  t
//! sum 1         llll  hhhh  t
//! sum 2               llll  hhhh    t
//! sum 3                     llll    hhhh  t
//! ```
//!
//! They are added where they stand; what is sent past the top lane waits for the next
//! chunk. A lane's four then carries at most 2, which is added to the lane above, and what
//! still carries is found as in [`lookahead`].
//!
//! Lanes have unequal numbers of pairs: none shuffles before all are done.
//!
//! Cost: that of the columns, and nine shuffles and two votes for four limbs of the result.
//! No scratch.

use super::lookahead;
use crate::columns::{STEP, Sum};
use crate::gpu::carry;
use crate::gpu::warp::Group;
use bigint_core::Limb;

/// The limbs below limb `end` of what the sums of all fours amount to: calls `store` with
/// the place of four limbs in each lane.
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

/// What a chunk hands to the one above.
#[derive(Default)]
struct Handed {
    high: Waiting<[Limb; STEP], 1>,
    top: Waiting<Limb, 2>,
    over: Waiting<Limb, 1>,
    carry: Limb,
}

/// What the lowest `BY` lanes have received from the top ones of the chunk below.
#[derive(Clone, Copy, Default)]
struct Waiting<T, const BY: u32>(T);

impl<const BY: u32> Waiting<Limb, BY> {
    /// What the lane `BY` places below gives, for the lowest lanes in the chunk below.
    #[inline(always)]
    fn up<const LANES: u32>(&mut self, group: Group<LANES>, value: Limb) -> Limb {
        let received = group.rotate_up(value, BY);
        let waited = core::mem::replace(&mut self.0, received);
        if group.lane() < BY { waited } else { received }
    }
}

impl<const BY: u32> Waiting<[Limb; STEP], BY> {
    /// The four limbs that the lane `BY` places below gives, for the lowest lanes in the chunk
    /// below.
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
