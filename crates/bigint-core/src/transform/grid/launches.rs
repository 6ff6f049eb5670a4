//! The launches of a plan's kernels: entry points, and blocks, threads of a block, and bytes of its shared memory.

use super::{
    AGAIN, AGAIN_BLOCKS, BACK, FORTH, GridArguments, GridPlan, Norms, PAIRS, ROWS, THREADS, padded,
};
use crate::kernel::EntryPoint;
use crate::specialization::{LongProduct, Specialization};
use core::mem::offset_of;

/// The way that columns go, in [`FORTH`] or in [`BACK`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Down the tree.
    Forth,
    /// Up the tree.
    Back,
}

impl GridArguments {
    /// The facts known of launches of [`FORTH`], both of [`ROWS`] and [`BACK`] with these arguments.
    pub const fn specialization(&self) -> Specialization {
        let GridPlan {
            radix,
            log_part,
            log_row,
            digit_bits,
        } = self.plan;
        Specialization::LongProduct(LongProduct {
            radix,
            log_part,
            log_row,
            digit_bits,
            operands: self.operands,
            wraps: self.wraps > 0,
            is_daring: self.norms.sums > 0,
        })
    }
}

impl LongProduct {
    /// The words of 32 bits of [`GridArguments`] that are known: the place of each, in bytes, and its value.
    pub fn parameters(self) -> impl Iterator<Item = (usize, u32)> {
        let plan = offset_of!(GridArguments, plan);
        let sums = offset_of!(GridArguments, norms) + offset_of!(Norms, sums);
        let known = [
            (plan + offset_of!(GridPlan, radix), self.radix),
            (plan + offset_of!(GridPlan, log_part), self.log_part),
            (plan + offset_of!(GridPlan, log_row), self.log_row),
            (plan + offset_of!(GridPlan, digit_bits), self.digit_bits),
            (offset_of!(GridArguments, operands), self.operands),
            (offset_of!(GridArguments, wraps), self.wraps.into()),
        ];
        let no_sums = [(sums, 0), (sums + 4, 0)];
        let no_sums = no_sums.into_iter().filter(move |_| !self.is_daring);
        known.into_iter().chain(no_sums)
    }

    /// The blocks for which a multiprocessor should have registers: two where a block has so much shared memory that no more have room, else as
    /// many `as_said`.
    pub fn blocks(self, entry: EntryPoint, as_said: u32) -> u32 {
        let is_wide = match self.log_part {
            5 => entry == BACK,
            6 => entry == FORTH || entry == BACK,
            _ => false,
        };
        if is_wide { 2 } else { as_said }
    }
}

impl GridPlan {
    /// Those of products of so many numbers; `again` those for marked numbers.
    pub fn launches(&self, operands: u32, count: u32, again: bool) -> [(EntryPoint, [u32; 3]); 3] {
        let rows = [
            self.row_blocks(operands) * count,
            self.row_threads(operands),
            self.row_bytes(operands),
        ];
        let all = [
            self.column_launch(Way::Forth, operands * count),
            (self.rows_kernel(operands), rows),
            self.column_launch(Way::Back, count),
        ];
        if !again {
            return all;
        }
        let [forth, of_128, of_256, back] = AGAIN;
        let rows = match self.row_threads(operands) {
            128 => of_128,
            _ => of_256,
        };
        let mut entries = [forth, rows, back].into_iter();
        all.map(|(entry, [blocks, threads, bytes])| {
            let entry = entries.next().unwrap_or(entry);
            (entry, [blocks.min(AGAIN_BLOCKS), threads, bytes])
        })
    }

    /// That of a kernel of columns for so many operands or products.
    pub const fn column_launch(&self, way: Way, count: u32) -> (EntryPoint, [u32; 3]) {
        let entry = match way {
            Way::Forth => FORTH,
            Way::Back => BACK,
        };
        let blocks = self.column_blocks(way) * count;
        (entry, [blocks, THREADS, self.column_bytes(way)])
    }

    /// That of the one of [`PAIRS`] for so many numbers.
    pub const fn pair_launch(&self, count: u32) -> (EntryPoint, [u32; 3]) {
        let threads = self.pair_threads();
        let blocks = self.pair_blocks() * count;
        let entry = PAIRS[(threads / 512) as usize];
        (entry, [blocks, threads, self.pair_bytes()])
    }

    /// The threads of a block of [`PAIRS`]: 256, or 512 where four rows are more than 16 points for each of them.
    #[inline(always)]
    pub const fn pair_threads(&self) -> u32 {
        if 4 << self.log_row > 16 * 256 {
            512
        } else {
            256
        }
    }

    /// The binary logarithm of the rows of each operand that a block of [`PAIRS`] has.
    #[inline(always)]
    pub const fn log_pair_rows(&self) -> u32 {
        (4 * self.pair_threads()).trailing_zeros() - self.log_row
    }

    /// The blocks of [`PAIRS`] that take one number.
    #[inline(always)]
    pub const fn pair_blocks(&self) -> u32 {
        self.rows().div_ceil(1 << self.log_pair_rows())
    }

    /// The bytes of shared memory of a block of [`PAIRS`].
    pub const fn pair_bytes(&self) -> u32 {
        16 * padded(16 * self.pair_threads())
    }

    /// The threads of a block of [`ROWS`]: 128, or 256 where a row of each operand is more than 16 points for each of them.
    #[inline(always)]
    pub const fn row_threads(&self, operands: u32) -> u32 {
        if operands << self.log_row > 16 * 128 {
            256
        } else {
            128
        }
    }

    /// The kernel of [`ROWS`] with so many threads.
    pub const fn rows_kernel(&self, operands: u32) -> EntryPoint {
        ROWS[(self.row_threads(operands) / 256) as usize]
    }

    /// The binary logarithm of the rows of each operand that a block of [`ROWS`] has.
    #[inline(always)]
    pub const fn log_rows_of_block(&self, operands: u32) -> u32 {
        (16 * self.row_threads(operands)).trailing_zeros() - self.log_row - (operands - 1)
    }

    /// The blocks of [`ROWS`] that take one number.
    #[inline(always)]
    pub const fn row_blocks(&self, operands: u32) -> u32 {
        self.rows().div_ceil(1 << self.log_rows_of_block(operands))
    }

    /// The doubles that [`FORTH`] leaves of an operand: one for each warp.
    #[inline(always)]
    pub const fn norms(&self) -> u32 {
        self.column_blocks(Way::Forth) * (THREADS / 32)
    }

    /// The bytes of shared memory of a block that has columns.
    pub const fn column_bytes(&self, way: Way) -> u32 {
        16 * padded(self.rows() << self.log_columns(way))
    }

    /// The bytes of shared memory of a block of [`ROWS`].
    pub const fn row_bytes(&self, operands: u32) -> u32 {
        16 * padded(16 * self.row_threads(operands))
    }

    /// Whether a device with so many bytes of shared memory for each block can run the plan.
    pub const fn fits(&self, shared_bytes: u32) -> bool {
        self.column_bytes(Way::Back) <= shared_bytes && self.row_bytes(2) <= shared_bytes
    }

    /// The same of [two products](super#two-products-of-the-same-points).
    pub const fn fits_pairs(&self, shared_bytes: u32) -> bool {
        self.column_bytes(Way::Back) <= shared_bytes && self.pair_bytes() <= shared_bytes
    }
}
