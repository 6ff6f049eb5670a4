//! Masks of which the compiler knows nothing.
//!
//! What depends on secrets chooses by masks, all ones or all zeros, in place of branches:
//! `x & mask | y & !mask`. A compiler that sees where a mask comes from may turn that into a branch
//! again, and a table that is read whole into one read, as LLVM did. So a mask goes through an empty
//! `asm!` first: the language says that a compiler may not assume what the instructions of an `asm!`
//! do, so that the mask may be any word, for this compiler and for the next. One for each mask, not
//! one for each word: loops over words stay vectors.
//!
//! On machines without it there is [`core::hint::black_box`], which promises nothing.

#![allow(unsafe_code)] // the `asm!`

use std::ops::BitOrAssign;

use bytemuck::Zeroable;

/// `word`, of which the compiler no longer knows anything.
#[inline(always)]
pub(crate) fn opaque(word: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut word = word;
        // SAFETY: there is no instruction, and the register that is named is left as it is.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags));
        }
        word
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    core::hint::black_box(word)
}

/// All ones for 1, zeros for 0.
#[inline(always)]
pub(crate) fn of_bit(bit: u64) -> u64 {
    opaque(bit).wrapping_neg()
}

/// All ones where a borrow or a carry is, else zeros.
#[inline(always)]
pub(crate) fn of(is_so: bool) -> u64 {
    of_bit(u64::from(is_so))
}

/// All ones where both are equal, else zeros.
#[inline(always)]
pub(crate) fn of_equal(x: usize, y: usize) -> u64 {
    let apart = (x ^ y) as u64;
    // Of any word but 0, it or its negative has the top bit.
    !of_bit((apart | apart.wrapping_neg()) >> 63)
}

/// A word of a number that a mask keeps or clears.
pub(crate) trait Masked: Copy + Zeroable + BitOrAssign {
    /// The word itself by a mask of all ones, zero by a mask of zeros.
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
