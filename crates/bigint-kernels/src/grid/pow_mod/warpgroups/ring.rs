//! The matrices of a block of warpgroups: copies to shared memory, and products by what has come.

use super::{MOST_COLUMNS, Powers, Units, each};
use crate::gpu::arrivals::{Arrivals, Count};
use crate::gpu::thread::here;
use crate::gpu::warpgroup::{WideSums, begin, commit, multiply_add, wait_but_last};
use bigint_core::rns::RnsArguments;

/// A stage of the ring, and the phase of its barriers.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    stage: u32,
    phase: u32,
}

impl Turn {
    #[inline(always)]
    fn advance(&mut self, stages: u32) {
        self.stage += 1;
        if self.stage == stages {
            *self = Turn {
                stage: 0,
                phase: self.phase ^ 1,
            };
        }
    }
}

/// How far copies and choices have come.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    /// The stage that is read next. The last warp that has read it fills it again.
    read: Turn,
    /// The next part of both matrices' chunks, where it begins, in bytes, and how many are left to be fetched.
    part: u32,
    from: u32,
    left: u32,
    /// The next unit of the entry that is chosen.
    pub unit: u32,
}

impl<const PAIRS: usize> Powers<'_, PAIRS> {
    /// Fetches the primes, and both matrices or the first chunks, and waits for the primes.
    #[inline(always)]
    pub(super) fn fetch_first(self) -> Progress {
        let stages = Self::STAGES;
        let RnsArguments {
            windows, window, ..
        } = *self.arguments;
        let products = window.products() + windows as u32 * (window.squares() + 1) + 1;
        let mut progress = Progress {
            read: Turn { stage: 0, phase: 0 },
            part: 0,
            from: 0,
            left: (2 * products - 1) * stages.chunks() * stages.parts(),
            unit: 0,
        };
        let is_first = self.team.thread() == 0;
        // Made here: addresses that one thread makes for itself would have the driver's compiler take loops of waits for divergent.
        let [matrices, primes] = [0, 2 * self.stages()].map(|at| self.barrier(here(at)));
        if is_first {
            if self.has_readers() {
                self.set_choices();
            }
            primes.set(1);
            let mut stage = 0;
            while stage < self.stages() {
                self.barrier(2 * stage).set(1);
                self.readers_of(stage).set();
                stage += 1;
            }
        }
        self.team.sync();
        if is_first {
            primes.bring(
                self.shared,
                stages.primes_at(),
                self.table,
                0,
                stages.bytes_of_primes(),
            );
        }
        if stages.are_resident() {
            if is_first {
                let bytes = stages.bytes_of_matrices();
                matrices.bring(self.shared, 0, self.matrices, 0, bytes);
            }
            matrices.wait(0);
        } else {
            let mut stage = 0;
            while stage < self.stages() {
                self.fetch(&mut progress, stage, is_first);
                stage += 1;
            }
        }
        primes.wait(0);
        progress
    }

    /// Stages of the ring.
    #[inline(always)]
    fn stages(self) -> u32 {
        match self.arguments.window.scans_own() {
            true => Self::STAGES.count(),
            false => Self::STAGES.count_without_entries(),
        }
    }

    /// A barrier of copies: of a stage that it is full, and of the primes.
    #[inline(always)]
    fn barrier(self, at: u32) -> Arrivals {
        Arrivals::at(self.shared, Self::STAGES.barriers_at() + 8 * at)
    }

    /// How many warps have read a stage, and those that are given back with it.
    #[inline(always)]
    fn readers_of(self, stage: u32) -> Count {
        Count::at(
            self.shared,
            Self::STAGES.barriers_at() + 8 * (2 * stage + 1),
        )
    }

    /// Fetches the next part of a chunk to a stage, if this is the lane that does.
    #[inline(always)]
    fn fetch(self, progress: &mut Progress, stage: u32, does: bool) {
        let stages = Self::STAGES;
        let at = progress.part;
        let does = does && progress.left > 0;
        let full = self.barrier(2 * stage);
        if stages.is_wide() {
            // No branch, as products are at work. Chunks are as wide as each other, and parts follow one another.
            let part = at % stages.parts();
            let [first, end] = [part, part + 1].map(|part| stages.first_of_part(part));
            let (to, bytes) = (
                stages.stage() * stage,
                1024 * stages.columns * (end - first),
            );
            full.bring_if(does, self.shared, to, self.matrices, progress.from, bytes);
            progress.from += bytes;
        } else if does {
            // The second matrix follows the first.
            let (chunk, part) = (at / stages.parts(), at % stages.parts());
            let (matrix, chunk) = (chunk / stages.chunks(), chunk % stages.chunks());
            let [first, end] = [part, part + 1].map(|part| stages.first_of_part(part));
            let row = 1024 * stages.pairs_of(chunk);
            let from = stages.bytes_of_pair() * (PAIRS as u32 * matrix + stages.first(chunk));
            let (to, bytes) = (stages.stage() * stage, row * (end - first));
            full.bring(self.shared, to, self.matrices, from + row * first, bytes);
        }
        progress.left = progress.left.saturating_sub(1);
        let all = 2 * stages.chunks() * stages.parts();
        progress.part = at + 1;
        if at + 1 == all {
            (progress.part, progress.from) = (0, 0);
        }
    }

    /// Begins to multiply units by the columns of a chunk of a matrix.
    #[inline(always)]
    pub(super) fn multiplied(
        self,
        matrix: usize,
        chunk: u32,
        units: &Units<PAIRS>,
        progress: &mut Progress,
    ) -> [WideSums; MOST_COLUMNS] {
        let stages = Self::STAGES;
        let pairs = stages.pairs_of(chunk);
        let mut sums = [[0; 16]; MOST_COLUMNS];
        let mut turn = progress.read;
        let mut columns = self.shared.columns(0);
        let mut up = 0;
        each::<PAIRS>(
            #[inline(always)]
            |s| {
                if Self::BEGINS_PART[s] {
                    let from = match stages.are_resident() {
                        true => {
                            stages.bytes_of_pair()
                                * (PAIRS as u32 * matrix as u32 + stages.first(chunk))
                        }
                        false => {
                            self.barrier(2 * turn.stage).wait(turn.phase);
                            stages.stage() * turn.stage
                        }
                    };
                    turn.advance(self.stages());
                    begin();
                    columns = self.shared.columns(here(from));
                    up = 0;
                }
                multiply_add(&mut sums, pairs, units[s], columns.up(up), s > 0);
                up += 1024 * pairs;
                // Behind the first part another has been read.
                if Self::GIVES_BACK_EARLY && Self::ENDS_PART[s] {
                    commit();
                    if s + 1 > stages.first_of_part(1) as usize {
                        wait_but_last();
                        self.release(1, progress);
                    }
                }
            },
        );
        commit();
        sums
    }

    /// Gives back so many stages, which are filled again by the last warp that does.
    #[inline(always)]
    pub(super) fn release(self, stages: u32, progress: &mut Progress) {
        if Self::STAGES.are_resident() {
            return;
        }
        let is_first = self.warp.lane() == 0;
        let readers = self.readers_of(progress.read.stage);
        let is_last = readers.comes_last(is_first, self.threads / 32);
        each::<3>(
            #[inline(always)]
            |i| {
                if i < stages as usize {
                    let Turn { stage, .. } = progress.read;
                    progress.read.advance(self.stages());
                    self.fetch(progress, stage, is_last);
                }
            },
        );
        self.warp.sync();
    }
}
