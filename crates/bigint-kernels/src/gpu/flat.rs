//! The limbs of contiguous batches, whose numbers are taken for one.

#![allow(unsafe_code)] // What they reach of device memory is out of the compiler's sight.

use super::access::{load, load_below, load_four, load_four_below, store_below, store_four_below};
use bigint_core::{Limb, MatrixArgument};

/// Bytes in a limb.
const LIMB_BYTES: u64 = 4;

/// The limbs of a contiguous batch, its numbers taken for one, from some limb on.
#[derive(Clone, Copy)]
pub struct Row(u64);

impl Row {
    /// The limbs from `start` on.
    ///
    /// # Safety
    /// As for [`Number::new`](super::memory::Number::new), of all numbers that have limbs that are asked for or set; and
    /// the batch's numbers follow one another without a gap.
    #[inline(always)]
    pub unsafe fn new(argument: &MatrixArgument, start: u64) -> Self {
        Row(argument.limbs + LIMB_BYTES * start)
    }

    /// The limbs from `by` further on.
    #[inline(always)]
    pub fn up(self, by: u32) -> Self {
        Row(self.0 + LIMB_BYTES * u64::from(by))
    }

    /// Limb `at`, or limb `last` where that is lower, both of the batch: without a condition,
    /// which the driver's compiler would keep from the load to what uses it, and loads, of
    /// which it has few conditions, one after the other.
    #[inline(always)]
    pub fn limb(self, at: u32, last: u32) -> Limb {
        // SAFETY: the limb is allocated.
        unsafe { load(self.up(at.min(last)).0) }
    }

    /// Sets limb `at` where that is below `end`, which the batch has.
    #[inline(always)]
    pub fn set(self, at: u32, end: u32, limb: Limb) {
        // SAFETY: where `at` is below `end`, the limb is allocated.
        unsafe { store_below(at, end, self.up(at).0, limb) }
    }

    /// The first limb where `at < end`, which the batch has then; else zero.
    #[inline(always)]
    pub fn first_below(self, at: u32, end: u32) -> Limb {
        // SAFETY: where `at` is below `end`, the limb is allocated.
        unsafe { load_below(at, end, self.0) }
    }

    /// Sets the first limb, likewise.
    #[inline(always)]
    pub fn set_first_below(self, at: u32, end: u32, limb: Limb) {
        // SAFETY: as in `first_below`.
        unsafe { store_below(at, end, self.0, limb) }
    }

    /// Four `at` of a row that begins where fours do, or four `last` where that is lower, both of
    /// the batch; as [`limb`](Self::limb) without a condition.
    #[inline(always)]
    pub fn four(self, at: u32, last: u32) -> [Limb; 4] {
        // SAFETY: the four is allocated, and aligned to 16 bytes.
        unsafe { load_four(self.up(4 * at.min(last)).0) }
    }

    /// Four `at` of a row that begins where fours do, where `at < end`; else zeros.
    #[inline(always)]
    pub fn four_below(self, at: u32, end: u32) -> [Limb; 4] {
        // SAFETY: where `at` is below `end`, the four is allocated.
        unsafe { load_four_below(at, end, self.up(4 * at).0) }
    }

    /// The first four limbs of a row that begins where fours do, of which there are so many; else
    /// zeros.
    #[inline(always)]
    pub fn four_of(self, limbs: u32) -> [Limb; 4] {
        let four = self.four_below(0, limbs / 4);
        let rest = if limbs < 4 { limbs } else { 0 };
        // SAFETY: the limbs are allocated.
        let limb = |at: u32| unsafe { load_below(at, rest, self.up(at).0) };
        [
            four[0] | limb(0),
            four[1] | limb(1),
            four[2] | limb(2),
            four[3],
        ]
    }

    /// Sets four `at`, likewise.
    #[inline(always)]
    pub fn set_four_below(self, at: u32, end: u32, limbs: [Limb; 4]) {
        // SAFETY: as in `four_below`.
        unsafe { store_four_below(at, end, self.up(4 * at).0, limbs) }
    }
}
