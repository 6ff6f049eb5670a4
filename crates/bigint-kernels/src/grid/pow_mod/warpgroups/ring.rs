//! The matrices of a block of warpgroups: copies to shared memory, and products by what has come.

use super::{Powers, Units, each};
use crate::gpu::arrivals::Arrivals;
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
    /// The stage that is read next, and the one that is filled next.
    read: Turn,
    filled: Turn,
    /// Whether nothing has been read. A chunk, or a part, is read before the stages of the one before are filled again:
    /// until then the other warps have read them too.
    is_first: bool,
    /// The next part of both matrices' chunks, and how many are left to be fetched.
    part: u32,
    left: u32,
    /// The next unit of the entry that is chosen.
    pub unit: u32,
}

impl<
    const PAIRS: usize,
    const COLUMNS: usize,
    const CHUNKS: usize,
    const AHEAD: usize,
    const THREADS: u32,
    const BESIDE: u32,
> Powers<'_, PAIRS, COLUMNS, CHUNKS, AHEAD, THREADS, BESIDE>
{
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
            filled: Turn { stage: 0, phase: 0 },
            is_first: true,
            part: 0,
            left: (2 * products - 1) * CHUNKS as u32 * stages.parts(),
            unit: 0,
        };
        let is_first = self.team.thread() == 0;
        // Made here: addresses that one thread makes for itself would have the driver's compiler take loops of waits for divergent.
        let [matrices, primes] = [0, 2 * stages.count()].map(|at| self.barrier(here(at)));
        if is_first {
            if self.has_readers() {
                self.set_choices();
            }
            primes.set(1);
            let mut stage = 0;
            while stage < stages.count() {
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
        } else {
            let mut stage = 0;
            while stage < stages.count() {
                self.fetch(&mut progress, is_first);
                stage += 1;
            }
        }
        primes.wait(0);
        progress
    }

    /// A barrier of copies: of a stage that it is full and that it has been read, and of the primes.
    #[inline(always)]
    fn barrier(self, at: u32) -> Arrivals {
        Arrivals::at(self.shared, Self::STAGES.barriers_at() + 8 * at)
    }

    /// Fetches the next part of a chunk, if this is the lane that does.
    #[inline(always)]
    fn fetch(self, progress: &mut Progress, is_lane: bool) {
        let stages = Self::STAGES;
        let Turn { stage, .. } = progress.filled;
        let at = progress.part;
        if stages.is_wide() {
            // No branch, as products are at work. Parts are as long as stages and follow one another.
            let does = is_lane && progress.left > 0;
            let [to, from] = [stage, at].map(|at| stages.stage() * at);
            let full = self.barrier(2 * stage);
            full.bring_if(does, self.shared, to, self.matrices, from, stages.stage());
        } else if is_lane && progress.left > 0 {
            // The second matrix follows the first.
            let (chunk, part) = (at / stages.parts(), at % stages.parts());
            let (matrix, chunk) = (chunk / CHUNKS as u32, chunk % CHUNKS as u32);
            let [first, end] = [part, part + 1].map(|part| stages.first_of_part(part));
            let row = 1024 * stages.pairs_of(chunk);
            let from = stages.bytes_of_pair() * (PAIRS as u32 * matrix + stages.first(chunk));
            let (to, bytes) = (stages.stage() * stage, row * (end - first));
            let full = self.barrier(2 * stage);
            full.bring(self.shared, to, self.matrices, from + row * first, bytes);
        }
        progress.filled.advance(stages.count());
        progress.left = progress.left.saturating_sub(1);
        let all = 2 * CHUNKS as u32 * stages.parts();
        progress.part = if at + 1 < all { at + 1 } else { 0 };
    }

    /// Begins to multiply units by the columns of a chunk of a matrix.
    #[inline(always)]
    pub(super) fn multiplied(
        self,
        matrix: usize,
        chunk: u32,
        units: &Units<PAIRS>,
        progress: &mut Progress,
    ) -> [WideSums; COLUMNS] {
        let stages = Self::STAGES;
        let pairs = stages.pairs_of(chunk);
        let mut sums = [[0; 16]; COLUMNS];
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
                    turn.advance(stages.count());
                    begin();
                    columns = self.shared.columns(here(from));
                    up = 0;
                }
                multiply_add(&mut sums, pairs, units[s], columns.up(up), s > 0);
                up += 1024 * pairs;
                // Behind the first part another has been read.
                if stages.parts() > 1 && stages.released() == 1 && Self::ENDS_PART[s] {
                    commit();
                    if s + 1 > stages.first_of_part(1) as usize {
                        wait_but_last();
                        self.release(progress);
                    }
                }
            },
        );
        commit();
        sums
    }

    /// Gives back the stages of a chunk or of a part, and fills as many that were read before.
    #[inline(always)]
    pub(super) fn release(self, progress: &mut Progress) {
        let stages = Self::STAGES;
        if stages.are_resident() {
            return;
        }
        each::<3>(
            #[inline(always)]
            |part| {
                if part < stages.released() as usize {
                    if self.warp.lane() == 0 {
                        self.barrier(2 * progress.read.stage + 1).arrive();
                    }
                    progress.read.advance(stages.count());
                }
            },
        );
        if progress.is_first {
            progress.is_first = false;
            return;
        }
        let is_lane = self.team.thread() == 0;
        each::<3>(
            #[inline(always)]
            |part| {
                if part < stages.released() as usize {
                    // That it has been read once less often than it was filled.
                    let Turn { stage, phase } = progress.filled;
                    let read = self.barrier(2 * stage + 1);
                    // All wait beside products: what one does alone would end these.
                    if stages.is_wide() || is_lane && progress.left > 0 {
                        read.wait(phase ^ 1);
                    }
                    self.fetch(progress, is_lane);
                }
            },
        );
        self.warp.sync();
    }
}
