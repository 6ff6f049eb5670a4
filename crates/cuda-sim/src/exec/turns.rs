//! The turns of blocks that are resident together.

use super::block::Block;
use super::launch::Launch;
use super::mistake::Mistake;
use super::run::Worker;
use super::schedule::Schedule;
use crate::check::{Fault, FaultKind};
use crate::count::Counts;

/// Runs as many blocks together as have room, in turns; of a cluster all or none.
pub(super) fn together(launch: &Launch<'_>) -> Result<Counts, Fault> {
    let mut worker = Worker::new(launch, false);
    let blocks = launch.grid.blocks();
    let clusters = launch.clusters;
    let mut spare = Vec::new();
    let mut begun = 0;
    let mut cursor = 0;
    loop {
        let len = worker.resident.len();
        let fits = len == 0 || len as u64 + clusters.size() <= launch.resident;
        let room = begun < blocks && fits;
        if len == 0 && !room {
            return Ok(worker.finish().0);
        }
        cursor = match launch.schedule {
            Schedule::Rotating if cursor < len || room => cursor,
            Schedule::Rotating => 0,
            Schedule::Random(_) => worker.dice.below(len + usize::from(room)),
            Schedule::Adversarial if room => len,
            Schedule::Adversarial => cursor.checked_sub(1).unwrap_or(len - 1),
        };
        if cursor == len {
            for _ in 0..clusters.size() {
                let mut block = spare.pop().unwrap_or_else(|| Box::new(Block::new(launch)));
                block.begin(clusters.number(launch.grid.grid, begun))?;
                begun += 1;
                worker.resident.push(block);
            }
            if launch.schedule == Schedule::Adversarial {
                // It runs once all are there.
                cursor = worker.resident.len();
                continue;
            }
        }
        worker.cursor = cursor;
        std::mem::swap(&mut worker.block, &mut worker.resident[cursor]);
        let block = &worker.block;
        let at = block.at;
        worker.global.enter(block.number, block.synchronised);
        let ended = worker.sweep();
        worker.block.synchronised = worker.global.synchronised;
        std::mem::swap(&mut worker.block, &mut worker.resident[cursor]);
        if ended? {
            worker.idle = 0;
            spare.push(worker.resident.remove(cursor));
        } else if launch.schedule == Schedule::Rotating {
            cursor += 1;
        }
        worker.open_cluster(at)?;
    }
}

impl Worker<'_> {
    /// The fault of a launch in which all warps wait for a change of memory that no other makes, or none as
    /// long as one may still come.
    pub(super) fn hopeless(&self) -> Option<Fault> {
        // Loops that give up after some tries must get there.
        const LEAST: u64 = 1 << 20;
        const EACH: u64 = 1 << 12;
        if self.idle <= LEAST.max(EACH * self.resident.len() as u64) {
            return None;
        }
        let detail = format!(
            "{} looks in a row at memory that nobody changes, this one last",
            self.idle
        );
        let mistake = Mistake::new(FaultKind::Deadlock, self.looked.lane, detail);
        let warp = self.looked.warp;
        Some(self.block.fault(*mistake, warp, self.looked.line))
    }
}
