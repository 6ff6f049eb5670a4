//! Copies that pass by the caches.
//!
//! An ordinary store reads its line into the cache before it writes it. Where a
//! result is larger than the caches anyway, that is a third of an addition's memory
//! traffic for nothing.

#![allow(unsafe_code)] // stores of whole lines, which safe Rust has no word for

use bigint_core::Limb;

/// Limbs of a 64-byte line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 16;

/// `to = from`, the whole lines of `to` without reading them.
///
/// # Panics
///
/// Where the lengths differ.
pub(super) fn copy(to: &mut [Limb], from: &[Limb]) {
    assert_eq!(to.len(), from.len());
    #[cfg(target_arch = "x86_64")]
    {
        let before = to.as_ptr().align_offset(64).min(to.len());
        let (head, to) = to.split_at_mut(before);
        let (from_head, from) = from.split_at(before);
        head.copy_from_slice(from_head);
        let (lines, tail) = to.as_chunks_mut::<LINE>();
        let (from_lines, from_tail) = from.as_chunks::<LINE>();
        for (line, from) in lines.iter_mut().zip(from_lines) {
            copy_line(line, from);
        }
        tail.copy_from_slice(from_tail);
        // SAFETY: SSE is part of every x86-64. The fence orders the copies before
        // whatever tells another thread that they are done.
        unsafe { core::arch::x86_64::_mm_sfence() };
    }
    #[cfg(not(target_arch = "x86_64"))]
    to.copy_from_slice(from);
}

/// Copies one line; `to` must be aligned to 64 bytes for it to pass by the cache.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn copy_line(to: &mut [Limb; LINE], from: &[Limb; LINE]) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    let to = to.as_mut_ptr().cast::<__m128i>();
    let from = from.as_ptr().cast::<__m128i>();
    assert!(to.is_aligned());
    for i in 0..4 {
        // SAFETY: SSE2 is part of every x86-64; both arrays have the four vectors of
        // 16 bytes, and `to` is aligned to 16, as asserted.
        unsafe { _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i))) };
    }
}
