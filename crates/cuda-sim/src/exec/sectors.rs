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
//! is not the order in which they run here. So a block has an equal share, of as many blocks as
//! threads and shared memory let be resident on every multiprocessor: of the first level what
//! shared memory leaves, of the second half, as loads pass there too. Each warp has an equal part
//! of its block's share for what it touches, and finds in the other parts what other warps have
//! touched. In a part that is full any line gives way: on chips it was found not to be the one
//! that was not used for longest (Mei and Chu, "Dissecting GPU memory hierarchy through
//! microbenchmarking", 2017). That is less than on a chip, where registers let fewer blocks be
//! resident and lines go to those that use them.

use super::launch::Launch;
use super::mask::lanes_of;
use super::transfer::Transfer;
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

/// What a block has of a cache.
struct Cache {
    /// Lines in a warp's part.
    lines: usize,
    /// The part of each warp.
    parts: Vec<Vec<Line>>,
    /// The state of a generator of random numbers, the same for each block.
    state: u64,
}

impl Cache {
    /// A cache of `bytes` bytes, which `blocks` blocks of `warps` warps share.
    fn new(bytes: u64, blocks: u64, warps: usize) -> Self {
        Cache {
            lines: (bytes / (blocks * warps as u64 * LINE * SECTOR)) as usize,
            parts: vec![Vec::new(); warps],
            state: 0,
        }
    }

    /// Empties the cache.
    fn clear(&mut self) {
        self.parts.iter_mut().for_each(Vec::clear);
        self.state = 0;
    }

    /// Takes sectors in; how many were not there.
    fn take(&mut self, warp: usize, sectors: &Sectors) -> u64 {
        if self.lines == 0 {
            return sectors.count();
        }
        let all = &sectors.sectors[..sectors.len];
        let mut new = 0;
        for sectors in all.chunk_by(|a, b| a / LINE == b / LINE) {
            let asked = sectors.iter().fold(0, |bits, s| bits | 1 << (s % LINE));
            let line = self.line(warp, sectors[0] / LINE);
            new += u64::from((asked & !line.present).count_ones());
            line.present |= asked;
        }
        new
    }

    /// A line, which begins empty in the warp's part where it is in none.
    fn line(&mut self, warp: usize, number: u64) -> &mut Line {
        let place = |part: &Vec<Line>| part.iter().position(|line| line.number == number);
        let own = place(&self.parts[warp]).map(|at| (warp, at));
        let others = || {
            let mut parts = self.parts.iter().enumerate();
            parts.find_map(|(other, part)| Some((other, place(part)?)))
        };
        let (warp, at) = own.or_else(others).unwrap_or_else(|| {
            let part = &mut self.parts[warp];
            let line = Line { number, present: 0 };
            if part.len() < self.lines {
                part.push(line);
                return (warp, part.len() - 1);
            }
            // Knuth's generator, MMIX.
            let state = self.state.wrapping_mul(6_364_136_223_846_793_005);
            self.state = state.wrapping_add(1_442_695_040_888_963_407);
            let at = (self.state >> 33) as usize % self.lines;
            part[at] = line;
            (warp, at)
        });
        &mut self.parts[warp][at]
    }
}

/// The caches of a block.
pub(super) struct Caches {
    first: Cache,
    second: Cache,
}

impl Caches {
    /// Empty caches, as large as the architecture has them for a block.
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
            [left, of_multiprocessor].map(|bytes| Cache::new(bytes, blocks, warps));
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
            Order::Guess | Order::Volatile | Order::Strong => sectors.count(),
        }
    }

    /// How many sectors a store moves.
    pub fn store(&mut self, warp: usize, sectors: &Sectors) -> u64 {
        self.second.take(warp, sectors)
    }
}
