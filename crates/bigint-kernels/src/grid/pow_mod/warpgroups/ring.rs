//! The matrices of a block of warpgroups: copies to shared memory, and products by what has come.
//!
//! Where matrices do not stand there, one of the readers brings parts of them to the stages of a ring in turn. Each stage has a barrier
//! that it is full, at which bytes arrive, and one that it has been read, at which the warps that compute do.

use super::{MOST_COLUMNS, Powers, Units, each};
use crate::gpu::arrivals::Arrivals;
use crate::gpu::thread::here;
use crate::gpu::warpgroup::{WideSums, begin, commit, multiply_add, wait_but_last};
use bigint_core::rns::READERS;

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

/// How far products and choices have come.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    /// The stage that is read next.
    read: Turn,
    /// The next unit of the entry that is chosen.
    pub unit: u32,
}

impl<const PAIRS: usize> Powers<'_, PAIRS> {
    /// Sets barriers, fetches the primes, and both matrices where they stand in shared memory, and waits for them.
    #[inline(always)]
    pub(super) fn fetch_first(self) -> Progress {
        let stages = Self::STAGES;
        let is_first = self.team.thread() == 0;
        // Made here: addresses that one thread makes for itself would have the driver's compiler take loops of waits for divergent.
        let [matrices, primes] = [0, 2 * self.stages()].map(|at| self.barrier(here(at)));
        if is_first {
            if self.reads_tables() {
                self.set_choices();
            }
            primes.set(1);
            let mut stage = 0;
            while stage < self.stages() {
                self.barrier(2 * stage).set(1);
                self.barrier(2 * stage + 1).set(self.threads / 32);
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
        }
        primes.wait(0);
        Progress {
            read: Turn { stage: 0, phase: 0 },
            unit: 0,
        }
    }

    /// Fills the ring, each stage once all warps have read it, if this is the first thread of a warp of readers.
    #[inline(always)]
    pub(super) fn fill(self) {
        if self.team.thread() != self.threads + READERS - 32 {
            return;
        }
        let stages = Self::STAGES;
        let mut left = (2 * self.arguments.products() - 1) * stages.chunks() * stages.parts();
        // At first nobody reads: the phase before the first is over.
        let mut to = Turn { stage: 0, phase: 1 };
        let mut part = 0;
        while left > 0 {
            self.barrier(2 * to.stage + 1).wait(to.phase);
            self.fetch(part, to.stage);
            to.advance(self.stages());
            part = match part + 1 == 2 * stages.chunks() * stages.parts() {
                true => 0,
                false => part + 1,
            };
            left -= 1;
        }
    }

    /// Stages of the ring.
    #[inline(always)]
    fn stages(self) -> u32 {
        match self.arguments.window.scans_own() {
            true => Self::STAGES.count(),
            false => Self::STAGES.count_without_entries(),
        }
    }

    /// A barrier: of a stage that it is full, and that it has been read, and of the primes.
    #[inline(always)]
    fn barrier(self, at: u32) -> Arrivals {
        Arrivals::at(self.shared, Self::STAGES.barriers_at() + 8 * at)
    }

    /// Fetches a part of both matrices' chunks to a stage. The second matrix follows the first.
    #[inline(always)]
    fn fetch(self, part: u32, stage: u32) {
        let stages = Self::STAGES;
        let (chunk, part) = (part / stages.parts(), part % stages.parts());
        let (matrix, chunk) = (chunk / stages.chunks(), chunk % stages.chunks());
        let [first, end] = [part, part + 1].map(|part| stages.first_of_part(part));
        let row = 1024 * stages.pairs_of(chunk);
        let from = stages.bytes_of_pair() * (PAIRS as u32 * matrix + stages.first(chunk));
        self.barrier(2 * stage).bring(
            self.shared,
            stages.stage() * stage,
            self.matrices,
            from + row * first,
            row * (end - first),
        );
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

    /// Gives back so many stages, which are filled again once all warps have.
    #[inline(always)]
    pub(super) fn release(self, stages: u32, progress: &mut Progress) {
        if Self::STAGES.are_resident() {
            return;
        }
        let is_first = self.warp.lane() == 0;
        each::<3>(
            #[inline(always)]
            |i| {
                if i < stages as usize {
                    self.barrier(2 * progress.read.stage + 1)
                        .arrive_if(is_first);
                    progress.read.advance(self.stages());
                }
            },
        );
    }
}
