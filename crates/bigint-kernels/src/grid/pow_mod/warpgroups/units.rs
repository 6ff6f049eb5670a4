//! What lanes have in memory of all warps.

use super::Prime;
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
