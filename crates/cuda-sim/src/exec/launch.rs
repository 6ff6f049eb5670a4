//! A launch as its blocks share it.

use super::clusters::Clusters;
use super::layout::Layout;
use super::schedule::Schedule;
use crate::arch::Arch;
use crate::check::Checks;
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
    /// The places of shared variables.
    pub shared: Layout,
    /// Blocks that the device holds at once.
    pub resident: u64,
    /// Whether all blocks must be resident together.
    pub cooperative: bool,
    /// The address at which blocks of a cooperative launch count who waits for the others; zero for
    /// other launches.
    pub workspace: u64,
    pub clusters: Clusters,
    /// What the kernel prints.
    pub printed: &'l Mutex<String>,
}
