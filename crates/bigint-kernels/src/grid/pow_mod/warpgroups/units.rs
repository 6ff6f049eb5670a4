//! What lanes have in memory of all warps, and of the base that registers have no room for.

use super::{Powers, Prime, Units};
use crate::gpu::flat::Row;
use crate::gpu::stretch::Stretch;
use crate::gpu::thread::here;

/// Units in memory, of which the calling lane has every 32nd four.
#[derive(Clone, Copy)]
pub(super) struct Lane(Row);

impl Lane {
    /// Those from a four of a row on. Addresses are made where they are used: there are too many to be kept.
    #[inline(always)]
    pub(super) fn of(row: Row, four: u32) -> Self {
        Lane(row.up(4 * here(four)))
    }

    /// The row that begins with the first.
    #[inline(always)]
    pub(super) fn row(self) -> Row {
        self.0
    }

    #[inline(always)]
    pub(super) fn unit(self, at: usize) -> [u32; 4] {
        let at = 32 * at as u32;
        self.0.four(at, at)
    }

    #[inline(always)]
    pub(super) fn set_unit(self, at: usize, words: [u32; 4]) {
        self.0.set_four_below(32 * at as u32, u32::MAX, words);
    }
}

/// The primes of bases in shared memory, of which the calling lane has every fourth.
#[derive(Clone, Copy)]
pub(super) struct Primes(pub Stretch);

impl Primes {
    /// Those of a pair, of the first base's or after them of the second's.
    #[inline(always)]
    pub(super) fn of(self, pair: usize) -> [Prime; 2] {
        [0, 4].map(|group| Prime::from(self.0.four(8 * pair as u32 + group)))
    }
}

impl<const PAIRS: usize> Powers<'_, PAIRS> {
    /// A unit of the base that is made of the other: of registers, or of shared memory.
    #[inline(always)]
    pub(super) fn of_base(self, units: &Units<PAIRS>, at: usize) -> [u32; 4] {
        match Self::STAGES.is_wide() {
            true => self.other(at),
            false => units[at],
        }
    }

    /// Sets it.
    #[inline(always)]
    pub(super) fn set_of_base(self, units: &mut Units<PAIRS>, at: usize, unit: [u32; 4]) {
        match Self::STAGES.is_wide() {
            true => self.set_other(at, unit),
            false => units[at] = unit,
        }
    }

    /// The four in shared memory of a unit of the base that is not in registers.
    #[inline(always)]
    fn four_of_other(self, at: usize) -> u32 {
        Self::STAGES.unit_at(at as u32) / 16 + here(self.team.thread())
    }

    #[inline(always)]
    pub(super) fn other(self, at: usize) -> [u32; 4] {
        self.shared.four(self.four_of_other(at))
    }

    #[inline(always)]
    pub(super) fn set_other(self, at: usize, unit: [u32; 4]) {
        self.shared.set_four(self.four_of_other(at), unit);
    }
}

/// Does `work` for each of so many, at most 12, a number that the compiler knows, without a loop.
#[inline(always)]
pub(super) fn each_of_few(count: u32, mut work: impl FnMut(usize)) {
    macro_rules! each {
        ($($at:literal)*) => {$(
            if $at < count {
                work($at);
            }
        )*};
    }
    each!(0 1 2 3 4 5 6 7 8 9 10 11);
}
