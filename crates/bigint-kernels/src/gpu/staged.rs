//! Numbers of the groups of a warp in shared memory, where their limbs are moved four at a
//! time whatever their width is in device memory.
//!
//! Each group has a region of whole fours, and a number begins at a four of it; above the
//! number's limbs there are zeros up to the next four. A warp's numbers are one run of
//! device memory, which it moves in whole lines: limb `q` of the run is limb `q mod width`
//! of number `q div width`, and a lane that goes on by 32 limbs meets at most one number's
//! end, as numbers are no narrower. Where widths are known it moves them number by number, 32
//! limbs at a time: lines are not whole then, but nothing is reckoned.

// Loads and stores at addresses.
#![allow(unsafe_code)]

use super::access::shared::{load_below, load_four_below, store_below, store_four_below};
use super::flat::Row;
use super::{shared, thread};
use bigint_core::Limb;

/// Lanes of a warp.
const WARP: u32 = 32;

/// Limbs of a run that a warp moves in a turn of its loop.
const TURN: u32 = 4 * WARP;

/// Bytes in a limb.
const LIMB_BYTES: u32 = 4;

/// Bytes in four limbs.
const FOUR_BYTES: u32 = 4 * LIMB_BYTES;

/// The numbers of one operand, or the results, of a warp's groups.
#[derive(Clone, Copy)]
pub struct Stage {
    /// The address of the first group's number.
    address: u32,
    /// Bytes from one group's to the next one's.
    pitch: u32,
    width: u32,
}

impl Stage {
    /// Numbers of `width` limbs, which begin `before` fours above the beginning of their
    /// groups' regions, all of `fours` fours, in a warp of groups of `lanes` lanes.
    ///
    /// # Safety
    /// The launch has shared memory for the regions of all groups, and room in them for
    /// these numbers; they have 32 limbs or more. What lanes write and others read is ordered
    /// by barriers.
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

    /// The limbs of number `i` that are first here and 32 further on, where `at` and `at + 32` are
    /// below the width; else zeros.
    #[inline(always)]
    fn take_rows(self, i: u32, at: u32) -> [Limb; 2] {
        let address = self.number_up(i).address;
        // SAFETY: by the contract of `new`, as the number has the limbs.
        [0, WARP].map(|up| unsafe { load_below(at + up, self.width, address + LIMB_BYTES * up) })
    }

    /// Sets them, likewise.
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

    /// Bytes between the end of a number and the next one's beginning.
    #[inline(always)]
    fn gap(self) -> u32 {
        self.pitch - LIMB_BYTES * self.width
    }

    /// The place of limb `at` of the numbers' run, below 32.
    #[inline(always)]
    fn place(self, at: u32) -> LanePlace {
        LanePlace {
            address: LIMB_BYTES * at,
            limb: at,
        }
    }

    /// The place that is meant, where it may be in the number above.
    #[inline(always)]
    fn within(self, LanePlace { address, limb }: LanePlace) -> LanePlace {
        let is_above = limb >= self.width;
        LanePlace {
            address: address + if is_above { self.gap() } else { 0 },
            limb: limb - if is_above { self.width } else { 0 },
        }
    }

    /// Takes a place on by as many limbs as `by` is from the beginning.
    #[inline(always)]
    fn go_on(self, place: &mut LanePlace, by: LanePlace) {
        *place = self.within(LanePlace {
            address: place.address + by.address,
            limb: place.limb + by.limb,
        });
    }

    /// The limb at `place` where `at < end`, else zero; the place goes on by 32 limbs.
    #[inline(always)]
    fn take(self, place: &mut LanePlace, at: u32, end: u32) -> Limb {
        // SAFETY: by the contract of `new`, as the run has the limb.
        let limb = unsafe { load_below(at, end, self.address + place.address) };
        self.go_on(place, ONE_EACH);
        limb
    }

    /// Sets the limb at `place` where `at < end`, likewise.
    #[inline(always)]
    fn put(self, place: &mut LanePlace, at: u32, end: u32, limb: Limb) {
        // SAFETY: as in `take`.
        unsafe { store_below(at, end, self.address + place.address, limb) };
        self.go_on(place, ONE_EACH);
    }
}

/// The place of a lane in a stage, in bytes from its beginning, and in limbs from that of a number.
#[derive(Clone, Copy)]
struct LanePlace {
    address: u32,
    limb: u32,
}

/// A limb for each lane of the warp, within a number.
const ONE_EACH: LanePlace = LanePlace {
    address: LIMB_BYTES * WARP,
    limb: WARP,
};

/// Brings `numbers` numbers of two operands in, from rows that begin with the first of them:
/// eight loads are on their way before the first has come.
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

/// Brings `numbers` results out, to a row that begins with the first of them.
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

/// Numbers of which a warp moves two rows of 32 limbs in a turn of its loop.
pub const NUMBERS: u32 = 2;

/// Brings the numbers of two operands in, of all groups, which are as many as [`NUMBERS`] or a
/// multiple: number by number, so that where widths are known no place is reckoned, and all limbs of
/// a turn are at distances that are known. Sixteen loads are on their way before the first has come.
#[inline(always)]
pub fn bring_numbers_in(groups: u32, operands: [(Row, Stage); 2]) {
    let [(_, Stage { width: n, .. }), (_, Stage { width: m, .. })] = operands;
    let mut at = thread::here(thread::lane());
    // The same in the whole warp.
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

/// Brings the results of all groups out, likewise.
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

/// A number in a stage, or a part of one; zero above its limbs, and what is set there is
/// lost.
#[derive(Clone, Copy)]
pub struct Staged {
    address: u32,
    width: u32,
    /// Limbs that may be touched, in whole fours; 0 where the number is switched off.
    reach: u32,
}

impl Staged {
    /// Limbs in the number.
    #[inline(always)]
    pub fn width(self) -> u32 {
        self.width
    }

    /// The number, or one that reads as zero, and where nothing that is stored arrives.
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

    /// Sets limbs `at .. at + N`, likewise.
    #[inline(always)]
    pub fn set_fours<const N: usize>(self, at: u32, limbs: [Limb; N]) {
        for (i, four) in limbs.as_chunks::<4>().0.iter().enumerate() {
            let at = at + 4 * i as u32;
            // SAFETY: as in `fours`.
            unsafe { store_four_below(at, self.reach, self.address + LIMB_BYTES * at, *four) };
        }
    }

    /// Zeros above the number's limbs, up to a four: those that fall to a lane, of four or
    /// more that have the number.
    #[inline(always)]
    pub fn fill(self, lane: u32) {
        let at = self.width + lane;
        // SAFETY: as in `fours`.
        unsafe { store_below(at, self.reach, self.address + LIMB_BYTES * at, 0) };
    }
}
