//! Copies that pass by the caches.
//!
//! An ordinary store reads its line into the cache before it writes it. For a result that is larger
//! than the caches, that is a third of an addition's memory traffic, and useless.

#![allow(unsafe_code)] // stores of whole lines, which safe Rust has no word for

use bigint_core::Limb;

/// The limbs of a 64-byte line.
const LINE: usize = 16;

/// A line of the cache.
#[repr(C, align(64))]
pub(super) struct Line(pub [Limb; LINE]);

impl Line {
    /// Writes limbs `2 k` and `2 k + 1`. The line goes past the caches if all of it is written in
    /// this way, one word after another.
    #[inline(always)]
    pub fn stream(&mut self, k: usize, word: u64) {
        #[cfg(target_arch = "x86_64")]
        {
            let limbs = &mut self.0[2 * k..][..2];
            // SAFETY: SSE2 is part of every x86-64, and two limbs are 8 bytes.
            unsafe {
                core::arch::x86_64::_mm_stream_si64(limbs.as_mut_ptr().cast(), word.cast_signed());
            };
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self.0[2 * k] = word as Limb;
            self.0[2 * k + 1] = (word >> 32) as Limb;
        }
    }
}

/// The whole lines of `limbs`, and the limbs before and after them.
#[inline(always)]
pub(super) fn lines(limbs: &mut [Limb]) -> (&mut [Limb], &mut [Line], &mut [Limb]) {
    // SAFETY: a line is 16 limbs without padding, and any 16 limbs make one.
    unsafe { limbs.align_to_mut() }
}

/// Orders the stores past the caches before any later store, such as the one that shows another
/// thread that they are done.
#[inline(always)]
pub(super) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of every x86-64.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}

/// Copies `from` to `to`, and writes the whole lines of `to` without reading them. A [`fence`] must
/// follow before another thread may read them.
///
/// # Panics
///
/// If the lengths differ.
#[inline(always)]
pub(super) fn copy(to: &mut [Limb], from: &[Limb]) {
    assert_eq!(to.len(), from.len());
    let (head, lines, tail) = lines(to);
    let (from_head, from) = from.split_at(head.len());
    head.copy_from_slice(from_head);
    let (from_lines, from_tail) = from.as_chunks::<LINE>();
    for (line, from) in lines.iter_mut().zip(from_lines) {
        copy_line(line, from);
    }
    tail.copy_from_slice(from_tail);
}

#[inline(always)]
fn copy_line(to: &mut Line, from: &[Limb; LINE]) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let to = core::ptr::from_mut(to).cast::<__m128i>();
        let from = from.as_ptr().cast::<__m128i>();
        for i in 0..4 {
            // SAFETY: SSE2 is part of every x86-64. A line and the array have the four vectors of
            // 16 bytes, and a line is aligned to 64.
            unsafe { _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i))) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        to.0 = *from;
    }
}
