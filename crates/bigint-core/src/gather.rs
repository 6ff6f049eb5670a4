//! The launch ABI of the kernels that gather numbers: by their indices from one batch into
//! another, of any widths and layouts.

use crate::kernel::{BLOCK, EntryPoint, Launch, MatrixArgument};

/// The module of these kernels.
pub const GATHER_MODULE: &str = "gather";

/// The kernel for two contiguous batches.
pub const GATHER_CONTIGUOUS: EntryPoint = EntryPoint {
    name: "gather_contiguous",
    module: GATHER_MODULE,
};

/// Any strides.
pub const GATHER_INTERLEAVED: EntryPoint = EntryPoint {
    name: "gather_interleaved",
    module: GATHER_MODULE,
};

/// Limbs that a warp moves in a launch that fills the device.
const STRETCH: u64 = 1 << 10;

/// The one parameter of such a kernel, passed by value: number `i` of `r` is number `index[i]`
/// of `a`, cut or extended with zeros to the width of `r`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatherArguments {
    /// The result; no part of it overlaps anything else.
    pub r: MatrixArgument,
    /// The batch that numbers are taken from.
    pub a: MatrixArgument,
    /// Device address of as many indices as there are numbers in `r`, a limb each, all below
    /// `numbers`; zero where number `i` of `r` is number `i` of `a`.
    pub indices: u64,
    /// Numbers in `a`.
    pub numbers: u64,
    /// Numbers in `r`.
    pub count: u64,
    /// Warps of the launch.
    pub workers: u64,
}

impl GatherArguments {
    /// The entry point of the two that is launched.
    pub const fn entry_point(&self) -> EntryPoint {
        match self.r.limb_stride == 1 && self.a.limb_stride == 1 {
            true => GATHER_CONTIGUOUS,
            false => GATHER_INTERLEAVED,
        }
    }

    /// The launch for these arguments, whose `workers` it sets.
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

    /// The arguments as a launch copies them, 64 bits at a time.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let matrix = |m: MatrixArgument| [m.limbs, m.number_stride, m.limb_stride, m.width];
        let rest = [self.indices, self.numbers, self.count, self.workers];
        [self.r, self.a].into_iter().flat_map(matrix).chain(rest)
    }
}
