//! Shared memory: the numbers of a warp's tile, or a slot for each thread of a warp, in which
//! the other threads of the warp read and write too.
//!
//! A slot's size is an odd number of fours of limbs, so that threads that each move a
//! four of their own slot meet in no bank.

// Shared memory is reached through `ld.shared` and `st.shared`, with 32-bit addresses of
// its own.
#![allow(unsafe_code)]

use super::fours::{self, Fours, Reach};
use super::memory::Run;
use bigint_core::Limb;
use bigint_core::staging::{Region, Staging};
use core::arch::{asm, global_asm, nvptx};

// The block's shared memory, as long as the launch asks for.
global_asm!(".extern .shared .align 16 .b8 bigint_shared[];");

/// Bytes in a limb.
const LIMB_BYTES: u32 = 4;

/// Bytes in four limbs.
const FOUR_BYTES: u32 = 16;

/// Threads in a warp.
const WARP: u32 = 32;

/// The address at which the block's shared memory begins, and the number of the calling
/// thread's warp in the block.
#[inline(always)]
fn of_warp() -> (u32, u32) {
    let start: u32;
    // SAFETY: this is the address of a variable; the register is defined in every thread.
    let thread = unsafe {
        asm!("mov.u32 {start}, bigint_shared;", start = out(reg32) start,
            options(pure, nomem, nostack, preserves_flags));
        nvptx::_thread_idx_x() as u32
    };
    (start, thread / WARP)
}

/// The numbers of a tile in shared memory; see [`bigint_core::staging`].
#[derive(Clone, Copy)]
pub struct Shelf {
    /// Of the four that the first number begins in.
    address: u32,
    /// Limbs from number to number; zero where one number stands for all.
    stride: u32,
    width: u32,
    /// Limbs before the first number in its four.
    lead: u32,
    /// All limbs.
    limbs: u32,
    /// Fours of padding behind each number.
    padding: u32,
    /// Fours left out in the middle of each number.
    gap: u32,
    /// `2^16` over the fours of a number, rounded up, where numbers have padding; else zero.
    reciprocal: u32,
}

impl Shelf {
    /// The shelf of a run of numbers of `width` limbs in a region of the calling thread's
    /// warp, which has `warp_limbs` limbs. `gap` is that of [`Staging`]; `is_one` says that
    /// the run is one number that stands for all.
    ///
    /// # Safety
    /// The launch has that many limbs of shared memory for each warp, the region is inside
    /// and has room for the run. What threads write and others read is ordered by barriers.
    #[inline(always)]
    pub unsafe fn new(
        staging: &Staging,
        region: Region,
        gap: u32,
        run: Run,
        width: u32,
        is_one: bool,
    ) -> Self {
        let (start, warp) = of_warp();
        // Numbers that do not begin with a four follow each other without padding.
        let stride = if run.lead() == 0 {
            region.stride
        } else {
            width
        };
        let fours = (width / 4).max(1);
        Shelf {
            address: start + LIMB_BYTES * (warp * staging.limbs() + region.start),
            stride: if is_one { 0 } else { stride },
            width,
            lead: run.lead(),
            limbs: run.limbs(),
            padding: (stride - width) / 4,
            gap: gap / 4,
            reciprocal: if stride == width {
                0
            } else {
                (1_u32 << 16).div_ceil(fours)
            },
        }
    }

    /// The address of the run's four `f`. Where numbers have padding, the multiplication
    /// divides by their fours: `f` is below `2^16` over these.
    #[inline(always)]
    fn address_of(self, f: u32) -> u32 {
        let number = (f * self.reciprocal) >> 16;
        let padded = f + number * self.padding + (f / 4 % 2) * self.gap;
        self.address + FOUR_BYTES * padded
    }

    /// The limbs of the run's four `f`, zeros for those that are not the run's.
    #[inline(always)]
    pub fn four(self, f: u32) -> [Limb; 4] {
        let at = (4 * f).wrapping_sub(self.lead);
        let reach = Reach::of_run(at, self.limbs);
        // SAFETY: by the contract of `new`; the four is aligned.
        unsafe { fours::load_shared(at, reach, self.address_of(f)) }
    }

    /// Sets the limbs of four `f` that are the run's.
    #[inline(always)]
    pub fn set_four(self, f: u32, limbs: [Limb; 4]) {
        let at = (4 * f).wrapping_sub(self.lead);
        let reach = Reach::of_run(at, self.limbs);
        // SAFETY: as in `four`.
        unsafe { fours::store_shared(at, reach, self.address_of(f), limbs) };
    }

    /// A number of the tile, which has it.
    #[inline(always)]
    pub fn number(self, number: u32) -> Place {
        Place {
            address: self.address + LIMB_BYTES * (self.lead + number * self.stride),
            reach: Reach::new(self.width, self.lead | self.stride | self.width),
        }
    }
}

/// A number in shared memory.
#[derive(Clone, Copy)]
pub struct Place {
    address: u32,
    reach: Reach,
}

impl Place {
    /// The limbs from `from` on, a multiple of four, up to `to`, of which the shelf has room
    /// for as many as are reached in the end.
    #[inline(always)]
    pub fn from(self, from: u32) -> Self {
        Place {
            address: self.address + LIMB_BYTES * from,
            reach: self.reach,
        }
    }

    /// The same number, ending at limb `end` at the latest, a multiple of four.
    #[inline(always)]
    pub fn cut(self, end: u32) -> Self {
        Place {
            reach: self.reach.cut(end),
            ..self
        }
    }

    /// The same number, without limbs where `on` is false.
    #[inline(always)]
    pub fn switched(self, on: bool) -> Self {
        self.cut(if on { u32::MAX - 3 } else { 0 })
    }
}

impl Fours for Place {
    #[inline(always)]
    fn four(self, at: u32) -> [Limb; 4] {
        // SAFETY: by the contract of `Shelf::new`.
        unsafe { fours::load_shared(at, self.reach, self.address + LIMB_BYTES * at) }
    }

    #[inline(always)]
    fn set_four(self, at: u32, limbs: [Limb; 4]) {
        // SAFETY: as in `four`.
        unsafe { fours::store_shared(at, self.reach, self.address + LIMB_BYTES * at, limbs) };
    }
}

/// The slots of the calling thread's warp, each of `FOURS` fours of limbs.
#[derive(Clone, Copy)]
pub struct Slots<const FOURS: u32> {
    address: u32,
}

impl<const FOURS: u32> Slots<FOURS> {
    const MEET_IN_NO_BANK: () = assert!(FOURS % 2 == 1);

    /// The calling thread's warp's slots.
    ///
    /// # Safety
    /// The launch has `FOURS` fours of shared memory for each thread of a block. What
    /// threads write and others read is ordered by barriers.
    #[inline(always)]
    pub unsafe fn new() -> Self {
        let () = Self::MEET_IN_NO_BANK;
        let (start, warp) = of_warp();
        Slots {
            address: start + warp * WARP * FOURS * FOUR_BYTES,
        }
    }

    /// Four `at` of the slot of lane `lane`; both are cut to what there is.
    #[inline(always)]
    pub fn four(self, lane: u32, at: u32) -> [Limb; 4] {
        let (a, b, c, d);
        // SAFETY: by the contract of `new`, and as the address is within the slots.
        unsafe {
            asm!("ld.shared.v4.u32 {{{a}, {b}, {c}, {d}}}, [{address}];",
                a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
                address = in(reg32) self.address_of(lane, at),
                options(pure, readonly, nostack, preserves_flags));
        }
        [a, b, c, d]
    }

    /// Sets four `at` of the slot of lane `lane`.
    #[inline(always)]
    pub fn set_four(self, lane: u32, at: u32, [a, b, c, d]: [Limb; 4]) {
        // SAFETY: as in `four`.
        unsafe {
            asm!("st.shared.v4.u32 [{address}], {{{a}, {b}, {c}, {d}}};",
                a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, d = in(reg32) d,
                address = in(reg32) self.address_of(lane, at),
                options(nostack, preserves_flags));
        }
    }

    /// `N` limbs from four `at` on, as [`four`](Self::four) gets them.
    #[inline(always)]
    pub fn limbs<const N: usize>(self, lane: u32, at: u32) -> [Limb; N] {
        let mut limbs = [0; N];
        for (i, four) in limbs.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            *four = self.four(lane, at + i as u32);
        }
        limbs
    }

    /// Sets `N` limbs from four `at` on.
    #[inline(always)]
    pub fn set_limbs<const N: usize>(self, lane: u32, at: u32, limbs: [Limb; N]) {
        for (i, four) in limbs.as_chunks::<4>().0.iter().enumerate() {
            self.set_four(lane, at + i as u32, *four);
        }
    }

    #[inline(always)]
    fn address_of(self, lane: u32, at: u32) -> u32 {
        self.address + FOUR_BYTES * (lane % WARP * FOURS + at.min(FOURS - 1))
    }
}
