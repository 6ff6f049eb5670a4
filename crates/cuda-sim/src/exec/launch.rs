//! A launch as its blocks share it, the mistakes of its lanes, and masks of lanes.

use super::{Clusters, Layout, Schedule};
use crate::arch::Arch;
use crate::check::{Checks, FaultKind};
use crate::grid::Grid;
use crate::ir::{Entry, Program};
use crate::memory::Allocation;
use std::sync::{Arc, Mutex};

/// Everything about a launch that its blocks share.
pub(crate) struct Launch<'l> {
    pub program: &'l Program,
    pub entry: &'l Entry,
    pub kernel: &'l str,
    pub arch: &'l Arch,
    pub checks: Checks,
    pub count: bool,
    pub trace: bool,
    pub budget: Option<u64>,
    pub grid: Grid,
    /// The parameter buffer.
    pub params: &'l [u8],
    /// Addresses of the module's variables.
    pub globals: &'l [u64],
    /// Every allocation, by ascending address.
    pub allocations: &'l [Arc<Allocation>],
    /// Differs from that of every launch before it that shadows remember.
    pub epoch: u32,
    pub schedule: Schedule,
    /// Where shared variables lie.
    pub shared: Layout,
    /// Blocks that the device holds at once.
    pub resident: u64,
    /// Whether all blocks must be resident together.
    pub cooperative: bool,
    /// Where blocks of a cooperative launch count who waits for the others; zero without.
    pub workspace: u64,
    pub clusters: Clusters,
    /// What the kernel prints.
    pub printed: &'l Mutex<String>,
}

/// A mistake of one lane, before it is known where the lane is.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub kind: FaultKind,
    pub lane: u32,
    pub address: Option<u64>,
    pub detail: String,
    /// The PTX line of an earlier instruction that the detail speaks of.
    pub earlier: Option<u32>,
}

impl Mistake {
    pub fn new(kind: FaultKind, lane: u32, detail: impl Into<String>) -> Box<Self> {
        Box::new(Mistake {
            kind,
            lane,
            address: None,
            detail: detail.into(),
            earlier: None,
        })
    }

    /// Says at which line the instruction is that the detail ends with.
    pub fn after(mut self: Box<Self>, line: u32) -> Box<Self> {
        self.earlier = Some(line);
        self
    }

    pub fn at(kind: FaultKind, lane: u32, address: u64, detail: impl Into<String>) -> Box<Self> {
        Box::new(Mistake {
            kind,
            lane,
            address: Some(address),
            detail: detail.into(),
            earlier: None,
        })
    }
}

pub(crate) type Step<T = ()> = Result<T, Box<Mistake>>;

/// Every lane of a warp.
pub(crate) const FULL: u32 = u32::MAX;

/// The lanes of a mask, ascending.
#[inline(always)]
pub(crate) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            lane
        })
    })
}
