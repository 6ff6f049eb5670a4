//! Shared memory: for each thread of a warp a slot, or places for its numbers, which the other
//! threads of the warp also read and write; or for each thread a column of pairs of limbs, which
//! it alone uses.
//!
//! A slot's size is an odd number of groups of four limbs, so that threads meet in no bank when
//! each moves a group of its own slot.

// Shared memory is reached through `ld.shared` and `st.shared`, with 32-bit addresses of
// its own.
#![allow(unsafe_code)]

use super::access::shared::{load, load_below, load_four, store, store_below, store_four};
use super::thread;
use bigint_core::Limb;
use bigint_core::kernel::{BLOCK, PIECE, place};
#[cfg(target_arch = "nvptx64")]
use core::arch::nvptx;
use core::arch::{asm, global_asm};

// The block's shared memory, whose length is stated by the launch.
global_asm!(".extern .shared .align 16 .b8 bigint_shared[];");

/// The bytes of two limbs.
const PAIR_BYTES: u32 = 8;

/// The bytes of four limbs.
const FOUR_BYTES: u32 = 16;

/// The bytes of a limb.
const LIMB_BYTES: u32 = 4;

/// The threads of a warp.
const WARP: u32 = 32;

/// The calling thread's own column of pairs of limbs. The columns of a warp stand side by side, so
/// that its threads meet in no bank. The distance between pairs is the same in every launch, so
/// the compiler knows which pairs are different ones, and can load one before it stores another.
#[derive(Clone, Copy)]
pub struct Column {
    address: u32,
}

impl Column {
    /// The bytes from a pair to the next.
    const STRIDE: u32 = PAIR_BYTES * WARP;

    /// The calling thread's column of `pairs` pairs.
    ///
    /// # Safety
    /// The launch has shared memory for `pairs` pairs for each thread of a block, and what is read
    /// has been set before.
    #[inline(always)]
    pub unsafe fn new(pairs: u32) -> Self {
        Column {
            address: part_of_warp(PAIR_BYTES * pairs) + PAIR_BYTES * thread::lane(),
        }
    }

    #[inline(always)]
    fn address_of(self, i: u32) -> u32 {
        self.address + Self::STRIDE * i
    }

    /// Pair `i`.
    #[inline(always)]
    pub fn two(self, i: u32) -> [Limb; 2] {
        let (a, b);
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("ld.shared.v2.u32 {{{a}, {b}}}, [{address}];",
                a = out(reg32) a, b = out(reg32) b, address = in(reg32) self.address_of(i),
                options(pure, readonly, nostack, preserves_flags));
        }
        [a, b]
    }

    /// Sets pair `i`.
    #[inline(always)]
    pub fn set_two(self, i: u32, [a, b]: [Limb; 2]) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("st.shared.v2.u32 [{address}], {{{a}, {b}}};",
                a = in(reg32) a, b = in(reg32) b, address = in(reg32) self.address_of(i),
                options(nostack, preserves_flags));
        }
    }

    /// Pairs `i .. i + 4`. They are loaded here and not where they are used, so that a caller who
    /// asks early need not wait then.
    #[inline(always)]
    pub fn four_twos(self, i: u32) -> [[Limb; 2]; 4] {
        let (a, b, c, d, e, f, g, h);
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("ld.shared.v2.u32 {{{a}, {b}}}, [{address}];",
                "ld.shared.v2.u32 {{{c}, {d}}}, [{address}+{one}];",
                "ld.shared.v2.u32 {{{e}, {f}}}, [{address}+{two}];",
                "ld.shared.v2.u32 {{{g}, {h}}}, [{address}+{three}];",
                a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
                e = out(reg32) e, f = out(reg32) f, g = out(reg32) g, h = out(reg32) h,
                address = in(reg32) self.address_of(i), one = const Self::STRIDE,
                two = const 2 * Self::STRIDE, three = const 3 * Self::STRIDE,
                options(readonly, nostack, preserves_flags));
        }
        [[a, b], [c, d], [e, f], [g, h]]
    }

    /// Sets pairs `i .. i + 4`.
    #[inline(always)]
    pub fn set_four_twos(self, i: u32, [[a, b], [c, d], [e, f], [g, h]]: [[Limb; 2]; 4]) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("st.shared.v2.u32 [{address}], {{{a}, {b}}};",
                "st.shared.v2.u32 [{address}+{one}], {{{c}, {d}}};",
                "st.shared.v2.u32 [{address}+{two}], {{{e}, {f}}};",
                "st.shared.v2.u32 [{address}+{three}], {{{g}, {h}}};",
                a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, d = in(reg32) d,
                e = in(reg32) e, f = in(reg32) f, g = in(reg32) g, h = in(reg32) h,
                address = in(reg32) self.address_of(i), one = const Self::STRIDE,
                two = const 2 * Self::STRIDE, three = const 3 * Self::STRIDE,
                options(nostack, preserves_flags));
        }
    }
}

/// The slots of the calling thread's warp, each of `FOURS` groups of four limbs.
#[derive(Clone, Copy)]
pub struct Slots<const FOURS: u32> {
    address: u32,
}

impl<const FOURS: u32> Slots<FOURS> {
    const MEET_IN_NO_BANK: () = assert!(FOURS % 2 == 1);

    /// The calling thread's warp's slots.
    ///
    /// # Safety
    /// The launch has `FOURS` groups of four limbs of shared memory for each thread of a block.
    /// Barriers order what threads write and others read.
    #[inline(always)]
    pub unsafe fn new() -> Self {
        let () = Self::MEET_IN_NO_BANK;
        Slots {
            address: part_of_warp(FOURS * FOUR_BYTES),
        }
    }

    /// Group `at` of the slot of lane `lane`. Both indices are reduced to groups and lanes that
    /// exist.
    #[inline(always)]
    pub fn four(self, lane: u32, at: u32) -> [Limb; 4] {
        // SAFETY: by the contract of `new`, and as the address is within the slots.
        unsafe { load_four(self.address_of(lane, at)) }
    }

    /// Sets group `at` of the slot of lane `lane`.
    #[inline(always)]
    pub fn set_four(self, lane: u32, at: u32, limbs: [Limb; 4]) {
        // SAFETY: as in `four`.
        unsafe { store_four(self.address_of(lane, at), limbs) }
    }

    /// Limb `at` of the slot of lane `lane`.
    #[inline(always)]
    pub fn limb(self, lane: u32, at: u32) -> Limb {
        // SAFETY: as in `four`.
        unsafe { load(self.address_of(lane, at / 4) + LIMB_BYTES * (at % 4)) }
    }

    /// Sets limb `at` of the slot of lane `lane`.
    #[inline(always)]
    pub fn set(self, lane: u32, at: u32, limb: Limb) {
        // SAFETY: as in `four`.
        unsafe { store(self.address_of(lane, at / 4) + LIMB_BYTES * (at % 4), limb) }
    }

    /// The slot of lane `lane`.
    #[inline(always)]
    pub fn of_lane(self, lane: u32) -> Slot<FOURS> {
        Slot { slots: self, lane }
    }

    #[inline(always)]
    fn address_of(self, lane: u32, at: u32) -> u32 {
        self.address + FOUR_BYTES * (lane % WARP * FOURS + at.min(FOURS - 1))
    }
}

/// The address of the calling warp's part of the block's shared memory, of which each thread has
/// `bytes` bytes.
#[inline(always)]
pub(super) fn part_of_warp(bytes: u32) -> u32 {
    // SAFETY: the register is defined in every thread.
    let thread = unsafe { nvptx::_thread_idx_x() as u32 };
    start() + (thread - thread::lane()) * bytes
}

/// The address of the block's shared memory.
#[inline(always)]
pub(super) fn start() -> u32 {
    let start: u32;
    // SAFETY: this is the address of a variable.
    unsafe {
        asm!("mov.u32 {start}, bigint_shared;", start = out(reg32) start,
            options(pure, nomem, nostack, preserves_flags));
    }
    start
}

/// A warp's numbers of one operand, each in its thread's place. They can also be accessed as one
/// row of limbs, in the order of the places.
#[derive(Clone, Copy)]
pub struct Places {
    address: u32,
    /// The limbs of each number.
    width: u32,
    /// The limbs from one number to the next.
    place: u32,
    /// The numbers for each group of four limbs, times 2^16. It turns the index of a group of the
    /// row into that of its number. It is zero if there are no gaps between numbers.
    numbers_per_four: u32,
}

impl Places {
    /// The places for numbers of `width` limbs that begin `before` limbs above the start of the
    /// warp's part, of which each thread has `bytes` bytes.
    ///
    /// # Safety
    /// The launch has `bytes` bytes of shared memory for each thread of a block, which is enough
    /// for these places. Barriers order what threads write and others read.
    #[inline(always)]
    pub unsafe fn new(bytes: u32, before: u32, width: u32) -> Self {
        Places {
            address: part_of_warp(bytes) + LIMB_BYTES * before,
            width,
            place: place(width as usize) as u32,
            // There are at most 32 groups in a number and 2^10 in all, so that the rounding of the
            // factor never leads to a wrong number.
            numbers_per_four: if width % 4 == 0 {
                (1 << 16) / (width / 4).max(1) + 1
            } else {
                0
            },
        }
    }

    /// Whether numbers follow each other without a gap.
    #[inline(always)]
    fn are_dense(self) -> bool {
        self.numbers_per_four == 0
    }

    /// The number of groups of four limbs that all numbers have together.
    #[inline(always)]
    pub fn fours(self) -> u32 {
        WARP / 4 * self.width
    }

    #[inline(always)]
    fn address_of_four(self, at: u32) -> u32 {
        // Where numbers are whole groups, a limb is left free behind each of them.
        let numbers = at * self.numbers_per_four >> 16;
        self.address + LIMB_BYTES * (4 * at + numbers)
    }

    /// Group `at` of the limbs of all numbers; `at` is below [`fours`](Self::fours).
    #[inline(always)]
    pub fn four(self, at: u32) -> [Limb; 4] {
        let address = self.address_of_four(at);
        if self.are_dense() {
            // SAFETY: by the contract of `new`; 32 numbers are whole groups, and places begin at a
            // multiple of 16 bytes.
            unsafe { load_four(address) }
        } else {
            // SAFETY: as above.
            [0, 1, 2, 3].map(|i| unsafe { load(address + LIMB_BYTES * i) })
        }
    }

    /// Sets group `at` of the limbs of all numbers; `at` is below [`fours`](Self::fours).
    #[inline(always)]
    pub fn set_four(self, at: u32, limbs: [Limb; 4]) {
        let address = self.address_of_four(at);
        if self.are_dense() {
            // SAFETY: as in `four`.
            unsafe { store_four(address, limbs) }
        } else {
            let [a, b, c, d] = limbs;
            // SAFETY: as in `four`.
            unsafe {
                store(address, a);
                store(address + LIMB_BYTES, b);
                store(address + 2 * LIMB_BYTES, c);
                store(address + 3 * LIMB_BYTES, d);
            }
        }
    }

    /// The limbs in these places that a lane moves of the pieces of numbers: limb `i`, below 8, is
    /// the one that [`Batch::walk`](super::memory::Batch::walk) finds in device memory.
    #[inline(always)]
    pub fn walk(self, lane: u32, is_unit: bool) -> impl Fn(u32) -> Spot + Copy {
        let limb = lane % PIECE;
        let (first, step) = match is_unit {
            true => ((lane - limb) * self.place + limb, self.place),
            false => (lane * self.place, 1),
        };
        let (address, step) = (self.address + LIMB_BYTES * first, LIMB_BYTES * step);
        move |i| Spot {
            address: address + i * step,
        }
    }

    /// The number in the place of lane `lane`.
    #[inline(always)]
    pub fn of_lane(self, lane: u32) -> SharedNumber {
        SharedNumber {
            address: self.address + LIMB_BYTES * (lane % WARP * self.place),
            width: self.width,
        }
    }
}

/// Limbs of one thread in shared memory, which are read and set four at a time. An index `at` is a
/// multiple of 4.
pub trait Fours: Copy {
    /// Limbs `at .. at + 4`.
    fn four(self, at: u32) -> [Limb; 4];

    /// Sets limbs `at .. at + 4`.
    fn set_four(self, at: u32, limbs: [Limb; 4]);

    /// Limbs `at .. at + N`; `N` is a multiple of 4.
    #[inline(always)]
    fn limbs<const N: usize>(self, at: u32) -> [Limb; N] {
        let mut limbs = [0; N];
        for (i, four) in limbs.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            *four = self.four(at + 4 * i as u32);
        }
        limbs
    }

    /// Sets limbs `at .. at + N`.
    #[inline(always)]
    fn set_limbs<const N: usize>(self, at: u32, limbs: [Limb; N]) {
        for (i, four) in limbs.as_chunks::<4>().0.iter().enumerate() {
            self.set_four(at + 4 * i as u32, *four);
        }
    }
}

/// The slot of one thread.
#[derive(Clone, Copy)]
pub struct Slot<const FOURS: u32> {
    slots: Slots<FOURS>,
    lane: u32,
}

/// The limbs of a slot below limb `end`. Those above read as zeros.
#[derive(Clone, Copy)]
pub struct Below<const FOURS: u32> {
    slot: Slot<FOURS>,
    end: u32,
}

impl<const FOURS: u32> Slot<FOURS> {
    /// The limbs below `end`, a multiple of 4.
    #[inline(always)]
    pub fn below(self, end: u32) -> Below<FOURS> {
        Below { slot: self, end }
    }
}

impl<const FOURS: u32> Fours for Below<FOURS> {
    #[inline(always)]
    fn four(self, at: u32) -> [Limb; 4] {
        match at < self.end {
            true => self.slot.four(at),
            false => [0; 4],
        }
    }

    #[inline(always)]
    fn set_four(self, at: u32, limbs: [Limb; 4]) {
        if at < self.end {
            self.slot.set_four(at, limbs);
        }
    }
}

impl<const FOURS: u32> Fours for Slot<FOURS> {
    #[inline(always)]
    fn four(self, at: u32) -> [Limb; 4] {
        self.slots.four(self.lane, at / 4)
    }

    #[inline(always)]
    fn set_four(self, at: u32, limbs: [Limb; 4]) {
        self.slots.set_four(self.lane, at / 4, limbs);
    }
}

impl Fours for SharedNumber {
    #[inline(always)]
    fn four(self, at: u32) -> [Limb; 4] {
        [
            self.limb(at),
            self.limb(at + 1),
            self.limb(at + 2),
            self.limb(at + 3),
        ]
    }

    #[inline(always)]
    fn set_four(self, at: u32, [x0, x1, x2, x3]: [Limb; 4]) {
        self.set(at, x0);
        self.set(at + 1, x1);
        self.set(at + 2, x2);
        self.set(at + 3, x3);
    }
}

/// A limb in one of the places.
#[derive(Clone, Copy)]
pub struct Spot {
    address: u32,
}

impl Spot {
    /// The limb.
    #[inline(always)]
    pub fn limb(self) -> Limb {
        // SAFETY: by the contract of `Places::new`.
        unsafe { load(self.address) }
    }

    /// Sets the limb.
    #[inline(always)]
    pub fn set(self, limb: Limb) {
        // SAFETY: as in `limb`.
        unsafe { store(self.address, limb) }
    }
}

/// A number in shared memory. Above its width it reads as zero, and stores do nothing.
#[derive(Clone, Copy)]
pub struct SharedNumber {
    address: u32,
    width: u32,
}

impl SharedNumber {
    /// Limbs `from .. to`. They may be above the width, but the caller must know that the number's
    /// place has them.
    #[inline(always)]
    pub fn part(self, from: u32, to: u32) -> Self {
        SharedNumber {
            address: self.address + LIMB_BYTES * from,
            width: to.saturating_sub(from),
        }
    }

    /// Limbs in the number.
    #[inline(always)]
    pub fn width(self) -> u32 {
        self.width
    }

    /// Limb `at`.
    #[inline(always)]
    pub fn limb(self, at: u32) -> Limb {
        // SAFETY: by the contract of `Places::new`, where `at` is below the width.
        unsafe { load_below(at, self.width, self.address + LIMB_BYTES * at) }
    }

    /// Sets limb `at`.
    #[inline(always)]
    pub fn set(self, at: u32, limb: Limb) {
        // SAFETY: as in `limb`.
        unsafe { store_below(at, self.width, self.address + LIMB_BYTES * at, limb) }
    }
}

/// The shared memory of a group of lanes for one value.
#[derive(Clone, Copy)]
pub struct Region {
    address: u32,
}

impl Region {
    /// Region `index` of a block's regions, which have `fours` groups of four limbs each.
    ///
    /// # Safety
    /// The launch has enough shared memory for the region. Barriers order what lanes write and
    /// others read, and other groups of lanes use other regions.
    #[inline(always)]
    pub unsafe fn new(index: u32, fours: u32) -> Self {
        Region {
            address: start() + index * fours * FOUR_BYTES,
        }
    }

    /// Limbs `4 at .. 4 at + 4`.
    ///
    /// # Safety
    /// `at` is below the `fours` of the region.
    #[inline(always)]
    pub unsafe fn four(self, at: u32) -> [Limb; 4] {
        // SAFETY: by the contracts of `new` and of this function.
        unsafe { load_four(self.address + at * FOUR_BYTES) }
    }

    /// Sets limbs `4 at .. 4 at + 4`.
    ///
    /// # Safety
    /// `at` is below the `fours` of the region.
    #[inline(always)]
    pub unsafe fn set_four(self, at: u32, limbs: [Limb; 4]) {
        // SAFETY: as in `four`.
        unsafe { store_four(self.address + at * FOUR_BYTES, limbs) }
    }
}

/// Room for a number of each thread of a block, in shared memory, for threads that exchange them. Groups of four
/// limbs of all threads stand side by side, so that a warp meets in no bank.
#[derive(Clone, Copy)]
pub struct OfThreads<const LIMBS: usize> {
    address: u32,
}

impl<const LIMBS: usize> OfThreads<LIMBS> {
    /// Groups of four limbs of a number.
    const FOURS: usize = LIMBS.div_ceil(4);

    /// The bytes of shared memory that it takes.
    pub const BYTES: u32 = Self::FOURS as u32 * FOUR_BYTES * BLOCK;

    /// The room behind the first `fours` groups of four limbs of the block's shared memory.
    ///
    /// # Safety
    /// The block has `BLOCK` threads, and the launch has [`BYTES`](Self::BYTES) behind those groups. Barriers order
    /// what threads write and others read.
    #[inline(always)]
    pub unsafe fn new(fours: u32) -> Self {
        OfThreads {
            address: start() + fours * FOUR_BYTES,
        }
    }

    #[inline(always)]
    pub(super) fn address_of(self, thread: u32, four: usize) -> u32 {
        self.address + (thread % BLOCK + BLOCK * four as u32) * FOUR_BYTES
    }

    /// The number of a thread of the block.
    #[inline(always)]
    pub fn get(self, thread: u32) -> [Limb; LIMBS] {
        let mut limbs = [0; LIMBS];
        for i in 0..Self::FOURS {
            // SAFETY: by the contract of `new`, and as the thread is taken modulo the block's.
            let four = unsafe { load_four(self.address_of(thread, i)) };
            for (k, limb) in four.into_iter().enumerate() {
                if let Some(place) = limbs.get_mut(4 * i + k) {
                    *place = limb;
                }
            }
        }
        limbs
    }

    /// Sets the number of a thread of the block.
    #[inline(always)]
    pub fn set(self, thread: u32, limbs: [Limb; LIMBS]) {
        let limb = |i: usize| limbs.get(i).copied().unwrap_or(0);
        for i in 0..Self::FOURS {
            let four = [0, 1, 2, 3].map(|k| limb(4 * i + k));
            // SAFETY: as in `get`.
            unsafe { store_four(self.address_of(thread, i), four) }
        }
    }
}
