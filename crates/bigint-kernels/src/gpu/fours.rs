//! Four limbs at a time, by as few instructions as their place allows: where a number
//! begins decides whether four, two or one of its limbs lie in one aligned piece. All three
//! ways stand behind each other, without a branch, and two of them are switched off.

// Device and shared memory are reached by instructions of their own.
#![allow(unsafe_code)]

use bigint_core::Limb;
use core::arch::asm;

/// Up to which limb a number may be touched by pieces of one, two and four limbs: in one of
/// them to the number's end, in the others nowhere.
#[derive(Clone, Copy)]
pub struct Reach {
    ones: u32,
    twos: u32,
    fours: u32,
}

impl Reach {
    /// A number that ends at limb `end`. `aligned` is a common multiple, in limbs, of the
    /// pieces that the number may be moved by.
    #[inline(always)]
    pub fn new(end: u32, aligned: u32) -> Self {
        let by_fours = aligned % 4 == 0;
        let by_twos = !by_fours & (aligned % 2 == 0);
        let end_where = |holds: bool| if holds { end } else { 0 };
        Reach {
            ones: end_where(!by_fours & !by_twos),
            twos: end_where(by_twos),
            fours: end_where(by_fours),
        }
    }

    /// Four limbs at `at` of a run of `limbs` limbs, at an aligned address: by one piece
    /// where the run has them all. Places before its begin are counted below zero.
    #[inline(always)]
    pub fn of_run(at: u32, limbs: u32) -> Self {
        let is_whole = at < limbs.saturating_sub(3);
        Reach {
            ones: if is_whole { 0 } else { limbs },
            twos: 0,
            fours: if is_whole { limbs } else { 0 },
        }
    }

    /// The same, ending at limb `end` at the latest, a multiple of four.
    #[inline(always)]
    pub fn cut(self, end: u32) -> Self {
        Reach {
            ones: self.ones.min(end),
            twos: self.twos.min(end),
            fours: self.fours.min(end),
        }
    }
}

/// A number that gives and takes its limbs four at a time.
pub trait Fours: Copy {
    /// Limbs `at .. at + 4`, zeros above the number's end; `at` is a multiple of four.
    fn four(self, at: u32) -> [Limb; 4];

    /// Sets limbs `at .. at + 4`, but for those above the end.
    fn set_four(self, at: u32, limbs: [Limb; 4]);

    /// Limbs `at .. at + X`.
    #[inline(always)]
    fn in_fours<const X: usize>(self, at: u32) -> [Limb; X] {
        let mut limbs = [0; X];
        for (i, four) in limbs.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            *four = self.four(at + 4 * i as u32);
        }
        limbs
    }

    /// Sets limbs `at .. at + X`.
    #[inline(always)]
    fn set_in_fours<const X: usize>(self, at: u32, limbs: [Limb; X]) {
        for (i, four) in limbs.as_chunks::<4>().0.iter().enumerate() {
            self.set_four(at + 4 * i as u32, *four);
        }
    }
}

/// A number without limbs.
#[derive(Clone, Copy)]
pub struct Nothing;

impl Fours for Nothing {
    #[inline(always)]
    fn four(self, _: u32) -> [Limb; 4] {
        [0; 4]
    }

    #[inline(always)]
    fn set_four(self, _: u32, _: [Limb; 4]) {}
}

/// The limbs of a number below `end`, a multiple of four.
#[derive(Clone, Copy)]
pub struct Below<N> {
    /// The number.
    pub number: N,
    /// Limbs from here on are zero.
    pub end: u32,
}

impl<N: Fours> Fours for Below<N> {
    #[inline(always)]
    fn four(self, at: u32) -> [Limb; 4] {
        self.number.four(if at < self.end { at } else { NOWHERE })
    }

    #[inline(always)]
    fn set_four(self, at: u32, limbs: [Limb; 4]) {
        let at = if at < self.end { at } else { NOWHERE };
        self.number.set_four(at, limbs);
    }
}

/// Above every number's end; and so are the limbs that follow.
pub const NOWHERE: u32 = u32::MAX << 8;

macro_rules! fours {
    ($load:ident $store:ident $space:literal $register:ident $address:ty) => {
        /// The limbs of four `at`, which are at `address`, inside the reach; else zeros.
        ///
        /// # Safety
        /// Inside the reach there are limbs, and pieces of them are aligned as it says.
        #[inline(always)]
        pub unsafe fn $load(at: u32, reach: Reach, address: $address) -> [Limb; 4] {
            let (a, b, c, d);
            // SAFETY: by this function's own contract; what is outside is not touched.
            unsafe {
                asm!("{{",
                    ".reg .pred inside;",
                    ".reg .b32 next;",
                    "mov.u32 {a}, 0;",
                    "mov.u32 {b}, 0;",
                    "mov.u32 {c}, 0;",
                    "mov.u32 {d}, 0;",
                    "setp.lt.u32 inside, {at}, {fours};",
                    concat!("@inside ld.", $space, ".v4.u32 {{{a}, {b}, {c}, {d}}}, [{address}];"),
                    "setp.lt.u32 inside, {at}, {twos};",
                    concat!("@inside ld.", $space, ".v2.u32 {{{a}, {b}}}, [{address}];"),
                    "setp.lt.u32 inside, {at}, {ones};",
                    concat!("@inside ld.", $space, ".u32 {a}, [{address}];"),
                    "add.u32 next, {at}, 1;",
                    "setp.lt.u32 inside, next, {ones};",
                    concat!("@inside ld.", $space, ".u32 {b}, [{address} + 4];"),
                    "add.u32 next, {at}, 2;",
                    "setp.lt.u32 inside, next, {twos};",
                    concat!("@inside ld.", $space, ".v2.u32 {{{c}, {d}}}, [{address} + 8];"),
                    "setp.lt.u32 inside, next, {ones};",
                    concat!("@inside ld.", $space, ".u32 {c}, [{address} + 8];"),
                    "add.u32 next, {at}, 3;",
                    "setp.lt.u32 inside, next, {ones};",
                    concat!("@inside ld.", $space, ".u32 {d}, [{address} + 12];"),
                    "}}",
                    a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
                    address = in($register) address, at = in(reg32) at,
                    ones = in(reg32) reach.ones, twos = in(reg32) reach.twos,
                    fours = in(reg32) reach.fours,
                    options(pure, readonly, nostack));
            }
            [a, b, c, d]
        }

        /// Stores the limbs of four `at`, at `address`, inside the reach.
        ///
        /// # Safety
        /// As for loads.
        #[inline(always)]
        pub unsafe fn $store(at: u32, reach: Reach, address: $address, [a, b, c, d]: [Limb; 4]) {
            // SAFETY: by this function's own contract; what is outside is not touched.
            unsafe {
                asm!("{{",
                    ".reg .pred inside;",
                    ".reg .b32 next;",
                    "setp.lt.u32 inside, {at}, {fours};",
                    concat!("@inside st.", $space, ".v4.u32 [{address}], {{{a}, {b}, {c}, {d}}};"),
                    "setp.lt.u32 inside, {at}, {twos};",
                    concat!("@inside st.", $space, ".v2.u32 [{address}], {{{a}, {b}}};"),
                    "setp.lt.u32 inside, {at}, {ones};",
                    concat!("@inside st.", $space, ".u32 [{address}], {a};"),
                    "add.u32 next, {at}, 1;",
                    "setp.lt.u32 inside, next, {ones};",
                    concat!("@inside st.", $space, ".u32 [{address} + 4], {b};"),
                    "add.u32 next, {at}, 2;",
                    "setp.lt.u32 inside, next, {twos};",
                    concat!("@inside st.", $space, ".v2.u32 [{address} + 8], {{{c}, {d}}};"),
                    "setp.lt.u32 inside, next, {ones};",
                    concat!("@inside st.", $space, ".u32 [{address} + 8], {c};"),
                    "add.u32 next, {at}, 3;",
                    "setp.lt.u32 inside, next, {ones};",
                    concat!("@inside st.", $space, ".u32 [{address} + 12], {d};"),
                    "}}",
                    a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, d = in(reg32) d,
                    address = in($register) address, at = in(reg32) at,
                    ones = in(reg32) reach.ones, twos = in(reg32) reach.twos,
                    fours = in(reg32) reach.fours,
                    options(nostack));
            }
        }
    };
}

fours! { load_global store_global "global" reg64 u64 }
fours! { load_shared store_shared "shared" reg32 u32 }
