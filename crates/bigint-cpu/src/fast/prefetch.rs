//! Memory asked for before it is needed.
//!
//! Lanes read and write eight numbers at a time, a few bytes of each in turn. The
//! machine's own prefetchers follow one stream well and eight poorly.

#![allow(unsafe_code)] // the prefetch instruction

use bigint_core::Limb;

/// Limbs of a 64-byte line.
pub(super) const LINE: usize = 16;

/// Asks for the line that `limbs[0]` is in; nothing for an empty slice.
#[inline(always)]
pub(super) fn line(limbs: &[Limb]) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of every x86-64, and a prefetch reads nothing the program can
    // see, from any address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(limbs.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = limbs;
}

/// Asks for all of `limbs`.
#[inline(always)]
pub(super) fn all(limbs: &[Limb]) {
    limbs.chunks(LINE).for_each(line);
}
