//! Numbers in the registers of their lanes (Scan): limb `LANES i + lane` stands in register `i` of each lane, up to eight of
//! them.
//!
//! All limbs of all operands are on their way before any is used, and each is read once. Lanes that go over their numbers a
//! chunk at a time leave the memory idle.
//!
//! Cost: a load for each chunk of an operand, two votes for each that is compared, four for each that is added. No scratch.

use super::Work;
use super::lookahead::{self, Digit};
use crate::gpu::known::Known;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::warp::Group;
use crate::squares::each;
use crate::thread::compare::{EQUAL, GREATER, LESS};
use bigint_core::Limb;
use bigint_core::kernel::{HELD, chunks_held};
use bigint_core::specialization::ScanByLanes;

/// The limbs of a number that the calling lane has.
pub type Limbs = [Limb; HELD];

/// How lanes hold numbers of so many chunks.
#[derive(Clone, Copy)]
pub struct Held<const LANES: u32> {
    group: Group<LANES>,
    chunks: u32,
}

impl<const LANES: u32> Held<LANES> {
    /// How lanes hold a number's operands and results; nothing where limbs are no neighbours, or too many.
    #[inline(always)]
    pub fn of<S: Stride>(work: &Work<LANES, S>) -> Option<Self> {
        if !S::UNIT {
            return None;
        }
        let [r, a, b, c] = [work.r, work.a, work.b, work.c].map(Number::width);
        let widest = r.max(a).max(b).max(c);
        let chunks = ScanByLanes::CHUNKS.or(chunks_held(widest as usize, LANES));
        let group = work.group;
        (chunks <= HELD as u32).then_some(Held { group, chunks })
    }

    /// Whether there are limbs in register `i`.
    #[inline(always)]
    fn has(self, i: usize) -> bool {
        (i as u32) < self.chunks
    }

    /// Loads a number.
    #[inline(always)]
    pub fn load(self, a: Number<impl Stride>) -> Limbs {
        let own = a.part(self.group.lane(), u32::MAX).settled();
        each(|i| match self.has(i) {
            true => own.limb(LANES * i as u32),
            false => 0,
        })
    }

    /// Sets a result, cut to its width.
    #[inline(always)]
    pub fn store(self, r: Number<impl Stride>, limbs: Limbs) {
        let own = r.part(self.group.lane(), u32::MAX).settled();
        let _: [Limb; HELD] = each(|i| {
            if self.has(i) {
                own.set(LANES * i as u32, limbs[i]);
            }
            0
        });
    }

    /// How two numbers compare, as [`compare`](crate::thread::compare) says it, in every lane.
    #[inline(always)]
    pub fn order(self, x: Limbs, y: Limbs) -> Limb {
        let mut order = EQUAL;
        let _: [Limb; HELD] = each(|i| {
            let i = HELD - 1 - i;
            // In a whole warp all lanes skip what is below the limbs that differ.
            let is_open = LANES < super::LANES || order == EQUAL;
            if self.has(i) && is_open {
                let greater = self.group.ballot(x[i] > y[i]);
                let less = self.group.ballot(x[i] < y[i]);
                // The highest lane that differs decides.
                if order == EQUAL && greater != less {
                    order = if greater > less { GREATER } else { LESS };
                }
            }
            0
        });
        order
    }

    /// The sum or the difference of two numbers with a carry in, and the carry out of the last chunk.
    #[inline(always)]
    pub fn chain<D: Digit>(self, x: Limbs, y: Limbs, mut carry: Limb) -> (Limbs, Limb) {
        let limbs = each(|i| {
            if !self.has(i) {
                return 0;
            }
            let (limb, carries) = lookahead::chunk::<D, LANES>(self.group, x[i], y[i], carry);
            carry = lookahead::out::<LANES>(carries);
            limb
        });
        (limbs, carry)
    }
}

/// The first number, or the second one where `is_second`, without a branch.
#[inline(always)]
pub fn either(is_second: bool, first: Limbs, second: Limbs) -> Limbs {
    each(|i| if is_second { second[i] } else { first[i] })
}
