//! Stretches of the shared memory of a whole block or of a warp.

// Shared memory is reached through `ld.shared` and `st.shared`, with 32-bit addresses of
// its own.
#![allow(unsafe_code)]

use super::access::shared::{load, load_four, store, store_below, store_four};
use super::block::Team;
use super::flat::Row;
use super::shared::{part_of_warp, start};
use super::warpgroup::Columns;
use bigint_core::Limb;
use core::arch::asm;

/// A stretch of the block's shared memory. It is accessed as pairs of doubles, words of 64 bits,
/// limbs, or groups of four limbs; an index counts elements of that size from the beginning.
#[derive(Clone, Copy)]
pub struct Stretch {
    address: u32,
}

impl Stretch {
    /// The stretch that begins at byte `from`, a multiple of 16, of the block's shared memory. The team
    /// vouches that the launch has shared memory for every place that the leaf accesses, and that
    /// barriers order what threads write and others read.
    #[inline(always)]
    pub fn new<const THREADS: u32>(_: Team<THREADS>, from: u32) -> Self {
        Stretch {
            address: start() + from,
        }
    }

    /// The calling warp's part of the block's shared memory, of which each thread has `bytes`
    /// bytes, a multiple of 4.
    ///
    /// # Safety
    /// The launch has `bytes` bytes for each thread of a block, and leaves access no place beyond
    /// their warp's part. Barriers order what threads write and others read.
    #[inline(always)]
    pub unsafe fn of_warp(bytes: u32) -> Self {
        Stretch {
            address: part_of_warp(bytes),
        }
    }

    /// Pair `at`.
    #[inline(always)]
    pub fn pair(self, at: u32) -> [f64; 2] {
        let (x, y);
        // SAFETY: by the contract of `Team::new` or `of_warp`.
        unsafe {
            asm!("ld.shared.v2.f64 {{{x}, {y}}}, [{address}];",
                x = out(reg64) x, y = out(reg64) y, address = in(reg32) self.address + 16 * at,
                options(pure, readonly, nostack, preserves_flags));
        }
        [x, y]
    }

    /// Sets pair `at`.
    #[inline(always)]
    pub fn set_pair(self, at: u32, [x, y]: [f64; 2]) {
        // SAFETY: by the contract of `Team::new` or `of_warp`.
        unsafe {
            asm!("st.shared.v2.f64 [{address}], {{{x}, {y}}};",
                x = in(reg64) x, y = in(reg64) y, address = in(reg32) self.address + 16 * at,
                options(nostack, preserves_flags));
        }
    }

    /// Word `at`.
    #[inline(always)]
    pub fn word(self, at: u32) -> u64 {
        let word;
        // SAFETY: by the contract of `Team::new` or `of_warp`.
        unsafe {
            asm!("ld.shared.u64 {word}, [{address}];",
                word = out(reg64) word, address = in(reg32) self.address + 8 * at,
                options(pure, readonly, nostack, preserves_flags));
        }
        word
    }

    /// Sets word `at`.
    #[inline(always)]
    pub fn set_word(self, at: u32, word: u64) {
        // SAFETY: by the contract of `Team::new` or `of_warp`.
        unsafe {
            asm!("st.shared.u64 [{address}], {word};",
                word = in(reg64) word, address = in(reg32) self.address + 8 * at,
                options(nostack, preserves_flags));
        }
    }

    /// Sets word `at` if `one` is `other`, without a branch.
    #[inline(always)]
    pub fn set_word_if_equal(self, one: u32, other: u32, at: u32, word: u64) {
        // SAFETY: by the contract of `Team::new` or `of_warp`.
        unsafe {
            asm!("{{",
                ".reg .pred equal;",
                "setp.eq.u32 equal, {one}, {other};",
                "@equal st.shared.u64 [{address}], {word};",
                "}}",
                one = in(reg32) one, other = in(reg32) other, word = in(reg64) word,
                address = in(reg32) self.address.wrapping_add(8 * at),
                options(nostack));
        }
    }

    /// The stretch from pair `at` on. (Where places are the sum of a variable and multiples of another one, the compiler
    /// then computes each by one instruction.)
    #[inline(always)]
    pub fn from_pair(self, at: u32) -> Self {
        self.from_word(2 * at)
    }

    /// The stretch from word `at` on, which is even.
    #[inline(always)]
    pub fn from_word(self, at: u32) -> Self {
        Stretch {
            address: self.address + 8 * at,
        }
    }

    /// The stretch that begins so many words of 64 bits below, inside the same shared memory.
    #[inline(always)]
    pub fn words_down(self, words: u32) -> Self {
        Stretch {
            address: self.address - 8 * words,
        }
    }

    /// Limbs `4 at .. 4 at + 4`.
    #[inline(always)]
    pub fn four(self, at: u32) -> [Limb; 4] {
        // SAFETY: by the contract of `Team::new` or `of_warp`.
        unsafe { load_four(self.address + 16 * at) }
    }

    /// Sets limbs `4 at .. 4 at + 4`.
    #[inline(always)]
    pub fn set_four(self, at: u32, limbs: [Limb; 4]) {
        // SAFETY: by the contract of `Team::new` or `of_warp`.
        unsafe { store_four(self.address + 16 * at, limbs) }
    }

    /// Sets limb `limb` if `at < end`, without a branch.
    #[inline(always)]
    pub fn set_limb_below(self, at: u32, end: u32, limb: u32, value: Limb) {
        // SAFETY: by the contract of `Team::new` or `of_warp`.
        unsafe { store_below(at, end, self.address + 4 * limb, value) }
    }

    /// Begins to set limbs `4 at ..` to four `from` of a row, which nobody may change meanwhile; they are
    /// there once the thread has [waited](Self::wait). For devices of compute capability 8.0 and more.
    #[inline(always)]
    pub fn bring_four(self, at: u32, row: Row, from: u32) {
        // SAFETY: by the contracts of `Team::new` or `of_warp`, and of `Row::new`.
        unsafe {
            asm!("cp.async.cg.shared.global [{to}], [{from}], 16;",
                to = in(reg32) self.address + 16 * at, from = in(reg64) row.address_of_four(from),
                options(nostack, preserves_flags));
        }
    }

    /// The same of a four that is read so rarely that others should stay in the cache.
    #[inline(always)]
    pub fn bring_rare_four(self, at: u32, row: Row, from: u32) {
        // SAFETY: as in `bring_four`.
        unsafe {
            asm!("{{",
                ".reg .b64 rare;",
                "createpolicy.fractional.L2::evict_first.b64 rare, 1.0;",
                "cp.async.cg.shared.global.L2::cache_hint [{to}], [{from}], 16, rare;",
                "}}",
                to = in(reg32) self.address + 16 * at, from = in(reg64) row.address_of_four(from),
                options(nostack, preserves_flags));
        }
    }

    /// Ends a group of fours that the calling thread has begun to [bring](Self::bring_four).
    #[inline(always)]
    pub fn commit(self) {
        // SAFETY: changes nothing.
        unsafe { asm!("cp.async.commit_group;", options(nostack, preserves_flags)) }
    }

    /// Waits for the first of so many groups that the calling thread has ended last.
    #[inline(always)]
    pub fn wait_for_first_of<const GROUPS: usize>(self) {
        // SAFETY: changes nothing but what was to be set.
        unsafe {
            asm!("cp.async.wait_group {others};", others = const GROUPS.saturating_sub(1),
                options(nostack, preserves_flags))
        }
    }

    /// Waits for all fours that the calling thread has begun to [bring](Self::bring_four).
    #[inline(always)]
    pub fn wait(self) {
        // SAFETY: changes nothing but what was to be set.
        unsafe { asm!("cp.async.wait_all;", options(nostack, preserves_flags)) }
    }

    /// The address of a byte.
    #[inline(always)]
    pub(super) fn address_of_byte(self, at: u32) -> u32 {
        self.address + at
    }

    /// The columns that begin at a byte, a multiple of 16.
    #[inline(always)]
    pub fn columns(self, at: u32) -> Columns {
        Columns::at(self.address + at)
    }

    /// Limb `at`.
    #[inline(always)]
    pub fn limb(self, at: u32) -> Limb {
        // SAFETY: by the contract of `Team::new` or `of_warp`.
        unsafe { load(self.address + 4 * at) }
    }

    /// Sets limb `at`.
    #[inline(always)]
    pub fn set_limb(self, at: u32, limb: Limb) {
        // SAFETY: by the contract of `Team::new` or `of_warp`.
        unsafe { store(self.address + 4 * at, limb) }
    }
}
