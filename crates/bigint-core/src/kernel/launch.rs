//! Launches of kernels: grid and block, shared memory, and scratch.

use super::{Kernel, SHARED_BYTES};
use crate::algorithm::{Algorithm, BLOCK, Level};
use crate::capacity::lehmer::{COLUMN_BYTES, PAIR, columns_of_warp, gcd_digits, inverse_digits};
use crate::capacity::scan::scanned_bytes;
use crate::capacity::{karatsuba, *};
use crate::operation::{Cost, Flag};
use crate::shape::{Layout, Strides};
use crate::specialization::Family;
use crate::transform::Plan;

/// The most bytes of scratch of a launch, unless one block alone needs more. Where workers need
/// scratch of their own, it bounds how many there are.
pub const SCRATCH_BUDGET: usize = 256 << 20;

/// The most bytes of scratch of a launch of powers, which keep their tables there. It is what the
/// tables take on an H200 that is full of powers with windows of seven bits.
pub const TABLE_BUDGET: usize = 576 << 20;

/// The limbs of a tile: the limbs of results that a warp computes at once in a kernel that [takes
/// stretches](Kernel::takes_stretches). A stretch is made of whole tiles.
pub const TILE: u64 = 256;

/// The limbs of marks that [`AddSegments`](crate::Operation::AddSegments) takes for every 32 limbs
/// of an operand.
pub const MARKS: usize = 3;

/// The tiles of a stretch in a launch that fills the device.
pub(super) const TILES: u64 = 4;

/// The number of stretches with which a launch fills any device: several warps for each that the
/// device can hold.
const MANY_STRETCHES: u64 = 1 << 15;

/// The most stretches into which a number is cut. So many keep any device busy; with more, each
/// would have to look through more stretches below it to find its carry.
pub(super) const MOST_STRETCHES: u64 = 1 << 10;

/// The widest numbers, in limbs, of which a group of lanes scans [several](NUMBERS_SCANNED) one
/// after the other.
const SCANNED: usize = 32;

/// The numbers that a group of lanes scans one after the other where they are narrow and many. (On
/// an H200 counts and absolute differences of 1024 bits then take a tenth less time; wider ones
/// take longer.)
pub(super) const NUMBERS_SCANNED: usize = 4;

/// The count of numbers from which on a launch fills any device even if each group of lanes scans
/// several.
const MANY_NUMBERS: usize = 1 << 17;

/// The launch of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The blocks of the grid.
    pub grid: u32,
    /// The threads of a block.
    pub block: u32,
    /// The dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The workers of the whole launch: `grid * block / lanes`.
    pub workers: usize,
    /// The limbs of scratch for each worker.
    pub scratch_width: usize,
}

impl Launch {
    /// The layout of the workers' scratch: interleaved at thread level, so that neighbouring
    /// threads touch neighbouring words, else contiguous.
    pub const fn scratch_strides(&self, level: Level) -> Strides {
        match level {
            Level::Thread => Strides {
                number: 1,
                limb: self.workers,
            },
            Level::Warp | Level::Block | Level::Grid => Strides {
                number: self.scratch_width,
                limb: 1,
            },
        }
    }
}

/// The number of stretches into which the limbs of `count` results of `width` limbs are cut.
const fn stretches(count: u64, width: u64) -> u64 {
    const fn least(x: u64, y: u64) -> u64 {
        if x < y { x } else { y }
    }
    let tiles = (count * width).div_ceil(TILE);
    let long = tiles.div_ceil(TILES);
    // Where there are few stretches they are cut finer, so that more warps have one.
    let short = least(tiles, MANY_STRETCHES);
    least(
        if long > short { long } else { short },
        count * MOST_STRETCHES,
    )
}

/// The threads of a warp.
const WARP: u32 = 32;

impl Kernel {
    /// Whether the kernel can compute with operands of these widths. Its registers limit the
    /// modulus of modular operations, and the divisor or the root of lanes that divide or find
    /// roots.
    pub const fn takes(&self, widths: &[usize]) -> bool {
        match (self.family, widths) {
            (Family::Power, [.., modulus]) => power_digit(*modulus, self.lanes) > 0,
            (Family::Montgomery, [.., modulus]) => montgomery_digit(*modulus, self.lanes) > 0,
            (Family::DivisionByLanes, [.., divisor]) => divisor_digit(*divisor, self.lanes) > 0,
            (Family::DivstepsByLanes, [number, modulus, ..]) => {
                let width = if *number > *modulus {
                    *number
                } else {
                    *modulus
                };
                divstep_lanes_hold(width, self.lanes)
            }
            (Family::Root, [number]) if self.lanes > 1 => {
                number.div_ceil(2) <= ROOT_DIGIT * self.lanes as usize
            }
            _ => true,
        }
    }

    /// The pairs of digits in a thread's column, for Euclid's algorithm or division steps on
    /// operands of `n` and `m` limbs. It is zero for kernels of other algorithms.
    pub(super) const fn digit_pairs(&self, n: usize, m: usize) -> usize {
        match (self.algorithm, self.operation.declaration().flag) {
            // An inverse is a cofactor, so the column has cofactors too.
            (Algorithm::Lehmer | Algorithm::LehmerWords, Flag::NotInvertible) => {
                inverse_digits(n, m)
            }
            (Algorithm::Lehmer | Algorithm::LehmerWords, _) => gcd_digits(n, m),
            (Algorithm::Divsteps, _) if matches!(self.level, Level::Thread) => {
                divstep_pairs(if n > m { n } else { m })
            }
            _ => 0,
        }
    }

    /// The limbs of scratch that one worker needs for operands of these widths. `are_shared` says
    /// whether columns of digits stand in shared memory and need no scratch.
    const fn scratch_width(&self, widths: &[usize], are_shared: bool) -> usize {
        let (n, m) = first_two(widths);
        match self.family {
            // The scratch holds what is left of the dividend, which is a limb longer when shifted,
            // and the divisor.
            Family::Division if m > DIVISOR_IN_REGISTERS => n + 1 + m,
            Family::Power => self.table_width(m, widths[widths.len() - 1]),
            Family::Column if !are_shared => 2 * self.digit_pairs(n, m),
            Family::Root if self.lanes == 1 && root_limbs(n) == 0 => root_room(n),
            // The scratch holds what is left to divide, or what has been read.
            _ if matches!(self.operation.cost(), Cost::Radix) => n,
            // The scratch holds the whole product, until it is cut to the result's width, and
            // behind it the recursion's own scratch.
            _ if matches!(self.algorithm, Algorithm::Karatsuba) => {
                n + m + karatsuba::scratch(if n > m { n } else { m })
            }
            _ => 0,
        }
    }

    /// The limbs of scratch in which a worker keeps a table of powers for each base, and the square
    /// of the radix, for an exponent and a modulus of these widths.
    const fn table_width(&self, exponent: usize, modulus: usize) -> usize {
        let (bases, exponent) = match self.operation.cost() {
            Cost::PowerByTable => return 0,
            Cost::PairOfPowers => (2, exponent.div_ceil(2)),
            _ => (1, exponent),
        };
        let scan = matches!(self.algorithm, Algorithm::Window);
        let window = power_window(exponent, widest_window(modulus, scan, bases == 2));
        ((bases << window) + 1) * self.lanes as usize * power_digit(modulus, self.lanes)
    }

    /// The most bytes of scratch of all workers together, unless one block alone needs more.
    pub(super) const fn scratch_budget(&self) -> usize {
        match self.family {
            Family::Power => TABLE_BUDGET,
            _ => SCRATCH_BUDGET,
        }
    }

    /// The bytes of shared memory for each worker (a thread, or a group of lanes of a warp), and
    /// the numbers that it takes at a time. Operands have `widths` limbs, the result `width`.
    pub(super) const fn staged(&self, widths: &[usize], width: usize) -> (usize, usize) {
        let (n, m) = first_two(widths);
        match self.family {
            Family::ProductByRows if matches!(self.layout, Layout::Contiguous) => {
                let widths = [n as u64, m as u64, width as u64];
                (16 * staged_fours(widths, self.lanes), 1)
            }
            Family::ProductInSlots => match 16 * slot_fours(self.algorithm, n, m, width) {
                0 => (0, 1),
                slot => (slot, numbers_at_a_time(self.algorithm, n, m)),
            },
            Family::ProductInPlaces if placed_width(n, m, width) > 0 => {
                (place_bytes(n, m, width), 1)
            }
            Family::Toeplitz => (Toeplitz::of(n as u32, m as u32).bytes() as usize, 1),
            Family::Square => (square_bytes(n, self.lanes), 1),
            Family::Root if self.lanes == 1 => (4 * root_limbs(n), 1),
            Family::Division if m <= DIVISOR_IN_REGISTERS => (piece_bytes(), 1),
            Family::ScanByThread => scanned_bytes(self.operation, self.layout, widths, width),
            Family::Column => (PAIR * self.digit_pairs(n, m), 1),
            _ => (0, 1),
        }
    }

    /// The launch for `count` numbers, with operands of `widths` limbs and results of `width`
    /// limbs, on a device that leaves blocks all the shared memory that kernels can use.
    ///
    /// `count` must not be zero: there is nothing to launch for an empty batch.
    pub const fn launch(&self, count: usize, widths: &[usize], width: usize) -> Launch {
        self.launch_within(count, widths, width, COLUMN_BYTES)
    }

    /// The launch on a device that leaves a block at most `most_shared` bytes of shared memory.
    /// Columns of digits for which that is too little stand in scratch.
    pub const fn launch_within(
        &self,
        count: usize,
        widths: &[usize],
        width: usize,
        most_shared: u32,
    ) -> Launch {
        let (n, m) = first_two(widths);
        let (staged_bytes, at_a_time) = self.staged(widths, width);
        let columns = columns_of_warp(self.digit_pairs(n, m));
        let most_columns = if most_shared < COLUMN_BYTES {
            most_shared
        } else {
            COLUMN_BYTES
        };
        let are_shared = columns > 0 && columns <= most_columns as usize;
        let staged_bytes = match columns == 0 || are_shared {
            true => staged_bytes as u32,
            false => 0,
        };
        let block = match self.level {
            Level::Block => Plan::of(self.lanes).threads(),
            _ => {
                let mut block = BLOCK;
                while block > WARP && block / self.lanes * staged_bytes > SHARED_BYTES {
                    block /= 2;
                }
                block
            }
        };
        let workers_per_block = match self.level {
            Level::Block => 1,
            _ => block.div_ceil(self.lanes) as usize,
        };
        let scratch_width = self.scratch_width(widths, are_shared);
        let most_blocks = if scratch_width == 0 {
            i32::MAX as usize
        } else {
            let by_budget = self.scratch_budget() / (4 * scratch_width * workers_per_block);
            if by_budget == 0 { 1 } else { by_budget }
        };
        let shared_bytes = match self.takes_roots() {
            true => {
                let plan = Plan::of(self.lanes);
                let is_square = matches!(self.operation.cost(), Cost::Square);
                plan.shared_bytes(is_square && n <= plan.limbs() as usize)
            }
            false => block / self.lanes * staged_bytes,
        };
        let workers = if self.takes_stretches() {
            stretches(count as u64, width as u64) as usize
        } else if matches!((self.algorithm, self.level), (Algorithm::Scan, Level::Warp))
            && (n <= SCANNED && m <= SCANNED && count >= MANY_NUMBERS)
        {
            // With one number for each group of lanes, blocks would end before the next ones have
            // begun.
            count.div_ceil(NUMBERS_SCANNED)
        } else {
            count.div_ceil(at_a_time)
        };
        let wanted = workers.div_ceil(workers_per_block);
        // Where workers have several numbers each, the grid is cut so that all have about as many.
        let grid = wanted.div_ceil(wanted.div_ceil(most_blocks));
        Launch {
            grid: grid as u32,
            block,
            shared_bytes,
            workers: grid * workers_per_block,
            scratch_width,
        }
    }
}

/// The widths of the first two operands; an only operand counts as both.
const fn first_two(widths: &[usize]) -> (usize, usize) {
    match widths {
        [n, m, ..] => (*n, *m),
        [n] => (*n, *n),
        [] => (0, 0),
    }
}
