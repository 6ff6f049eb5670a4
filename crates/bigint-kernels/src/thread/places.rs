//! Tiles whose numbers pass through places in shared memory. Each thread has its own places,
//! and reads and writes them limb by limb.
//!
//! If numbers follow each other without a gap, a tile is one run of memory, which the warp
//! moves four limbs at a time, whatever the numbers' width. Otherwise each thread moves its own
//! number, which suits interleaved limbs.

use crate::gpu::memory::{Batch, Stride};
use crate::gpu::shared::{Places, SharedNumber};
use crate::gpu::warp::Group;
use bigint_core::Limb;

/// The threads of a warp.
const WARP: u32 = 32;

/// A tile, seen from one of the warp's threads.
#[derive(Clone, Copy)]
pub struct Placed<S> {
    /// The warp.
    pub group: Group<32>,
    /// The width, in limbs, to which operands are extended, as
    /// [`placed_width`](bigint_core::kernel::placed_width) says.
    pub room: u32,
    /// The number of numbers in the tile.
    pub numbers: u32,
    /// Whether the tile has a number for each thread, and is a run of memory.
    pub is_run: bool,
    /// The first operand, and its places.
    pub a: (Batch<S>, Places),
    /// The second operand, and its places.
    pub b: (Batch<S>, Places),
    /// The result, and its places.
    pub r: (Batch<S>, Places),
}

impl<S: Stride> Placed<S> {
    /// Moves both operands into their places. Returns the thread's places of `a`, `b` and `r`;
    /// the last two are the same if the whole product is wanted.
    #[inline(always)]
    pub fn bring_in(self) -> [SharedNumber; 3] {
        if self.is_run {
            self.bring_run_in();
        } else {
            self.bring_own_in();
        }
        [self.a.1, self.b.1, self.r.1].map(|places| places.of_lane(self.group.lane()))
    }

    /// Moves all threads' results from their places to device memory.
    #[inline(always)]
    pub fn bring_out(self) {
        let (batch, places) = self.r;
        let lane = self.group.lane();
        if self.is_run {
            let mut at = lane;
            while at < places.fours() {
                batch.set_four(at, places.four(at));
                at += WARP;
            }
        } else {
            let place = places.of_lane(lane);
            let mut at = 0;
            while at < batch.width() {
                let limbs = each_of_eight(|i| place.limb(at + i));
                for_each_of_eight(limbs, |i, limb| {
                    batch.set_before(lane, at + i, self.end(batch, at + i), limb);
                });
                at += 8;
            }
        }
    }

    /// Moves both operands as runs of memory. Eight loads are on their way before the first has
    /// arrived.
    #[inline(always)]
    fn bring_run_in(self) {
        let ((a, to_a), (b, to_b)) = (self.a, self.b);
        let (a_end, b_end) = (to_a.fours(), to_b.fours());
        let lane = self.group.lane();
        // The first group of four limbs of a turn. It is the same in the whole warp, so if
        // widths are known to the compiler, it also knows which groups exist.
        let mut first = 0;
        while first < a_end.max(b_end) {
            let end = |end: u32, k: u32| if first + k * WARP < end { end } else { 0 };
            let at = |k: u32| first + k * WARP + lane;
            let from_a = |k: u32| a.four_before(at(k), end(a_end, k));
            let from_b = |k: u32| b.four_before(at(k), end(b_end, k));
            let (a0, a1, a2, a3) = (from_a(0), from_a(1), from_a(2), from_a(3));
            let (b0, b1, b2, b3) = (from_b(0), from_b(1), from_b(2), from_b(3));
            let set = |places: Places, k: u32, four: [Limb; 4]| {
                if at(k) < end(places.fours(), k) {
                    places.set_four(at(k), four);
                }
            };
            set(to_a, 0, a0);
            set(to_a, 1, a1);
            set(to_a, 2, a2);
            set(to_a, 3, a3);
            set(to_b, 0, b0);
            set(to_b, 1, b1);
            set(to_b, 2, b2);
            set(to_b, 3, b3);
            first += 4 * WARP;
        }
    }

    /// Moves both operands, each thread those of its own number.
    #[inline(always)]
    fn bring_own_in(self) {
        let ((a, to_a), (b, to_b)) = (self.a, self.b);
        let lane = self.group.lane();
        let (to_a, to_b) = (to_a.of_lane(lane), to_b.of_lane(lane));
        let mut at = 0;
        while at < a.width().max(b.width()) {
            let from_a = each_of_eight(|i| a.limb_before(lane, at + i, self.end(a, at + i)));
            let from_b = each_of_eight(|i| b.limb_before(lane, at + i, self.end(b, at + i)));
            for_each_of_eight(from_a, |i, limb| to_a.set(at + i, limb));
            for_each_of_eight(from_b, |i, limb| to_b.set(at + i, limb));
            at += 8;
        }
    }

    /// The number of the tile's numbers if they have a limb `limb`, else zero.
    #[inline(always)]
    fn end(self, batch: Batch<S>, limb: u32) -> u32 {
        if limb < batch.width() {
            self.numbers
        } else {
            0
        }
    }
}

/// The eight limbs that `limb` gives for 0 to 7. (A loop would put the limbs in memory.)
#[inline(always)]
pub fn each_of_eight(limb: impl Fn(u32) -> Limb) -> [Limb; 8] {
    [
        limb(0),
        limb(1),
        limb(2),
        limb(3),
        limb(4),
        limb(5),
        limb(6),
        limb(7),
    ]
}

/// Calls `take` with the place and the value of each limb.
#[inline(always)]
pub fn for_each_of_eight([x0, x1, x2, x3, x4, x5, x6, x7]: [Limb; 8], take: impl Fn(u32, Limb)) {
    take(0, x0);
    take(1, x1);
    take(2, x2);
    take(3, x3);
    take(4, x4);
    take(5, x5);
    take(6, x6);
    take(7, x7);
}
