//! Groups of neighbouring lanes that share one number.
//!
//! Shuffle, vote and barrier are LLVM intrinsics and not `asm!`. The intrinsics are `convergent`,
//! so no optimisation moves them into or out of a branch.

// The intrinsics are foreign functions.
#![allow(unsafe_code)]

use super::known::Known;
use super::thread;
use bigint_core::Limb;
use bigint_core::specialization::LOG_LANES;

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shuffle_index(lanes: u32, value: u32, source: u32, segment: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot(lanes: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    fn vote_all(lanes: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn vote_any(lanes: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.activemask"]
    fn active() -> u32;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn barrier(lanes: u32);
}

/// Whether `predicate` holds for one of the threads of the warp that happen to come here together
/// with the calling one. As it is not defined which threads these are, the answer may only be
/// used to save time.
#[inline(always)]
pub fn any_here(predicate: bool) -> bool {
    // SAFETY: the threads that are named have come here together.
    unsafe { vote_any(active(), predicate) }
}

/// The mask of all lanes of the warp, which take part in every shuffle, vote and barrier.
const ALL: u32 = u32::MAX;

/// The value of `LANES` for groups whose number of lanes is known only when the PTX is loaded.
/// One text serves all numbers of lanes.
pub const KNOWN: u32 = 0;

/// `LANES` neighbouring lanes of a warp, seen from one of them.
///
/// `LANES` is 2, 4, 8, 16 or 32; or it is [`KNOWN`], and [`lanes`](Self::lanes) says which of
/// these it is. The other groups of the warp run the same instructions at the same time on
/// numbers of their own. A group of 1 is a thread by itself, which uses nothing of its warp and
/// may branch freely.
#[derive(Clone, Copy)]
pub struct Group<const LANES: u32> {
    lane: u32,
    lanes: u32,
}

impl Group<1> {
    /// The calling thread by itself.
    #[inline(always)]
    pub const fn thread() -> Self {
        Group { lane: 0, lanes: 1 }
    }
}

impl<const LANES: u32> Group<LANES> {
    const POWER_OF_TWO: () = assert!(LANES.is_power_of_two() && LANES <= 32);

    /// The calling lane's group, in a launch of `workers` groups.
    ///
    /// # Safety
    /// The contract is that of [`new`](Self::new).
    #[inline(always)]
    pub unsafe fn of_launch(workers: u64) -> Self {
        let found = || workers.leading_zeros() - thread::count().leading_zeros();
        let lanes = match LANES {
            KNOWN => 1 << LOG_LANES.or(found()),
            _ => LANES,
        };
        Group {
            lane: thread::lane(),
            lanes,
        }
    }

    /// The calling lane's group.
    ///
    /// # Safety
    /// From here on, all 32 lanes of the warp must come to every call of
    /// [`shuffle`](Self::shuffle), [`ballot`](Self::ballot) and [`sync`](Self::sync) together.
    /// Control flow may depend on values that are the same in the whole launch (widths, the
    /// batch) and on the result of [`all`](Self::all), but never on limbs or the lane. If the
    /// group is the whole warp, control flow may also depend on values that are the same in the
    /// warp: its place in the launch, and the result of a ballot.
    #[inline(always)]
    pub unsafe fn new() -> Self {
        let () = Self::POWER_OF_TWO;
        Group {
            lane: thread::lane(),
            lanes: LANES,
        }
    }

    /// The number of lanes of the group, a power of two.
    #[inline(always)]
    pub fn lanes(self) -> u32 {
        match LANES {
            KNOWN => self.lanes,
            _ => LANES,
        }
    }

    /// The index of the group in the launch.
    #[inline(always)]
    pub fn index(self) -> u64 {
        thread::index_1d() >> self.lanes().trailing_zeros()
    }

    /// The calling lane's place in its group.
    #[inline(always)]
    pub fn lane(self) -> u32 {
        self.lane & (self.lanes() - 1)
    }

    /// The `value` of the group's lane `source`, which is taken modulo the number of lanes.
    #[inline(always)]
    pub fn shuffle(self, value: Limb, source: u32) -> Limb {
        if LANES == 1 {
            return value;
        }
        // The segment mask keeps the source within the group. The bound 31 is never exceeded.
        let segment = (32 - self.lanes()) << 8 | 31;
        // SAFETY: the warp is converged by the contract of `new`.
        unsafe { shuffle_index(ALL, value, source, segment) }
    }

    /// The `value` of the lane `by` places below, which wraps around at the end of the group.
    #[inline(always)]
    pub fn rotate_up(self, value: Limb, by: u32) -> Limb {
        self.shuffle(value, self.lane().wrapping_sub(by))
    }

    /// The `value` of the lane one place above, which wraps around at the end of the group.
    #[inline(always)]
    pub fn rotate_down(self, value: Limb) -> Limb {
        self.shuffle(value, self.lane() + 1)
    }

    /// A word whose bit `t` says whether `predicate` holds in lane `t` of the group.
    #[inline(always)]
    pub fn ballot(self, predicate: bool) -> u64 {
        if LANES == 1 {
            return u64::from(predicate);
        }
        // SAFETY: the warp is converged by the contract of `new`.
        let warp = unsafe { vote_ballot(ALL, predicate) };
        let first = self.lane - self.lane();
        u64::from(warp >> first & u32::MAX >> (32 - self.lanes()))
    }

    /// Whether `predicate` holds in every lane of the warp, including those of other groups. The
    /// answer is the same in all lanes, so that they may branch on it.
    #[inline(always)]
    pub fn all(self, predicate: bool) -> bool {
        if LANES == 1 {
            return predicate;
        }
        // SAFETY: the warp is converged by the contract of `new`.
        unsafe { vote_all(ALL, predicate) }
    }

    /// Waits for all lanes of the warp. Afterwards all of them may read what any of them wrote
    /// before.
    #[inline(always)]
    pub fn sync(self) {
        // SAFETY: the warp is converged by the contract of `new`.
        unsafe { barrier(ALL) }
    }
}
