//! The way between device memory and registers of numbers that lanes share. Each lane of a warp has one
//! digit.
//!
//! If limbs are neighbours, the whole warp moves them in whole lines. Digits stand side by side in slots
//! of shared memory, where each lane finds its own. If every four limbs of a number can be moved at
//! once, a lane moves four limbs at a time, and the warp moves four digits at once:
//!
//! ```text
//! lane        0        1     ...     7        8     ...    31
//! digit, four 0, 0     0, 1  ...     0, 7     1, 0  ...    3, 7,  then 4, 0 and so on
//! ```
//!
//! Otherwise a lane moves one limb at a time, and the warp one digit. If numbers are interleaved, each
//! lane moves its own digit limb by limb, and the warp accesses limbs of neighbouring numbers.

use super::each;
use crate::gpu::known::Known;
use crate::gpu::memory::{Batch, Stride};
use crate::gpu::shared::{Fours, Slots};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::kernel::{SQUARE_DIGIT, SQUARE_FOURS};
use bigint_core::specialization::{Square, in_fours};
use bigint_core::{Arguments, Limb};

/// The threads of a warp.
const WARP: u32 = 32;

/// The limbs of a digit.
const LIMBS: u32 = SQUARE_DIGIT as u32;

/// The groups of four limbs of a digit.
const QUARTER: u32 = LIMBS / 4;

pub(crate) type Digit = [Limb; SQUARE_DIGIT];

/// A tile: the numbers of a warp's groups, seen from a lane.
#[derive(Clone, Copy)]
pub struct Digits<const LANES: u32, S> {
    group: Group<LANES>,
    /// The lane's place in the warp.
    lane: u32,
    /// The lanes of a group.
    lanes: u32,
    /// The number of numbers in the tile.
    numbers: u32,
    are_fours: bool,
    slots: Slots<{ SQUARE_FOURS as u32 }>,
    /// The numbers.
    pub a: Batch<S>,
    /// Their squares.
    pub r: Batch<S>,
}

impl<const LANES: u32, S: Stride> Digits<LANES, S> {
    /// Moves the numbers in, and returns the calling lane's digit. It is zero where the tile has no
    /// number.
    #[inline(always)]
    pub fn bring_in(self) -> Digit {
        let this = self.here();
        let (a, slots, lane) = (this.a, this.slots, this.lane);
        if !a.is_unit() {
            let number = this.number_of(lane);
            let first = LIMBS * this.place_of(lane, 0);
            return each(|i| a.limb(number as i32, first + i as u32, number, this.numbers));
        }
        if this.are_fours {
            let four = |k: u32| {
                let [digit, part] = this.four_of_turn(k);
                let number = this.number_of(digit);
                let at = QUARTER * this.place_of(digit, 0) + part;
                a.unit::<4>(number as i32, at, number, this.numbers)
            };
            each_turn([0, 1, 2, 3, 4, 5, 6, 7].map(four), |k, four| {
                let [digit, part] = this.four_of_turn(k);
                slots.set_four(digit, part, four);
            });
        } else {
            let limbs: Digit = each(|digit| {
                let number = this.number_of(digit as u32);
                let at = LIMBS * this.place_of(digit as u32, 0) + lane;
                a.limb(number as i32, at, number, this.numbers)
            });
            for_each(limbs, |digit, limb| slots.set(digit, lane, limb));
        }
        this.group.sync();
        let digit = slots.of_lane(lane).limbs(0);
        this.group.sync();
        digit
    }

    /// Sets the digits of the squares from digit `first` on. Each lane has one of them.
    #[inline(always)]
    pub fn bring_out(self, first: u32, limbs: Digit) {
        let this = self.here();
        let (r, slots, lane) = (this.r, this.slots, this.lane);
        if !r.is_unit() {
            let number = this.number_of(lane);
            let from = LIMBS * this.place_of(lane, first);
            for_each(limbs, |i, limb| this.set(number, from + i, limb));
            return;
        }
        slots.of_lane(lane).set_limbs(0, limbs);
        this.group.sync();
        if this.are_fours {
            let fours = [0, 1, 2, 3, 4, 5, 6, 7].map(|k| {
                let [digit, part] = this.four_of_turn(k);
                slots.four(digit, part)
            });
            each_turn(fours, |k, four| {
                let [digit, part] = this.four_of_turn(k);
                let number = this.number_of(digit);
                let at = QUARTER * this.place_of(digit, first) + part;
                r.set_unit(number as i32, at, number, this.numbers, four);
            });
        } else {
            let limbs: Digit = each(|digit| slots.limb(digit as u32, lane));
            for_each(limbs, |digit, limb| {
                let at = LIMBS * this.place_of(digit, first) + lane;
                this.set(this.number_of(digit), at, limb);
            });
        }
        this.group.sync();
    }

    /// Sets the limbs of the squares from digit `first` on to zero.
    #[inline(always)]
    pub fn clear(self, first: u32) {
        let mut at = LIMBS * first + self.place_of(self.lane, 0);
        while at < self.r.width() {
            self.set(self.number_of(self.lane), at, 0);
            at += self.lanes;
        }
    }

    /// Sets limb `at` of a number's square, if the tile has the number and the square has the limb.
    #[inline(always)]
    fn set(self, number: u32, at: u32, limb: Limb) {
        let inside = match at < self.r.width() {
            true => number,
            false => self.numbers,
        };
        (self.r).set(number as i32, at, inside, self.numbers, limb);
    }

    /// The same tile, hiding from the compiler that other tiles have the same places. The places of all
    /// limbs, computed ahead of the loop, would take more registers than the limbs do.
    #[inline(always)]
    fn here(self) -> Self {
        Digits {
            lane: thread::here(self.lane),
            lanes: thread::here(self.lanes),
            ..self
        }
    }

    /// The digit, and the group of four limbs in it, that the calling lane moves in turn `k`.
    #[inline(always)]
    fn four_of_turn(self, k: u32) -> [u32; 2] {
        let at = WARP * k + self.lane;
        [at / QUARTER, at % QUARTER]
    }

    /// The index in the tile of the number whose digit lane `lane` of the warp has.
    #[inline(always)]
    fn number_of(self, lane: u32) -> u32 {
        lane >> self.lanes.trailing_zeros()
    }

    /// The index of lane `lane`'s digit in its number, if the lowest lane has digit `first`.
    #[inline(always)]
    fn place_of(self, lane: u32, first: u32) -> u32 {
        first + (lane & (self.lanes - 1))
    }
}

/// Calls `take` with each turn and its four limbs. (It is written out, as [`each`] is.)
#[inline(always)]
fn each_turn([s, t, u, v, w, x, y, z]: [[Limb; 4]; 8], mut take: impl FnMut(u32, [Limb; 4])) {
    take(0, s);
    take(1, t);
    take(2, u);
    take(3, v);
    take(4, w);
    take(5, x);
    take(6, y);
    take(7, z);
}

/// Calls `take` with the place and the value of each limb.
#[inline(always)]
fn for_each(limbs: Digit, mut take: impl FnMut(u32, Limb)) {
    let _: Digit = each(|i| {
        take(i as u32, limbs[i]);
        0
    });
}

/// The tiles of a launch that fall to a warp, which has as many numbers at a time as it has groups. The
/// iterator gives the first number of each tile. (An `Option` of a tile would be stored in one of the
/// tile's words, and what is known of that word would be lost.)
#[derive(Clone, Copy)]
pub struct Tiles<'a, const LANES: u32> {
    arguments: &'a Arguments,
    group: Group<LANES>,
    first: u64,
}

impl<'a, const LANES: u32> Tiles<'a, LANES> {
    /// The tiles of the calling lane's warp.
    ///
    /// # Safety
    /// The contract is that of [`warp::Batches::new`](crate::warp::Batches::new), and the launch has the
    /// shared memory of `Kernel::launch`.
    #[allow(unsafe_code)] // What comes in is taken on trust, as where a kernel begins.
    #[inline(always)]
    pub unsafe fn new(arguments: &'a Arguments, group: Group<LANES>) -> Self {
        let lowest = thread::index_1d() - u64::from(thread::lane());
        Tiles {
            arguments,
            group,
            first: lowest >> group.lanes().trailing_zeros(),
        }
    }

    /// The tile that begins with number `first`, which the iterator has given.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn tile<S: Stride>(self, first: u64) -> Digits<LANES, S> {
        let Tiles {
            arguments, group, ..
        } = self;
        let groups = u64::from(WARP / group.lanes());
        // SAFETY: by the contract of `new`: no other warp has the numbers, and the batches' own bounds
        // keep accesses inside.
        unsafe {
            Digits {
                group,
                lane: thread::lane(),
                lanes: group.lanes(),
                numbers: arguments.count.saturating_sub(first).min(groups) as u32,
                are_fours: Square::BY_FOURS.or(in_fours(arguments, None)),
                slots: Slots::new(),
                a: Batch::new(&arguments.a, first),
                r: Batch::new(&arguments.r, first),
            }
        }
    }
}

impl<const LANES: u32> Iterator for Tiles<'_, LANES> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        let first = self.first;
        self.first += self.arguments.workers;
        (first < self.arguments.count).then_some(first)
    }
}
