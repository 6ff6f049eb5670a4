//! The launch ABI of the kernels that gather numbers: they copy numbers, named by their
//! indices, from one batch into another, of any widths and layouts.

use crate::kernel::{BLOCK, EntryPoint, Launch, MatrixArgument};

/// The PTX module of the gathering kernels.
pub const GATHER_MODULE: &str = "gather";

/// The kernel that gathers from a contiguous batch into a contiguous one.
pub const GATHER_CONTIGUOUS: EntryPoint = EntryPoint {
    name: "gather_contiguous",
    module: GATHER_MODULE,
};

/// The kernel that gathers between batches of any strides.
pub const GATHER_INTERLEAVED: EntryPoint = EntryPoint {
    name: "gather_interleaved",
    module: GATHER_MODULE,
};

/// The kernel that picks numbers from tables by digits that it keeps from showing: it reads every entry.
pub const GATHER_SCANNED: EntryPoint = EntryPoint {
    name: "gather_scanned",
    module: GATHER_MODULE,
};

/// The number of limbs that a warp moves in a launch that fills the device.
const STRETCH: u64 = 1 << 10;

/// The one parameter of a gathering kernel, passed by value. Number `i` of `r` becomes number
/// `indices[i]` of `a`, cut or extended with zeros to the width of `r`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatherArguments {
    /// The result; no part of it overlaps anything else.
    pub r: MatrixArgument,
    /// The batch that numbers are taken from.
    pub a: MatrixArgument,
    /// The device address of the indices, a limb for each number of `r`, all below `numbers`.
    /// If it is zero, number `i` of `r` is number `i` of `a`.
    pub indices: u64,
    /// The number of numbers in `a`.
    pub numbers: u64,
    /// The number of numbers in `r`.
    pub count: u64,
    /// The number of warps of the launch.
    pub workers: u64,
}

impl GatherArguments {
    /// The entry point of the kernel that these arguments are for.
    pub const fn entry_point(&self) -> EntryPoint {
        match self.r.limb_stride == 1 && self.a.limb_stride == 1 {
            true => GATHER_CONTIGUOUS,
            false => GATHER_INTERLEAVED,
        }
    }

    /// The launch for these arguments; it also sets their `workers`.
    ///
    /// `count` must not be zero: there is nothing to launch for an empty batch.
    pub const fn launch(&mut self) -> Launch {
        let warps = (BLOCK / 32) as u64;
        let limbs = self.count * self.r.width;
        let grid = limbs.div_ceil(STRETCH * warps);
        let most = i32::MAX as u64;
        let grid = if grid > most { most } else { grid };
        self.workers = grid * warps;
        Launch {
            grid: grid as u32,
            block: BLOCK,
            shared_bytes: 0,
            workers: self.workers as usize,
            scratch_width: 0,
        }
    }

    /// The arguments in the order in which a launch copies them, 64 bits at a time.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let matrix = |m: MatrixArgument| [m.limbs, m.number_stride, m.limb_stride, m.width];
        let rest = [self.indices, self.numbers, self.count, self.workers];
        [self.r, self.a].into_iter().flat_map(matrix).chain(rest)
    }
}

/// The one parameter of [`GATHER_SCANNED`], passed by value. Number `i` of `r` becomes entry `d` of table `i`, where
/// `d` is `bits` bits of number `i` of `e`, from bit `at` on. Limbs of results are neighbours.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanArguments {
    /// The result; no part of it overlaps anything else.
    pub r: MatrixArgument,
    /// The tables, each of `2^bits` entries as wide as results, one behind the other.
    pub table: MatrixArgument,
    /// The numbers whose bits are digits. Above their width they are zero.
    pub e: MatrixArgument,
    /// The place of a digit's lowest bit.
    pub at: u64,
    /// The bits of a digit, below 32.
    pub bits: u64,
    /// The number of numbers in `r`.
    pub count: u64,
    /// The number of warps of the launch.
    pub workers: u64,
}

impl ScanArguments {
    /// The launch for these arguments; it also sets their `workers`.
    pub const fn launch(&mut self) -> Launch {
        let warps = (BLOCK / 32) as u64;
        // As many as move what is read.
        let limbs = (self.count * self.r.width) << self.bits;
        let grid = limbs.div_ceil(STRETCH * warps);
        let most = i32::MAX as u64;
        let grid = if grid > most { most } else { grid };
        self.workers = grid * warps;
        Launch {
            grid: grid as u32,
            block: BLOCK,
            shared_bytes: 0,
            workers: self.workers as usize,
            scratch_width: 0,
        }
    }

    /// The arguments in the order in which a launch copies them, 64 bits at a time.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let matrix = |m: MatrixArgument| [m.limbs, m.number_stride, m.limb_stride, m.width];
        let rest = [self.at, self.bits, self.count, self.workers];
        let matrices = [self.r, self.table, self.e];
        matrices.into_iter().flat_map(matrix).chain(rest)
    }
}
