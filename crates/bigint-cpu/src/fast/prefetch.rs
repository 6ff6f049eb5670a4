//! Prefetching, by which memory is fetched into the caches before it is needed.
//!
//! Lanes read and write eight numbers at a time, a few bytes of each in turn. The machine's own
//! prefetchers follow one stream well and eight poorly. Sums read two streams, and there the
//! prefetchers stop where a page ends.

#![allow(unsafe_code)] // the prefetch instruction

use bigint_core::Limb;

/// The limbs of a 64-byte line.
pub(super) const LINE: usize = 16;

/// The limbs of a page. For the first-level cache all distances from 2 KiB to 8 KiB are equally
/// good. For the second, two pages are better than one by a thirtieth.
const PAGE: usize = 1 << 10;

/// The limbs from which on a line that is in the second-level cache arrives in time.
const NEAR: usize = 1 << 8;

/// Prefetches what follows `limbs` in a stream of operands, whether or not the stream ends before.
///
/// If the result passes by the caches, all of the time is spent waiting for memory, and the
/// second-level cache can wait for more lines at once than the first. If it does not, the operands
/// may be in the second-level cache already.
#[inline(always)]
pub(super) fn ahead<const STREAMED: bool>(limbs: &[Limb]) {
    let at = limbs.as_ptr();
    if STREAMED {
        fetch::<2>(at.wrapping_add(2 * PAGE));
        fetch::<1>(at.wrapping_add(NEAR));
    } else {
        fetch::<1>(at.wrapping_add(PAGE));
    }
}

/// Prefetches the line that `limbs[0]` is in, and nothing for an empty slice.
#[inline(always)]
pub(super) fn line(limbs: &[Limb]) {
    fetch::<1>(limbs.as_ptr());
}

/// Prefetches the line at this address, into the cache of this level.
#[inline(always)]
fn fetch<const LEVEL: u32>(at: *const Limb) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of every x86-64, and a prefetch reads nothing that the program can see,
    // from any address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        if LEVEL == 1 {
            _mm_prefetch::<_MM_HINT_T0>(at.cast());
        } else {
            _mm_prefetch::<_MM_HINT_T1>(at.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Prefetches all of `limbs`.
#[inline(always)]
pub(super) fn all(limbs: &[Limb]) {
    // This takes three instructions for a line. Slices would be checked.
    for i in (0..limbs.len()).step_by(LINE) {
        fetch::<1>(limbs.as_ptr().wrapping_add(i));
    }
}

/// Memory that is prefetched a line at a time, between other work, because only so many lines can
/// be under way at once.
pub(super) struct Lines<'a> {
    /// The parts that are still to be prefetched, the last first.
    parts: [&'a [Limb]; 3],
}

impl<'a> Lines<'a> {
    /// Lines of these parts of memory, in this order.
    pub fn new(first: &'a [Limb], second: &'a [Limb], third: &'a [Limb]) -> Self {
        Lines {
            parts: [third, second, first],
        }
    }

    /// Lines of no memory.
    pub fn none() -> Self {
        Self::new(&[], &[], &[])
    }

    /// The lines that come next. Those that are not prefetched are to be given [back](Self::rest).
    #[inline(always)]
    pub fn take(&mut self) -> &'a [Limb] {
        let [third, second, first] = self.parts;
        self.parts = if first.is_empty() {
            [&[], third, second]
        } else {
            [third, second, first]
        };
        self.parts[2]
    }

    /// Takes back those lines of [`Self::take`] that are still to be prefetched.
    #[inline(always)]
    pub fn rest(&mut self, lines: &'a [Limb]) {
        self.parts[2] = lines;
    }

    /// Prefetches everything that is left.
    #[inline(always)]
    pub fn finish(&mut self) {
        self.parts.into_iter().for_each(all);
        *self = Self::none();
    }
}

/// Prefetches the first of `lines` and takes it off, if there is one.
#[inline(always)]
pub(super) fn next(lines: &mut &[Limb]) {
    if let Some((first, rest)) = lines.split_at_checked(LINE) {
        line(first);
        *lines = rest;
    }
}
