//! Masks of which the compiler knows nothing.
//!
//! Code that depends on secrets chooses by masks, all ones or all zeros, in place of branches:
//! `x & mask | y & !mask`. A compiler that sees how a mask is made may turn that into a branch
//! again, and the reading of a whole table into one read, as LLVM did. So a mask goes through an
//! empty `asm!` first. The language says that a compiler may not assume what the instructions of an
//! `asm!` do, so the mask may be any word, for this compiler and for the next. There is one `asm!`
//! for each mask and not for each word, so loops over words stay vectors.
//!
//! Machines without `asm!` use [`core::hint::black_box`], which promises nothing.

#![allow(unsafe_code)] // the `asm!`

use std::ops::BitOrAssign;

use bytemuck::Zeroable;

/// The same word, of which the compiler no longer knows anything.
#[inline(always)]
pub(crate) fn opaque(word: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut word = word;
        // SAFETY: there is no instruction, and the register that is named keeps its value.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags));
        }
        word
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    core::hint::black_box(word)
}

/// All ones for 1, and zeros for 0.
#[inline(always)]
pub(crate) fn of_bit(bit: u64) -> u64 {
    opaque(bit).wrapping_neg()
}

/// All ones if there is a borrow or a carry, and zeros if not.
#[inline(always)]
pub(crate) fn of(is_so: bool) -> u64 {
    of_bit(u64::from(is_so))
}

/// All ones if both are equal, and zeros if not.
#[inline(always)]
pub(crate) fn of_equal(x: usize, y: usize) -> u64 {
    let apart = (x ^ y) as u64;
    // Of any word but 0, the word or its negative has the top bit set.
    !of_bit((apart | apart.wrapping_neg()) >> 63)
}

/// A word of a number, which a mask keeps or clears.
pub(crate) trait Masked: Copy + Zeroable + BitOrAssign {
    /// Returns the word for a mask of all ones, and zero for a mask of zeros.
    fn masked(self, mask: u64) -> Self;
}

impl Masked for u32 {
    #[inline(always)]
    fn masked(self, mask: u64) -> Self {
        self & mask as u32
    }
}

impl Masked for u64 {
    #[inline(always)]
    fn masked(self, mask: u64) -> Self {
        self & mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_all_ones_or_all_zeros() {
        assert_eq!((of(true), of(false)), (u64::MAX, 0));
        for (x, y) in [(0, 0), (0, 1), (7, 7), (usize::MAX, 0), (1 << 63, 1 << 63)] {
            assert_eq!(of_equal(x, y), if x == y { u64::MAX } else { 0 });
        }
    }
}
