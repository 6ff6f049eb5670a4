//! Which entry points there are in PTX, and which module has them.

use crate::fused::{FUSED_MODULE, FusedKernel};
use crate::gather::{GATHER_CONTIGUOUS, GATHER_INTERLEAVED, GATHER_MODULE};
use crate::kernel::{EntryPoint, TENSOR_MODULE};
use crate::operation::Operation;
use crate::transform::{grid, ntt};
use crate::trial::{TRIAL, TRIAL_MODULE};
use crate::weighted::{self, long};

/// The entry points that are no operation's: [`CEILING`], those of squares modulo
/// `2^p - 1`, those of products on the whole device, those that gather, that of trial factoring, and the
/// fused kernels.
pub const OTHERS: [EntryPoint; 17 + FusedKernel::ALL.len()] = {
    let mut others = [CEILING; 17 + FusedKernel::ALL.len()];
    [others[1], others[2], others[3]] = [weighted::ROWS, weighted::BACK, weighted::FORTH];
    [others[4], others[5]] = [long::LONG_ROWS, long::LONG_COLUMNS];
    [others[6], others[7], others[8], others[9]] =
        [grid::FORTH, grid::ROWS, grid::BACK, grid::DIGITS];
    [others[10], others[11], others[12], others[13]] =
        [ntt::FORTH, ntt::ROWS, ntt::BACK, ntt::LIMBS];
    [others[14], others[15]] = [GATHER_CONTIGUOUS, GATHER_INTERLEAVED];
    others[16] = TRIAL;
    let mut i = 0;
    while i < FusedKernel::ALL.len() {
        others[17 + i] = FusedKernel::ALL[i].entry_point();
        i += 1;
    }
    others
};

/// Operations that have a module.
const OPERATIONS: usize = {
    let (mut count, mut i) = (0, 0);
    while i < Operation::ALL.len() {
        count += Operation::ALL[i].has_module() as usize;
        i += 1;
    }
    count
};

/// The PTX modules: one for each operation that has kernels of its own, that of kernels which need
/// tensor cores, and those of [`OTHERS`].
pub const MODULES: [&str; OPERATIONS + 9] = {
    let mut modules = [CEILING.module; OPERATIONS + 9];
    modules[OPERATIONS] = FUSED_MODULE;
    modules[OPERATIONS + 1] = weighted::MODULE;
    modules[OPERATIONS + 2] = long::LONG_MODULE;
    modules[OPERATIONS + 3] = grid::MODULE;
    modules[OPERATIONS + 4] = ntt::MODULE;
    modules[OPERATIONS + 5] = GATHER_MODULE;
    modules[OPERATIONS + 6] = TRIAL_MODULE;
    modules[OPERATIONS + 7] = TENSOR_MODULE;
    let (mut count, mut i) = (0, 0);
    while i < Operation::ALL.len() {
        if Operation::ALL[i].has_module() {
            modules[count] = Operation::ALL[i].name();
            count += 1;
        }
        i += 1;
    }
    modules
};

/// Multiplies and adds as fast as the chip can, so that a product's rate can be told
/// as a share of what is possible. Every worker is a thread, and for each number of
/// `r` does [`CEILING_MULTIPLY_ADDS`] and writes one limb; there are no operands.
pub const CEILING: EntryPoint = EntryPoint {
    name: "multiply_add_ceiling",
    module: "ceiling",
};

/// Multiply-adds, 32x32+64->64 bits, that one thread of [`CEILING`] does.
pub const CEILING_MULTIPLY_ADDS: u64 = 1 << 15;
