//! The sum of two signed numbers (Scan), computed by lanes of a warp.
//! [`thread::add_signed`](crate::thread::add_signed) explains the maths.
//!
//! Lane `t` has limbs `t`, `t + LANES` and so on. The carries of a chunk are found as
//! [`lookahead`](super::lookahead) explains. The comparison is left out if no number of the
//! warp needs it.
//!
//! Cost: two votes for each chunk, and the comparison. No scratch.

use super::add::Sum;
use super::held::{Held, either};
use super::lookahead::out;
use super::{Batches, add, scan};
use crate::gpu::memory::Stride;
use crate::thread::add_signed::Signs;
use crate::thread::compare::{Compare, GREATER, LESS};
use bigint_core::Limb;

/// Computes the numbers that fall to the calling lane's group.
#[inline(always)]
pub fn scan<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        let group = work.group;
        let signs = Signs::new(work.c.limb(0));
        // Of several groups in a warp some would compare, and others not.
        if LANES == super::LANES
            && let Some(held) = Held::of(&work)
        {
            let (a, b) = (held.load(work.a), held.load(work.b));
            let order = if signs.differ() {
                held.order(a, b)
            } else {
                GREATER
            };
            let carry = Limb::from(signs.differ());
            let (x, y) = (either(order == LESS, a, b), either(order == LESS, b, a));
            let (sum, _) = held.chain::<Sum>(x, y.map(|limb| limb ^ carry.wrapping_neg()), carry);
            held.store(work.r, sum);
            if group.lane() == 0 {
                work.s.set(0, signs.of_sum(order));
            }
            continue;
        }
        // All groups of the warp take part in the comparison.
        let mut order = GREATER;
        if !group.all(!signs.differ()) {
            let found = scan::number::<Compare, LANES>(group, work.a, work.b);
            if signs.differ() {
                order = found;
            }
        }
        let (x, y) = if order == LESS {
            (work.b, work.a)
        } else {
            (work.a, work.b)
        };
        let mut carry = Limb::from(signs.differ());
        let complement = carry.wrapping_neg();
        let mut at = 0;
        while at < work.r.width() {
            let own = at + group.lane();
            let y = y.limb(own) ^ complement;
            let (limb, carries) = add::chunk::<LANES>(group, x.limb(own), y, carry);
            work.r.set(own, limb);
            carry = out::<LANES>(carries);
            at += LANES;
        }
        if group.lane() == 0 {
            work.s.set(0, signs.of_sum(order));
        }
    }
}
