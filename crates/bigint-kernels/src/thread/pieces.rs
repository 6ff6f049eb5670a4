//! Pieces: eight limbs of each of a warp's numbers, which pass between device memory and the
//! threads through shared memory.
//!
//! If numbers are contiguous, a lane moves one limb of each of eight numbers:
//!
//! ```text
//! lane             0      1    ...    7      8      9    ...    31
//! number, limb   0, 0   0, 1  ...   0, 7   8, 0   8, 1   ...  24, 7,  then 1, 0 and so on
//! ```
//!
//! So a warp accesses whole sectors. A ninth limb is left free behind each number, so that threads
//! meet in no bank. (A thread that loaded its own limbs would access a sector for each of them.) If
//! numbers are interleaved, a lane moves the limbs of its own number, whose neighbours in memory
//! are the other lanes' limbs.

use super::places::{each_of_eight, for_each_of_eight};
use crate::gpu::memory::{Batch, Stride};
use crate::gpu::shared::Places;
use crate::gpu::warp::Group;
use bigint_core::Limb;
use bigint_core::kernel::PIECE;

/// The threads of a warp.
const WARP: u32 = 32;

/// Numbers whose limbs the threads of a warp take and give one by one from the top down. All
/// threads are at the same limb.
#[derive(Clone, Copy)]
pub struct Pieces<S> {
    group: Group<WARP>,
    numbers: u32,
    /// The batch from which limbs are taken, and the places of a piece of it.
    from: (Batch<S>, Places),
    /// The batches to which limbs are given.
    to: [Batch<S>; 2],
    /// The places of a piece that is given to a batch.
    given: Places,
    /// The lane's limbs of the next piece that is taken.
    ahead: [Limb; PIECE as usize],
}

impl<S: Stride> Pieces<S> {
    /// The pieces of the first `numbers` numbers of these batches.
    #[inline(always)]
    pub fn new(
        group: Group<WARP>,
        numbers: u32,
        from: (Batch<S>, Places),
        to: [Batch<S>; 2],
        given: Places,
    ) -> Self {
        Pieces {
            group,
            numbers,
            from,
            to,
            given,
            ahead: [0; PIECE as usize],
        }
    }

    /// Whether `is_so` holds in all threads of the warp.
    #[inline(always)]
    pub fn all(&self, is_so: bool) -> bool {
        self.group.all(is_so)
    }

    /// Begins to take limbs, with limb `at`.
    #[inline(always)]
    pub fn begin(&mut self, at: u32) {
        self.fetch(at & !(PIECE - 1));
        if at % PIECE != PIECE - 1 {
            self.place(at & !(PIECE - 1));
        }
    }

    /// Takes limb `at`, the one below the last taken. It is zero above and below the number.
    #[inline(always)]
    pub fn next(&mut self, at: u32) -> Limb {
        let (batch, places) = self.from;
        let is_inside = at < batch.width();
        if is_inside && at % PIECE == PIECE - 1 {
            self.place(at & !(PIECE - 1));
        }
        // The place above the piece holds zero.
        let at = if is_inside { at % PIECE } else { PIECE };
        places.of_lane(self.group.lane()).limb(at)
    }

    /// Takes limbs `at - 1` and `at`, the two below the last taken, as [`next`](Self::next) does.
    #[inline(always)]
    pub fn next_two(&mut self, at: u32) -> [Limb; 2] {
        let (batch, places) = self.from;
        let below = at.wrapping_sub(1);
        let place = places.of_lane(self.group.lane());
        // The place above the piece holds zero.
        let limb = |at: u32| {
            place.limb(if at < batch.width() {
                at % PIECE
            } else {
                PIECE
            })
        };
        let mut upper = limb(at);
        // A new piece begins, from the top, with the lower limb or with the upper one.
        if below % PIECE >= PIECE - 2 && below < batch.width() {
            self.place(below & !(PIECE - 1));
            upper = if at % PIECE == 0 { upper } else { limb(at) };
        }
        [limb(below), upper]
    }

    /// Begins to give limbs to the first batch, by giving zeros above limb `end`.
    #[inline(always)]
    pub fn begin_to_give(&mut self, end: u32) {
        let place = self.given.of_lane(self.group.lane());
        for_each_of_eight([0; 8], |i, limb| place.set(i, limb));
        let mut from = (self.to[0].width() + PIECE - 1) & !(PIECE - 1);
        while from >= end + PIECE {
            from -= PIECE;
            let walk = self.to[0].walk(self.group.lane(), from, self.numbers);
            for_each_of_eight([0; 8], |i, limb| walk.set(i, limb));
        }
    }

    /// Gives limbs `at` and `at + 1` to the first batch, the two below the last given; `at` is
    /// even.
    #[inline(always)]
    pub fn give(&mut self, at: u32, [low, high]: [Limb; 2]) {
        let place = self.given.of_lane(self.group.lane());
        place.set(at % PIECE, low);
        place.set(at % PIECE + 1, high);
        if at % PIECE == 0 {
            self.give_piece::<0>(at);
        }
    }

    /// Gives limbs `at .. at + 8` to the second batch; `at` is a multiple of 8.
    #[inline(always)]
    pub fn give_eight(&mut self, at: u32, limbs: [Limb; PIECE as usize]) {
        let place = self.given.of_lane(self.group.lane());
        for_each_of_eight(limbs, |i, limb| place.set(i, limb));
        self.give_piece::<1>(at);
    }

    /// Loads the piece from limb `from` on into registers.
    #[inline(always)]
    fn fetch(&mut self, from: u32) {
        let walk = self.from.0.walk(self.group.lane(), from, self.numbers);
        self.ahead = each_of_eight(|i| walk.limb(i));
    }

    /// Puts the loaded piece, from limb `from` on, into the places from which its threads take it,
    /// and loads the piece below.
    #[inline(always)]
    fn place(&mut self, from: u32) {
        let (batch, places) = self.from;
        let spot = places.walk(self.group.lane(), batch.is_unit());
        self.group.sync();
        for_each_of_eight(self.ahead, |i, limb| spot(i).set(limb));
        self.group.sync();
        self.fetch(from.wrapping_sub(PIECE));
    }

    #[inline(always)]
    fn give_piece<const WHICH: usize>(&mut self, from: u32) {
        let batch = self.to[WHICH];
        let spot = self.given.walk(self.group.lane(), batch.is_unit());
        let walk = batch.walk(self.group.lane(), from, self.numbers);
        self.group.sync();
        let limbs = each_of_eight(|i| spot(i).limb());
        for_each_of_eight(limbs, |i, limb| walk.set(i, limb));
        self.group.sync();
    }
}
