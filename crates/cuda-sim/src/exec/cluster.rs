//! Blocks of a cluster, which are resident together: their shape, their barrier, and
//! accesses to each other's shared memory.
//!
//! Accesses of one block to another's shared memory are checked for bounds and for undefined bits. Races
//! between blocks of a cluster in shared memory are not found.

use super::block::Block;
use super::mask::lanes_of;
use super::mistake::{Mistake, Step};
use super::run::Worker;
use super::transfer::Transfer;
use super::warp::{State, Warp};
use crate::check::{Fault, FaultKind};
use crate::memory::RANK_SHIFT;
use std::mem;

/// The state of lanes that wait for their cluster counts as a barrier behind those of
/// the block.
pub(super) const BARRIER: u32 = 16;

impl Worker<'_> {
    /// Runs `act` on the lanes that go to each block's shared memory, with addresses
    /// relative to that memory, in which it then finds itself.
    pub(super) fn in_cluster(
        &mut self,
        transfer: &Transfer<'_>,
        mut act: impl FnMut(&mut Self, &Transfer<'_>) -> Step,
    ) -> Step {
        let mut rest = transfer.mask;
        while rest != 0 {
            let of = |lane: usize| transfer.addresses[lane] >> RANK_SHIFT;
            let mark = of(rest.trailing_zeros() as usize);
            let mask = lanes_of(rest)
                .filter(|&lane| of(lane) == mark)
                .fold(0, |mask, lane| mask | 1 << lane);
            rest &= !mask;
            if mark == 0 {
                act(self, &Transfer { mask, ..*transfer })?;
                continue;
            }
            let addresses = transfer.addresses.map(|at| at & ((1 << RANK_SHIFT) - 1));
            let part = Transfer {
                addresses: &addresses,
                mask,
                ..*transfer
            };
            self.abroad(mark - 1, &part, |worker| act(worker, &part))?;
        }
        Ok(())
    }

    /// Runs `act` with the shared memory of the block of that rank for the own.
    fn abroad(
        &mut self,
        rank: u64,
        transfer: &Transfer<'_>,
        act: impl FnOnce(&mut Self) -> Step,
    ) -> Step {
        let clusters = self.launch.clusters;
        let other = self.cluster().filter(|&i| i != self.cursor).find(|&i| {
            let at = self.resident[i].at;
            clusters.together(at, self.block.at) && u64::from(clusters.rank(at)) == rank
        });
        let Some(other) = other else {
            let lane = transfer.mask.trailing_zeros();
            let why = if rank < clusters.size() {
                "which has exited"
            } else {
                "which its cluster does not have"
            };
            let detail = format!("shared memory of the block of rank {rank}, {why}");
            let address = transfer.addresses[lane as usize & 31];
            return Err(Mistake::at(FaultKind::OutOfBounds, lane, address, detail));
        };
        mem::swap(&mut self.block.shared, &mut self.resident[other].shared);
        let races = self.block.shared.races.take();
        let done = act(self);
        self.block.shared.races = races;
        mem::swap(&mut self.block.shared, &mut self.resident[other].shared);
        if transfer.order.is_strong() {
            self.resident[other].clocks.release();
        }
        done
    }

    /// Places of blocks among which are all of the cluster of the one at the cursor.
    fn cluster(&self) -> std::ops::Range<usize> {
        // Those of a cluster begin together and stay side by side.
        let size = self.launch.clusters.size() as usize;
        let last = (self.cursor + size).min(self.resident.len());
        (self.cursor + 1).saturating_sub(size)..last
    }

    /// Lanes arrive at the barrier of their cluster.
    pub(super) fn arrive_in_cluster(&mut self, warp: &mut Warp, mask: u32) -> Step {
        let twice = warp.arrived & mask;
        if twice != 0 {
            return Err(Mistake::new(
                FaultKind::BarrierDivergence,
                twice.trailing_zeros(),
                "it arrives at the barrier of its cluster again without having waited",
            ));
        }
        warp.arrived |= mask;
        warp.awaits |= mask;
        self.acted(warp);
        Ok(())
    }

    /// Lets lanes through whose cluster has arrived; what the others wait for.
    pub(super) fn wait_for_cluster(&mut self, warp: &mut Warp, mask: u32) -> Step<Option<State>> {
        let never = mask & !warp.arrived;
        if never != 0 {
            return Err(Mistake::new(
                FaultKind::BarrierDivergence,
                never.trailing_zeros(),
                "it waits for its cluster without having arrived",
            ));
        }
        if warp.awaits & mask != 0 {
            return Ok(Some(State::Barrier(BARRIER)));
        }
        warp.arrived &= !mask;
        self.global.synchronised = true;
        Ok(None)
    }

    /// Opens the barrier of the cluster of a block, which is or was at the cursor, if all
    /// that have not exited have arrived.
    pub(super) fn open_cluster(&mut self, at: [u32; 3]) -> Result<(), Fault> {
        let clusters = self.launch.clusters;
        let of_cluster: Vec<usize> = self
            .cluster()
            .filter(|&i| clusters.together(self.resident[i].at, at))
            .collect();
        let has_arrived = |block: &Block<'_>| {
            let mut warps = block.warps.iter();
            warps.all(|warp| warp.live & !warp.awaits == 0)
        };
        let Some(&first) = of_cluster.first() else {
            return Ok(());
        };
        if of_cluster.iter().all(|&i| has_arrived(&self.resident[i])) {
            self.idle = 0;
            self.tally.counts.barriers += 1;
            for i in of_cluster {
                self.resident[i].open_cluster();
            }
        } else if of_cluster.iter().all(|&i| self.resident[i].waits) {
            return Err(self.resident[first].deadlock());
        }
        Ok(())
    }
}

impl Block<'_> {
    /// Whether some lanes wait for their cluster.
    pub fn awaits_cluster(&self) -> bool {
        let mut parts = self.warps.iter().flat_map(|warp| &warp.parts);
        parts.any(|part| part.state == State::Barrier(BARRIER))
    }

    /// Lets all lanes through that wait for the cluster.
    fn open_cluster(&mut self) {
        self.waits = false;
        let mut through = Vec::with_capacity(self.warps.len());
        for warp in &mut self.warps {
            warp.awaits = 0;
            through.push((warp.index, warp.live));
            for part in &mut warp.parts {
                if part.state == State::Barrier(BARRIER) {
                    part.state = State::Ready;
                }
            }
        }
        self.clocks.barrier(&through);
    }
}
