//! The limbs of contiguous batches, taken as one row without regard to numbers.

#![allow(unsafe_code)] // The compiler cannot see which device memory rows access.

use super::access::{
    load, load_below, load_four, load_four_below, load_two, load_two_below, store_below,
    store_four_below, store_two,
};
use bigint_core::{Limb, MatrixArgument};

/// Bytes in a limb.
const LIMB_BYTES: u64 = 4;

/// The limbs of a contiguous batch as one row, from some limb on.
#[derive(Clone, Copy)]
pub struct Row(u64);

impl Row {
    /// The row of the batch's limbs from limb `start` on.
    ///
    /// # Safety
    /// The contract of [`Number::new`](super::memory::Number::new) holds for every number of which a limb is read or
    /// set, and the batch's numbers follow one another without a gap.
    #[inline(always)]
    pub unsafe fn new(argument: &MatrixArgument, start: u64) -> Self {
        Row(argument.limbs + LIMB_BYTES * start)
    }

    /// The row of limbs from an address on.
    ///
    /// # Safety
    /// The limbs that are read or set are allocated, as for [`new`](Self::new).
    #[inline(always)]
    pub(super) unsafe fn of(address: u64) -> Self {
        Row(address)
    }

    /// The row from `by` limbs further on.
    #[inline(always)]
    pub fn up(self, by: u32) -> Self {
        Row(self.0 + LIMB_BYTES * u64::from(by))
    }

    /// The limbs from `by` further down on.
    #[inline(always)]
    pub fn down(self, by: u32) -> Self {
        Row(self.0.wrapping_sub(LIMB_BYTES * u64::from(by)))
    }

    /// Limb `at`, or limb `last` if that is lower; the batch has both. There is no condition: the driver's compiler
    /// would keep it from the load until the limb is used, and as it can keep few conditions, it would load one limb
    /// after the other.
    #[inline(always)]
    pub fn limb(self, at: u32, last: u32) -> Limb {
        // SAFETY: the limb is allocated.
        unsafe { load(self.up(at.min(last)).0) }
    }

    /// Sets limb `at` if it is below `end`. The batch has the limb then.
    #[inline(always)]
    pub fn set(self, at: u32, end: u32, limb: Limb) {
        // SAFETY: where `at` is below `end`, the limb is allocated.
        unsafe { store_below(at, end, self.up(at).0, limb) }
    }

    /// The first limb if `at < end`, else zero. The batch has the limb if `at < end`.
    #[inline(always)]
    pub fn first_below(self, at: u32, end: u32) -> Limb {
        // SAFETY: where `at` is below `end`, the limb is allocated.
        unsafe { load_below(at, end, self.0) }
    }

    /// Sets the first limb if `at < end`. The batch has the limb then.
    #[inline(always)]
    pub fn set_first_below(self, at: u32, end: u32, limb: Limb) {
        // SAFETY: as in `first_below`.
        unsafe { store_below(at, end, self.0, limb) }
    }

    /// Limbs `4 at .. 4 at + 4`, or `4 last .. 4 last + 4` if `last` is lower; the batch has both. The row begins at
    /// a multiple of 16 bytes. As in [`limb`](Self::limb) there is no condition.
    #[inline(always)]
    pub fn four(self, at: u32, last: u32) -> [Limb; 4] {
        // SAFETY: the four is allocated, and aligned to 16 bytes.
        unsafe { load_four(self.up(4 * at.min(last)).0) }
    }

    /// Limbs `2 at` and `2 at + 1`, which the batch has. The row begins at a multiple of 8 bytes.
    #[inline(always)]
    pub fn two(self, at: u32) -> [Limb; 2] {
        // SAFETY: the two are allocated, and aligned to 8 bytes.
        unsafe { load_two(self.up(2 * at).0) }
    }

    /// Limbs `2 by` and `2 by + 1` if `at < end`, else zeros. The batch has them if `at < end`, and the row begins at a multiple of 8
    /// bytes.
    #[inline(always)]
    pub fn two_below(self, by: u32, at: u32, end: u32) -> [Limb; 2] {
        // SAFETY: where `at` is below `end`, the two are allocated, and aligned to 8 bytes.
        unsafe { load_two_below(at, end, self.up(2 * by).0) }
    }

    /// Sets limbs `2 at` and `2 at + 1`, which the batch has. The row begins at a multiple of 8 bytes.
    #[inline(always)]
    pub fn set_two(self, at: u32, limbs: [Limb; 2]) {
        // SAFETY: the two are allocated, and aligned to 8 bytes.
        unsafe { store_two(self.up(2 * at).0, limbs) }
    }

    /// The address of four `at`.
    #[inline(always)]
    pub(super) fn address_of_four(self, at: u32) -> u64 {
        self.up(4 * at).0
    }

    /// Limbs `4 at .. 4 at + 4` if `at < end`, else zeros. The row begins at a multiple of 16 bytes.
    #[inline(always)]
    pub fn four_below(self, at: u32, end: u32) -> [Limb; 4] {
        // SAFETY: where `at` is below `end`, the four is allocated.
        unsafe { load_four_below(at, end, self.up(4 * at).0) }
    }

    /// The first four limbs of a row of `limbs` limbs, with zeros for those that it does not have. The row begins at
    /// a multiple of 16 bytes.
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

    /// Sets limbs `4 at .. 4 at + 4` if `at < end`, in a row that begins at a multiple of 16 bytes.
    #[inline(always)]
    pub fn set_four_below(self, at: u32, end: u32, limbs: [Limb; 4]) {
        // SAFETY: as in `four_below`.
        unsafe { store_four_below(at, end, self.up(4 * at).0, limbs) }
    }
}
