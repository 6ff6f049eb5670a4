//! Turning sums, one for each limb and wider than a limb, into limbs, with carries along a block
//! of threads.
//!
//! Every thread takes 16 neighbouring sums in order. Its carry, of at most a limb, is added by the
//! thread above, which may carry once more. Votes find out which threads generate and which
//! propagate that carry, first within warps and then among warps. One addition decides all carries
//! of a warp, as in [`crate::warp::lookahead`].

use crate::gpu::block::Team;
use crate::gpu::stretch::Stretch;
use crate::gpu::warp::Group;
use crate::warp::lookahead::carries;
use bigint_core::{LIMB_BITS, Limb};

/// The sums, and the limbs, of a thread.
pub const CHUNK: usize = 16;

/// Turns the sums of all threads into limbs, and returns the limbs of the calling thread and the
/// carry out of them. The caller gives the thread's sums as `sum(i)` for `i < 16`, each below
/// 2^63.
///
/// `links` has two limbs for each warp of the block. If the group is part of a warp, the team is
/// one warp.
#[inline(always)]
pub fn release<const THREADS: u32, const LANES: u32>(
    team: Team<THREADS>,
    group: Group<LANES>,
    links: Stretch,
    sum: impl Fn(u32) -> u64,
) -> ([Limb; CHUNK], Limb) {
    let (lane, number) = (group.lane(), team.thread() / 32);
    let warps = THREADS / 32;
    let mut limbs = [0; CHUNK];
    let mut left = 0_u64;
    let mut i = 0;
    while i < CHUNK {
        left += sum(i as u32);
        limbs[i] = left as Limb;
        left >>= LIMB_BITS;
        i += 1;
    }
    let over = left as Limb;
    let mut below = group.rotate_up(over, 1);
    if warps > 1 {
        if lane == 31 {
            links.set_limb(number, over);
        }
        team.sync();
        if lane == 0 && number > 0 {
            below = links.limb(number - 1);
        }
    }
    if number == 0 && lane == 0 {
        below = 0;
    }
    let carry = add(&mut limbs, below);
    let all_ones = limbs.iter().fold(Limb::MAX, |all, limb| all & limb) == Limb::MAX;
    let (generate, propagate) = (group.ballot(carry != 0), group.ballot(all_ones));
    let mut carry_in = 0;
    if warps > 1 {
        // A warp hands two bits to the others: its carry out if none comes in, and whether a carry
        // that comes in goes through.
        let out = ((generate << 1) + propagate) >> 32;
        let through = u64::from(propagate == u64::from(u32::MAX)) << 1;
        if lane == 0 {
            links.set_limb(warps + number, (out | through) as Limb);
        }
        team.sync();
        let of_warp = if lane < warps {
            links.limb(warps + lane)
        } else {
            0
        };
        let carries = carries(
            group.ballot(of_warp & 1 != 0),
            group.ballot(of_warp & 2 != 0),
            0,
        );
        carry_in = (carries >> number) as Limb & 1;
    }
    let carry_in = (carries(generate, propagate, carry_in) >> lane) as Limb & 1;
    let again = add(&mut limbs, carry_in);
    (limbs, over + carry + again)
}

/// Adds one limb, and returns the carry out.
#[inline(always)]
fn add(limbs: &mut [Limb; CHUNK], limb: Limb) -> Limb {
    let mut carry = u64::from(limb);
    let mut i = 0;
    while i < CHUNK {
        carry += u64::from(limbs[i]);
        limbs[i] = carry as Limb;
        carry >>= LIMB_BITS;
        i += 1;
    }
    carry as Limb
}
