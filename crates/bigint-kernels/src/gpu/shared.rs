//! Shared memory: a slot for each thread of a warp, in which the other threads of the
//! warp read and write too.
//!
//! A slot's size is an odd number of fours of limbs, so that threads that each move a
//! four of their own slot meet in no bank.

// Shared memory is reached through `ld.shared` and `st.shared`, with 32-bit addresses of
// its own.
#![allow(unsafe_code)]

use super::thread;
use bigint_core::Limb;
use core::arch::{asm, global_asm, nvptx};

// The block's shared memory, as long as the launch asks for.
global_asm!(".extern .shared .align 16 .b8 bigint_shared[];");

/// Bytes in four limbs.
const FOUR_BYTES: u32 = 16;

/// Threads in a warp.
const WARP: u32 = 32;

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
        let start: u32;
        // SAFETY: this is the address of a variable; the register is defined in every
        // thread.
        let thread = unsafe {
            asm!("mov.u32 {start}, bigint_shared;", start = out(reg32) start,
                options(pure, nomem, nostack, preserves_flags));
            nvptx::_thread_idx_x() as u32
        };
        let warp = thread - thread::lane();
        Slots {
            address: start + warp * FOURS * FOUR_BYTES,
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
