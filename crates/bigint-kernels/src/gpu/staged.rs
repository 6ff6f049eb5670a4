//! Numbers of the groups of a warp in shared memory, where their limbs are moved four at a
//! time whatever their width is in device memory.
//!
//! Each group has a region of whole fours, and a number begins at a four of it; above the
//! number's limbs there are zeros up to the next four. A warp's numbers are one run of
//! device memory, which it moves in whole lines: limb `q` of the run is limb `q mod width`
//! of number `q div width`, and a lane that goes on by 32 limbs meets at most one number's
//! end, as numbers are no narrower.

// Shared memory is reached through `ld.shared` and `st.shared`, with 32-bit addresses of
// its own.
#![allow(unsafe_code)]

use super::memory::Row;
use super::{shared, thread};
use bigint_core::Limb;
use core::arch::asm;

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
    /// That of the first group.
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

    /// The place of limb `at` of the numbers' run, at most 128.
    #[inline(always)]
    fn place(self, at: u32) -> Place {
        let mut place = Place {
            address: LIMB_BYTES * at,
            limb: at,
        };
        // Numbers have 32 limbs or more.
        for _ in 0..4 {
            place = self.within(place);
        }
        place
    }

    /// The place that is meant, where it may be in the number above.
    #[inline(always)]
    fn within(self, Place { address, limb }: Place) -> Place {
        let is_above = limb >= self.width;
        Place {
            address: address + if is_above { self.gap() } else { 0 },
            limb: limb - if is_above { self.width } else { 0 },
        }
    }

    /// Takes a place on by as many limbs as `by` is from the beginning.
    #[inline(always)]
    fn go_on(self, place: &mut Place, by: Place) {
        *place = self.within(Place {
            address: place.address + by.address,
            limb: place.limb + by.limb,
        });
    }

    /// The limb at `place` where `at < end`, else zero; the place goes on by 32 limbs.
    #[inline(always)]
    fn take(self, place: &mut Place, at: u32, end: u32) -> Limb {
        // SAFETY: by the contract of `new`, as the run has the limb.
        let limb = unsafe { load_below(at, end, self.address + place.address) };
        self.go_on(place, ONE_EACH);
        limb
    }

    /// Sets the limb at `place` where `at < end`, likewise.
    #[inline(always)]
    fn put(self, place: &mut Place, at: u32, end: u32, limb: Limb) {
        // SAFETY: as in `take`.
        unsafe { store_below(at, end, self.address + place.address, limb) };
        self.go_on(place, ONE_EACH);
    }

    /// Where limb `i` of the four at `place` is, which may be the next number's.
    #[inline(always)]
    fn address_in_four(self, place: Place, i: u32) -> u32 {
        let is_above = place.limb + i >= self.width;
        let gap = if is_above { self.gap() } else { 0 };
        self.address + place.address + gap + LIMB_BYTES * i
    }

    /// The four at `place` where `at < end`, else zeros.
    #[inline(always)]
    fn take_four(self, place: Place, at: u32, end: u32) -> [Limb; 4] {
        // SAFETY: by the contract of `new`, as the run has the four.
        [0, 1, 2, 3].map(|i| unsafe { load_below(at, end, self.address_in_four(place, i)) })
    }

    /// Sets the four at `place` where `at < end`.
    #[inline(always)]
    fn put_four(self, place: Place, at: u32, end: u32, [x0, x1, x2, x3]: [Limb; 4]) {
        let put = |i: u32, limb: Limb| {
            // SAFETY: as in `take_four`.
            unsafe { store_below(at, end, self.address_in_four(place, i), limb) };
        };
        put(0, x0);
        put(1, x1);
        put(2, x2);
        put(3, x3);
    }
}

/// Where a lane is in a stage, in bytes from its beginning, and in limbs from that of a number.
#[derive(Clone, Copy)]
struct Place {
    address: u32,
    limb: u32,
}

/// A limb for each lane of the warp, within a number.
const ONE_EACH: Place = Place {
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

/// Brings the numbers of two operands in, of all groups, four limbs at a time: rows begin where
/// fours do, and end there. Eight loads are on their way before the first has come.
#[inline(always)]
pub fn bring_fours_in(numbers: u32, [(a, to_a), (b, to_b)]: [(Row, Stage); 2]) {
    let lane = thread::lane();
    let (mut a_place, mut b_place) = (to_a.place(4 * lane), to_b.place(4 * lane));
    let (a_turn, b_turn) = (to_a.place(TURN), to_b.place(TURN));
    let (a_end, b_end) = (numbers * to_a.width / 4, numbers * to_b.width / 4);
    let mut first = 0;
    while first < a_end.max(b_end) {
        let at = |k: u32| first + WARP * k + lane;
        let from_a = |k: u32| a.four_below(at(k), a_end);
        let from_b = |k: u32| b.four_below(at(k), b_end);
        let (a0, a1, a2, a3) = (from_a(0), from_a(1), from_a(2), from_a(3));
        let (b0, b1, b2, b3) = (from_b(0), from_b(1), from_b(2), from_b(3));
        let mut put_a = |k: u32, four: [Limb; 4]| {
            // The same in the whole warp.
            if first + WARP * k < a_end {
                to_a.put_four(a_place, at(k), a_end, four);
                to_a.go_on(&mut a_place, a_turn);
            }
        };
        put_a(0, a0);
        put_a(1, a1);
        put_a(2, a2);
        put_a(3, a3);
        let mut put_b = |k: u32, four: [Limb; 4]| {
            if first + WARP * k < b_end {
                to_b.put_four(b_place, at(k), b_end, four);
                to_b.go_on(&mut b_place, b_turn);
            }
        };
        put_b(0, b0);
        put_b(1, b1);
        put_b(2, b2);
        put_b(3, b3);
        first += TURN;
    }
}

/// Brings the results of all groups out, likewise.
#[inline(always)]
pub fn bring_fours_out(numbers: u32, (r, from): (Row, Stage)) {
    let lane = thread::lane();
    let mut place = from.place(4 * lane);
    let turn = from.place(TURN);
    let end = numbers * from.width / 4;
    let mut at = lane;
    while at - lane < end {
        let mut four = |k: u32| {
            let four = from.take_four(place, at + WARP * k, end);
            from.go_on(&mut place, turn);
            four
        };
        let (r0, r1) = (four(0), four(1));
        r.set_four_below(at, end, r0);
        r.set_four_below(at + WARP, end, r1);
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

    /// The same, or a number that reads as zero, and where nothing that is stored arrives.
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

/// The limb at `address` where `at < end`, else zero, without a branch.
#[inline(always)]
unsafe fn load_below(at: u32, end: u32, address: u32) -> Limb {
    let limb;
    // SAFETY: the caller vouches for a limb at `address` where `at < end`.
    unsafe {
        asm!("{{",
            ".reg .pred inside;",
            "setp.lt.u32 inside, {at}, {end};",
            "mov.u32 {limb}, 0;",
            "@inside ld.shared.u32 {limb}, [{address}];",
            "}}",
            limb = out(reg32) limb, at = in(reg32) at, end = in(reg32) end,
            address = in(reg32) address,
            options(pure, readonly, nostack));
    }
    limb
}

/// Sets the limb at `address` where `at < end`, likewise.
#[inline(always)]
unsafe fn store_below(at: u32, end: u32, address: u32, limb: Limb) {
    // SAFETY: as in `load_below`.
    unsafe {
        asm!("{{",
            ".reg .pred inside;",
            "setp.lt.u32 inside, {at}, {end};",
            "@inside st.shared.u32 [{address}], {limb};",
            "}}",
            limb = in(reg32) limb, at = in(reg32) at, end = in(reg32) end,
            address = in(reg32) address,
            options(nostack));
    }
}

/// The four limbs at `address` where `at < reach`, else zeros, without a branch.
#[inline(always)]
unsafe fn load_four_below(at: u32, reach: u32, address: u32) -> [Limb; 4] {
    let (a, b, c, d);
    // SAFETY: the caller vouches for four limbs at `address`, a multiple of 16, where
    // `at < reach`.
    unsafe {
        asm!("{{",
            ".reg .pred inside;",
            "setp.lt.u32 inside, {at}, {reach};",
            "mov.u32 {a}, 0;",
            "mov.u32 {b}, 0;",
            "mov.u32 {c}, 0;",
            "mov.u32 {d}, 0;",
            "@inside ld.shared.v4.u32 {{{a}, {b}, {c}, {d}}}, [{address}];",
            "}}",
            a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
            at = in(reg32) at, reach = in(reg32) reach, address = in(reg32) address,
            options(pure, readonly, nostack));
    }
    [a, b, c, d]
}

/// Sets four limbs at `address` where `at < reach`, likewise.
#[inline(always)]
unsafe fn store_four_below(at: u32, reach: u32, address: u32, [a, b, c, d]: [Limb; 4]) {
    // SAFETY: as in `load_four_below`.
    unsafe {
        asm!("{{",
            ".reg .pred inside;",
            "setp.lt.u32 inside, {at}, {reach};",
            "@inside st.shared.v4.u32 [{address}], {{{a}, {b}, {c}, {d}}};",
            "}}",
            a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, d = in(reg32) d,
            at = in(reg32) at, reach = in(reg32) reach, address = in(reg32) address,
            options(nostack));
    }
}
