//! Sectors of global memory that accesses touch, and which of them a multiprocessor's
//! first-level cache has.
//!
//! **The cache.** Shared memory and the first-level cache are one memory of a multiprocessor.
//! The cache has lines of 128 bytes, whose four sectors come one by one. How it is divided
//! among warps on a chip depends on the order in which they run, which is not the order in
//! which they run here. So that no order counts, each warp has a cache of its own: an equal
//! share of what shared memory leaves with as many blocks resident as threads and shared memory
//! allow, of which the least recently used line gives way. That is little: fewer blocks are
//! resident where registers bound them, a chip gives all lines to those that use them, and lets
//! a warp find what another has loaded.
//!
//! **Stores** go through, and leave no line behind; so do atomic operations and loads that are
//! ordered with other blocks. Other operators that tell caches what to keep are not heeded.

use super::transfer::Transfer;
use super::{Launch, lanes_of};
use crate::arch::Arch;
use crate::ir::Order;
use crate::occupancy::{BlockNeeds, resident_blocks};

/// Bytes of a sector.
const SECTOR: u64 = 32;

/// Sectors of a line.
const LINE: u64 = 4;

/// The sectors that an access touches, ascending.
pub(super) struct Sectors {
    sectors: [u64; 32],
    len: usize,
    /// The fewest that could hold the distinct bytes.
    pub fewest: u64,
}

impl Sectors {
    /// Accesses are aligned to their size, so each lane's lies in one sector and two lanes' are
    /// the same or apart.
    pub fn of(transfer: &Transfer<'_>) -> Self {
        let mut sectors = [0; 32];
        let mut n = 0;
        let mut ascending = true;
        for lane in lanes_of(transfer.mask) {
            sectors[n] = transfer.addresses[lane];
            ascending &= n == 0 || sectors[n - 1] <= sectors[n];
            n += 1;
        }
        if !ascending {
            sectors[..n].sort_unstable();
        }
        let (mut len, mut distinct, mut last) = (0, 0, None);
        for i in 0..n {
            let address = sectors[i];
            distinct += u64::from(last != Some(address));
            last = Some(address);
            let sector = address / SECTOR;
            if len == 0 || sectors[len - 1] != sector {
                sectors[len] = sector;
                len += 1;
            }
        }
        Sectors {
            sectors,
            len,
            fewest: (distinct * u64::from(transfer.bytes)).div_ceil(SECTOR),
        }
    }

    /// How many they are.
    pub fn count(&self) -> u64 {
        self.len as u64
    }
}

/// A line that is in a cache, with a bit for each of its sectors that is.
#[derive(Clone, Copy)]
struct Line {
    number: u64,
    present: u8,
}

/// What the warps of a block have of the first-level cache.
pub(super) struct FirstLevel {
    /// Lines that a warp has.
    lines: usize,
    /// Of each warp the lines that it has, the latest first.
    warps: Vec<Vec<Line>>,
}

impl FirstLevel {
    pub fn new(launch: &Launch<'_>) -> Self {
        let arch = launch.arch;
        let threads = launch.grid.threads() as u32;
        let shared = u64::from(launch.entry.shared_bytes) + u64::from(launch.grid.shared_bytes);
        let needs = BlockNeeds {
            threads,
            registers: 1,
            shared,
        };
        let blocks = u64::from(resident_blocks(arch, needs).max(1));
        let used = blocks * (shared + u64::from(arch.reserved_shared_per_block));
        let left = u64::from(arch.first_level_bytes).saturating_sub(used);
        let warps = u64::from(threads.div_ceil(Arch::WARP));
        FirstLevel {
            lines: (left / (blocks * warps * LINE * SECTOR)) as usize,
            warps: vec![Vec::new(); warps as usize],
        }
    }

    /// Forgets all of a block, as another has its place.
    pub fn clear(&mut self) {
        self.warps.iter_mut().for_each(Vec::clear);
    }

    /// How many sectors a load moves, as its warp does not have them.
    pub fn load(&mut self, warp: usize, order: Order, sectors: &Sectors) -> u64 {
        if !matches!(order, Order::Weak | Order::ReadOnly) || self.lines == 0 {
            return sectors.count();
        }
        let lines = &mut self.warps[warp];
        let all = &sectors.sectors[..sectors.len];
        let mut moved = 0;
        for sectors in all.chunk_by(|a, b| a / LINE == b / LINE) {
            let number = sectors[0] / LINE;
            let asked = sectors.iter().fold(0, |bits, s| bits | 1 << (s % LINE));
            match lines.iter().position(|line| line.number == number) {
                Some(at) => lines[..=at].rotate_right(1),
                None => {
                    lines.truncate(self.lines - 1);
                    lines.insert(0, Line { number, present: 0 });
                }
            }
            moved += u64::from((asked & !lines[0].present).count_ones());
            lines[0].present |= asked;
        }
        moved
    }
}
