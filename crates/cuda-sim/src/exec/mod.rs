//! Running a launch: blocks over cores, warps of a block in turns, 32 lanes at a time.
//!
//! **Determinism.** A block's own run is a fixed sequence, whatever else runs.
//! Blocks touch each other only through global memory. Where a kernel's result
//! could depend on the order of blocks by right (atomic operations whose old
//! value is used or that do not commute, volatile, relaxed and acquiring
//! accesses), or its launch is cooperative, as many blocks as the device holds
//! take turns on one core, in an order that the [`Schedule`] fixes; a warp's turn
//! ends behind each such access, so that blocks share work and wait for each other
//! as they do on a GPU. The first fault ends the launch.
//!
//! All other kernels may run their blocks in parallel: what commutes gives the
//! same bits in any order, and anything else is a race, which the checks report.
//! The fault that is reported is always that of the lowest block: blocks are
//! begun in ascending order, and those below a faulting one still run to their
//! end. With the race check on, which of two racing blocks comes second would
//! depend on timing, so every first write of a word is logged; after any fault the
//! launch is undone and repeated in order, and that fault is the one reported.

mod access;
mod atomic;
mod banks;
mod block;
mod clocks;
mod cluster;
mod clusters;
mod collective;
mod control;
mod copies;
mod follow;
mod frame;
mod global;
mod in_flight;
mod launch;
mod layout;
mod local;
mod mask;
mod matrix;
mod mistake;
mod races;
mod run;
mod schedule;
mod sectors;
mod shared;
mod shared_access;
mod shared_stride;
mod step;
mod stride;
mod system;
mod tally;
mod threads;
mod touch;
mod transfer;
mod turns;
mod undefined;
mod warp;
mod written;

use crate::check::Fault;
use crate::count::Counts;
pub(crate) use clusters::Clusters;
pub(crate) use global::EPOCHS;
use global::Undo;
pub(crate) use launch::Launch;
pub(crate) use layout::Layout;
use run::Worker;
pub use schedule::Schedule;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Runs all blocks. `fresh_epoch` gives the epoch of a repetition.
pub(crate) fn run(
    mut launch: Launch<'_>,
    fresh_epoch: impl FnOnce() -> u32,
) -> Result<Counts, Fault> {
    let workers = rayon::current_num_threads() as u64;
    let workers = workers.min(launch.grid.blocks());
    if launch.entry.ordered || launch.cooperative || launch.clusters.explicit {
        return turns::together(&launch);
    }
    if workers <= 1 {
        return in_order(&launch);
    }
    match in_parallel(&launch, workers) {
        Ok(counts) => Ok(counts),
        Err((fault, None)) => Err(*fault),
        Err((_, Some(undo))) => {
            for entry in undo {
                entry.apply(launch.allocations);
            }
            launch.epoch = fresh_epoch();
            in_order(&launch)
        }
    }
}

/// Runs the blocks one after the other.
fn in_order(launch: &Launch<'_>) -> Result<Counts, Fault> {
    let mut worker = Worker::new(launch, false);
    for block in 0..launch.grid.blocks() {
        worker.run(block)?;
    }
    Ok(worker.finish().0)
}

/// What is needed to undo a launch, where that is wanted.
type Undoing = Option<Vec<Undo>>;

/// Runs the blocks on so many threads.
fn in_parallel(launch: &Launch<'_>, workers: u64) -> Result<Counts, (Box<Fault>, Undoing)> {
    let next = AtomicU64::new(0);
    let lowest_fault = AtomicU64::new(u64::MAX);
    let fault: Mutex<Option<(u64, Fault)>> = Mutex::new(None);
    let results = Mutex::new((Counts::default(), Vec::new()));
    rayon::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|_| {
                let mut worker = Worker::new(launch, launch.checks.races);
                loop {
                    let block = next.fetch_add(1, Ordering::Relaxed);
                    if block >= launch.grid.blocks() || block > lowest_fault.load(Ordering::Relaxed)
                    {
                        break;
                    }
                    if let Err(found) = worker.run(block) {
                        lowest_fault.fetch_min(block, Ordering::Relaxed);
                        let mut fault = fault.lock().unwrap_or_else(PoisonError::into_inner);
                        if fault.as_ref().is_none_or(|&(other, _)| block < other) {
                            *fault = Some((block, found));
                        }
                    }
                }
                let (counts, undo) = worker.finish();
                let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                results.0 += &counts;
                results.1.extend(undo);
            });
        }
    });
    let (counts, undo) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    match fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(counts),
        Some((_, fault)) => Err((Box::new(fault), launch.checks.races.then_some(undo))),
    }
}
