//! A sieve in a block's shared memory, and a list in device memory of what is found by it.

// Shared memory is reached through `ld.shared` and `st.shared`. Several threads change it at a
// time, through atomic operations.
#![allow(unsafe_code)]

use super::access::store_two;
use super::shared::start;
use bigint_core::Limb;
use core::arch::asm;

/// A sieve: words of 32 bits in the block's shared memory, and behind them a word that counts
/// those taken.
#[derive(Clone, Copy)]
pub struct Sieve {
    address: u32,
    words: u32,
}

impl Sieve {
    /// A sieve of `words` words.
    ///
    /// # Safety
    /// The launch has shared memory for one word more than `words`. Words and bits that are
    /// accessed are among them. Barriers separate [`clear`](Self::clear),
    /// [`strike`](Self::strike) and the methods that take words.
    #[inline(always)]
    pub unsafe fn new(words: u32) -> Self {
        Sieve {
            address: start(),
            words,
        }
    }

    /// Sets word `at` to zero. Word `words` is the one that counts.
    #[inline(always)]
    pub fn clear(self, at: u32) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("st.shared.u32 [{address}], {zero};",
                address = in(reg32) self.address + 4 * at, zero = in(reg32) 0,
                options(nostack, preserves_flags));
        }
    }

    /// Atomically sets bit `at`.
    #[inline(always)]
    pub fn strike(self, at: u32) {
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("red.shared.or.b32 [{address}], {bit};",
                address = in(reg32) self.address + at / 32 * 4, bit = in(reg32) 1u32 << (at % 32),
                options(nostack, preserves_flags));
        }
    }

    /// Atomically takes the next word that no thread has taken, and returns its index.
    #[inline(always)]
    pub fn next(self) -> u32 {
        let before;
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("atom.shared.add.u32 {before}, [{address}], {one};",
                before = out(reg32) before, one = in(reg32) 1,
                address = in(reg32) self.address + 4 * self.words,
                options(nostack, preserves_flags));
        }
        before
    }

    /// Word `at`.
    #[inline(always)]
    pub fn word(self, at: u32) -> Limb {
        let word;
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("ld.shared.u32 {word}, [{address}];",
                word = out(reg32) word, address = in(reg32) self.address + 4 * at,
                options(readonly, nostack, preserves_flags));
        }
        word
    }
}

/// A list in device memory: a limb with the count, an unused limb, and room for pairs of limbs.
#[derive(Clone, Copy)]
pub struct List {
    address: u64,
    room: u32,
}

impl List {
    /// The list at `address`, with room for `room` pairs.
    ///
    /// # Safety
    /// `address` is a multiple of 8, and there are `2 + 2 room` limbs in memory from it on.
    #[inline(always)]
    pub unsafe fn new(address: u64, room: u32) -> Self {
        List { address, room }
    }

    /// Atomically counts a pair, and stores it if there is room.
    #[inline(always)]
    pub fn push(self, pair: [Limb; 2]) {
        let before: u32;
        // SAFETY: by the contract of `new`.
        unsafe {
            asm!("atom.global.add.u32 {before}, [{address}], {one};",
                before = out(reg32) before, one = in(reg32) 1,
                address = in(reg64) self.address,
                options(nostack, preserves_flags));
            if before < self.room {
                store_two(self.address + 8 + 8 * u64::from(before), pair);
            }
        }
    }
}
