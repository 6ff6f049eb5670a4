//! Sectors of global memory that accesses touch, and how many of them move.
//!
//! **Loads.** Shared memory and the first-level cache are one memory of a multiprocessor. The
//! cache has lines of 128 bytes, whose four sectors come one by one. A load moves the sectors
//! that it does not find there.
//!
//! **Stores** go through the first level, and leave no line behind. The second level keeps them,
//! with a bit for each byte, and writes a sector to memory when its line gives way: what is
//! stored in it until then moves once. Atomic operations and loads that are ordered with other
//! blocks move all that they touch. Operators that tell caches what to keep are not heeded.
//!
//! **Shares.** How caches are divided on a chip depends on the order in which warps run, which
//! is not the order in which they run here. So that no order counts, each warp has caches of
//! its own, in which the line gives way that was not used for longest. Its share is of as many
//! blocks as threads and shared memory let be resident on every multiprocessor: of the first
//! level what shared memory leaves, of the second half, as loads pass there too. That is less
//! than on a chip, where registers let fewer blocks be resident, lines go to those that use
//! them, and a warp finds what another has loaded.

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

/// What the warps of a block have of a cache.
struct Cache {
    /// Lines that a warp has.
    lines: usize,
    /// Of each warp the lines that are in it, the latest first.
    warps: Vec<Vec<Line>>,
}

impl Cache {
    /// Of so many bytes, which so many of a block's `warps` share.
    fn new(bytes: u64, sharers: u64, warps: usize) -> Self {
        Cache {
            lines: (bytes / (sharers * LINE * SECTOR)) as usize,
            warps: vec![Vec::new(); warps],
        }
    }

    fn clear(&mut self) {
        self.warps.iter_mut().for_each(Vec::clear);
    }

    /// Takes sectors in; how many were not there.
    fn take(&mut self, warp: usize, sectors: &Sectors) -> u64 {
        if self.lines == 0 {
            return sectors.count();
        }
        let lines = &mut self.warps[warp];
        let all = &sectors.sectors[..sectors.len];
        let mut new = 0;
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
            new += u64::from((asked & !lines[0].present).count_ones());
            lines[0].present |= asked;
        }
        new
    }
}

/// The caches of a block's warps.
pub(super) struct Caches {
    first: Cache,
    second: Cache,
}

impl Caches {
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
        let of_multiprocessor = u64::from(arch.l2_bytes / 2 / arch.multiprocessors);
        let warps = threads.div_ceil(Arch::WARP) as usize;
        let [first, second] =
            [left, of_multiprocessor].map(|bytes| Cache::new(bytes, blocks * warps as u64, warps));
        Caches { first, second }
    }

    /// Forgets all of a block, as another has its place.
    pub fn clear(&mut self) {
        self.first.clear();
        self.second.clear();
    }

    /// How many sectors a load moves.
    pub fn load(&mut self, warp: usize, order: Order, sectors: &Sectors) -> u64 {
        match order {
            Order::Weak | Order::ReadOnly => self.first.take(warp, sectors),
            Order::Guess | Order::Strong => sectors.count(),
        }
    }

    /// How many sectors a store moves.
    pub fn store(&mut self, warp: usize, sectors: &Sectors) -> u64 {
        self.second.take(warp, sectors)
    }
}
