//! Numbers of the groups of a warp in shared memory. There their limbs can be moved four at a time,
//! which their width may not allow in device memory.
//!
//! Each group of lanes has a region whose size is a multiple of four limbs. A number begins at a
//! multiple of four limbs of its region, and has zeros above it up to the next multiple. A warp's
//! numbers are one run of device memory, which it moves in whole lines: limb `q` of the run is limb
//! `q mod width` of number `q div width`. Numbers have at least 32 limbs, so a lane that goes on by
//! 32 limbs meets the end of at most one number. If the host knows the widths, the warp moves the
//! run number by number, 32 limbs at a time. Lines are then not whole, but no places need to be
//! computed.

// Loads and stores at addresses.
#![allow(unsafe_code)]

use super::access::shared::{load_below, load_four_below, store_below, store_four_below};
use super::flat::Row;
use super::{shared, thread};
use bigint_core::Limb;

/// The lanes of a warp.
const WARP: u32 = 32;

/// The limbs of a run that a warp moves in a turn of its loop.
const TURN: u32 = 4 * WARP;

/// The bytes of a limb.
const LIMB_BYTES: u32 = 4;

/// The bytes of four limbs.
const FOUR_BYTES: u32 = 4 * LIMB_BYTES;

/// The numbers of one operand, or the results, of all groups of a warp.
#[derive(Clone, Copy)]
pub struct Stage {
    /// The address of the first group's number.
    address: u32,
    /// The bytes from one group's number to the next group's.
    pitch: u32,
    width: u32,
}

impl Stage {
    /// The stage of numbers of `width` limbs in a warp of groups of `lanes` lanes. Regions have
    /// `fours` times four limbs, and a number begins `before` times four limbs above the start of
    /// its region.
    ///
    /// # Safety
    /// The launch has shared memory for the regions of all groups, and these have room for the
    /// numbers, which have 32 limbs or more. Barriers order what lanes write and others read.
    #[inline(always)]
    pub unsafe fn new(lanes: u32, fours: u32, before: u32, width: u32) -> Self {
        let pitch = FOUR_BYTES * fours;
        let below = (thread::index_in_block() - thread::lane()) >> lanes.trailing_zeros();
        Stage {
            address: shared::start() + below * pitch + FOUR_BYTES * before,
            pitch,
            width,
        }
    }

    /// The stage from limb `at` of each number on.
    #[inline(always)]
    fn up(self, at: u32) -> Self {
        let address = self.address + LIMB_BYTES * at;
        Stage { address, ..self }
    }

    /// The stage from number `index` on.
    #[inline(always)]
    fn number_up(self, index: u32) -> Self {
        let address = self.address + index * self.pitch;
        Stage { address, ..self }
    }

    /// The first limb of number `i` of this stage, and the one 32 limbs further on. They are zero
    /// unless `at` and `at + 32` are below the width. (The stage begins at limb `at` of each
    /// number.)
    #[inline(always)]
    fn take_rows(self, i: u32, at: u32) -> [Limb; 2] {
        let address = self.number_up(i).address;
        // SAFETY: by the contract of `new`, as the number has the limbs.
        [0, WARP].map(|up| unsafe { load_below(at + up, self.width, address + LIMB_BYTES * up) })
    }

    /// Sets the limbs that [`take_rows`](Self::take_rows) reads, if `at` and `at + 32` are below
    /// the width.
    #[inline(always)]
    fn put_rows(self, i: u32, at: u32, [below, above]: [Limb; 2]) {
        let address = self.number_up(i).address;
        // SAFETY: as in `take_rows`.
        unsafe {
            store_below(at, self.width, address, below);
            store_below(at + WARP, self.width, address + LIMB_BYTES * WARP, above);
        }
    }

    /// The number of the warp's group `index`.
    #[inline(always)]
    pub fn number(self, index: u32) -> Staged {
        Staged {
            address: self.address + index * self.pitch,
            width: self.width,
            reach: self.width.next_multiple_of(4),
        }
    }

    /// The bytes between the end of a number and the beginning of the next.
    #[inline(always)]
    fn gap(self) -> u32 {
        self.pitch - LIMB_BYTES * self.width
    }

    /// The place of limb `at` of the numbers' run; `at` is below 32.
    #[inline(always)]
    fn place(self, at: u32) -> LanePlace {
        LanePlace {
            address: LIMB_BYTES * at,
            limb: at,
        }
    }

    /// Normalises a place: if it is above the end of its number, it is in the next number.
    #[inline(always)]
    fn within(self, LanePlace { address, limb }: LanePlace) -> LanePlace {
        let is_above = limb >= self.width;
        LanePlace {
            address: address + if is_above { self.gap() } else { 0 },
            limb: limb - if is_above { self.width } else { 0 },
        }
    }

    /// Moves a place on by the distance `by`.
    #[inline(always)]
    fn go_on(self, place: &mut LanePlace, by: LanePlace) {
        *place = self.within(LanePlace {
            address: place.address + by.address,
            limb: place.limb + by.limb,
        });
    }

    /// The limb at `place` if `at < end`, else zero. Moves the place on by 32 limbs.
    #[inline(always)]
    fn take(self, place: &mut LanePlace, at: u32, end: u32) -> Limb {
        // SAFETY: by the contract of `new`, as the run has the limb.
        let limb = unsafe { load_below(at, end, self.address + place.address) };
        self.go_on(place, ONE_EACH);
        limb
    }

    /// Sets the limb at `place` if `at < end`. Moves the place on by 32 limbs.
    #[inline(always)]
    fn put(self, place: &mut LanePlace, at: u32, end: u32, limb: Limb) {
        // SAFETY: as in `take`.
        unsafe { store_below(at, end, self.address + place.address, limb) };
        self.go_on(place, ONE_EACH);
    }
}

/// The place of a lane in a stage: its distance in bytes from the beginning of the stage, and in
/// limbs from that of its number.
#[derive(Clone, Copy)]
struct LanePlace {
    address: u32,
    limb: u32,
}

/// The distance of 32 limbs within a number: a limb for each lane of the warp.
const ONE_EACH: LanePlace = LanePlace {
    address: LIMB_BYTES * WARP,
    limb: WARP,
};

/// Moves `numbers` numbers of two operands from rows of device memory, which begin with the first
/// of them, into their stages. Eight loads are on their way before the first has arrived.
#[inline(always)]
pub fn bring_in(numbers: u32, [(a, to_a), (b, to_b)]: [(Row, Stage); 2]) {
    let (mut a_place, mut b_place) = (to_a.place(thread::lane()), to_b.place(thread::lane()));
    let (a_end, b_end) = (numbers * to_a.width, numbers * to_b.width);
    let mut at = thread::lane();
    let turns = a_end.max(b_end).div_ceil(TURN);
    for _ in 0..turns {
        let from_a = |k: u32| a.limb(at + WARP * k, a_end - 1);
        let from_b = |k: u32| b.limb(at + WARP * k, b_end - 1);
        let (a0, a1, a2, a3) = (from_a(0), from_a(1), from_a(2), from_a(3));
        let (b0, b1, b2, b3) = (from_b(0), from_b(1), from_b(2), from_b(3));
        to_a.put(&mut a_place, at, a_end, a0);
        to_a.put(&mut a_place, at + WARP, a_end, a1);
        to_a.put(&mut a_place, at + 2 * WARP, a_end, a2);
        to_a.put(&mut a_place, at + 3 * WARP, a_end, a3);
        to_b.put(&mut b_place, at, b_end, b0);
        to_b.put(&mut b_place, at + WARP, b_end, b1);
        to_b.put(&mut b_place, at + 2 * WARP, b_end, b2);
        to_b.put(&mut b_place, at + 3 * WARP, b_end, b3);
        at += TURN;
    }
}

/// Moves `numbers` results from their stage to a row of device memory that begins with the first of
/// them.
#[inline(always)]
pub fn bring_out(numbers: u32, (r, from): (Row, Stage)) {
    let mut place = from.place(thread::lane());
    let end = numbers * from.width;
    let mut at = thread::lane();
    for _ in 0..end.div_ceil(TURN) {
        let mut limb = |k: u32| from.take(&mut place, at + WARP * k, end);
        let (r0, r1, r2, r3) = (limb(0), limb(1), limb(2), limb(3));
        r.set(at, end, r0);
        r.set(at + WARP, end, r1);
        r.set(at + 2 * WARP, end, r2);
        r.set(at + 3 * WARP, end, r3);
        at += TURN;
    }
}

/// The numbers of which a warp moves two rows of 32 limbs each in a turn of its loop.
pub const NUMBERS: u32 = 2;

/// Moves the numbers of two operands from rows of device memory into their stages, number by
/// number. There is a number for each group, and the number of groups is a multiple of [`NUMBERS`].
/// If widths are known to the compiler, no place needs to be computed, and all limbs of a turn are
/// at known distances. Eight loads are on their way before the first has arrived.
#[inline(always)]
pub fn bring_numbers_in(groups: u32, operands: [(Row, Stage); 2]) {
    let [(_, Stage { width: n, .. }), (_, Stage { width: m, .. })] = operands;
    let mut at = thread::here(thread::lane());
    // `from` is the same in the whole warp.
    let mut from = 0;
    while from < n.max(m) {
        let mut number = 0;
        while number < groups {
            let first = thread::here(number);
            let [(a, to_a), (b, to_b)] = operands.map(|(row, stage)| {
                let width = stage.width;
                (row.up(first * width + at), stage.number_up(first).up(at))
            });
            let limbs = |row: Row, width: u32, i: u32| {
                let row = row.up(i * width);
                [
                    row.first_below(at, width),
                    row.up(WARP).first_below(at + WARP, width),
                ]
            };
            let four = |i: u32| (limbs(a, n, i), limbs(b, m, i));
            let (of_0, of_1) = (four(0), four(1));
            let put = |i: u32, (of_a, of_b): ([Limb; 2], [Limb; 2])| {
                to_a.put_rows(i, at, of_a);
                to_b.put_rows(i, at, of_b);
            };
            put(0, of_0);
            put(1, of_1);
            number += NUMBERS;
        }
        from += 2 * WARP;
        at += 2 * WARP;
    }
}

/// Moves the results of all groups from their stage to a row of device memory, as
/// [`bring_numbers_in`] moves operands.
#[inline(always)]
pub fn bring_numbers_out(groups: u32, (r, stage): (Row, Stage)) {
    let width = stage.width;
    let mut at = thread::here(thread::lane());
    let mut from = 0;
    while from < width {
        let mut number = 0;
        while number < groups {
            let first = thread::here(number);
            let (r, stage) = (r.up(first * width + at), stage.number_up(first).up(at));
            let rows = [0, 1].map(|i| stage.take_rows(i, at));
            let put = |i: u32, [below, above]: [Limb; 2]| {
                let row = r.up(i * width);
                row.set_first_below(at, width, below);
                row.up(WARP).set_first_below(at + WARP, width, above);
            };
            let [of_0, of_1] = rows;
            put(0, of_0);
            put(1, of_1);
            number += NUMBERS;
        }
        from += 2 * WARP;
        at += 2 * WARP;
    }
}

/// A number in a stage, or a part of one. Above its limbs it reads as zero, and stores do nothing.
#[derive(Clone, Copy)]
pub struct Staged {
    address: u32,
    width: u32,
    /// The limbs that may be touched, a multiple of 4; 0 if the number is switched off.
    reach: u32,
}

impl Staged {
    /// The limbs of the number.
    #[inline(always)]
    pub fn width(self) -> u32 {
        self.width
    }

    /// The number, switched off if `on` is false: it then reads as zero, and stores do nothing.
    #[inline(always)]
    pub fn switched(self, on: bool) -> Self {
        let reach = if on { self.reach } else { 0 };
        Staged { reach, ..self }
    }

    /// The limbs below `end`, a multiple of 4.
    #[inline(always)]
    pub fn below(self, end: u32) -> Self {
        Staged {
            width: self.width.min(end),
            reach: self.reach.min(end),
            ..self
        }
    }

    /// Limbs `at .. at + N`; both are multiples of 4.
    #[inline(always)]
    pub fn fours<const N: usize>(self, at: u32) -> [Limb; N] {
        let mut limbs = [0; N];
        for (i, four) in limbs.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let at = at + 4 * i as u32;
            // SAFETY: by the contract of `Stage::new`, where `at` is below the reach.
            *four = unsafe { load_four_below(at, self.reach, self.address + LIMB_BYTES * at) };
        }
        limbs
    }

    /// Sets limbs `at .. at + N`; both are multiples of 4.
    #[inline(always)]
    pub fn set_fours<const N: usize>(self, at: u32, limbs: [Limb; N]) {
        for (i, four) in limbs.as_chunks::<4>().0.iter().enumerate() {
            let at = at + 4 * i as u32;
            // SAFETY: as in `fours`.
            unsafe { store_four_below(at, self.reach, self.address + LIMB_BYTES * at, *four) };
        }
    }

    /// Sets the limbs above the number's width, up to a multiple of 4, to zero. Each of the four or
    /// more lanes of the group sets one of them at most.
    #[inline(always)]
    pub fn fill(self, lane: u32) {
        let at = self.width + lane;
        // SAFETY: as in `fours`.
        unsafe { store_below(at, self.reach, self.address + LIMB_BYTES * at, 0) };
    }
}
