//! The PTX modules, and the entry points that belong to no operation.

use crate::fused::{FUSED_MODULE, FusedKernel};
use crate::gather::{GATHER_CONTIGUOUS, GATHER_INTERLEAVED, GATHER_MODULE, GATHER_SCANNED};
use crate::kernel::{EntryPoint, TENSOR_MODULE};
use crate::operation::Operation;
use crate::rns::{self, RNS_MODULE};
use crate::transform::{grid, ntt, rings};
use crate::trial::{TRIAL, TRIAL_MODULE};
use crate::weighted::{self, long};

/// The entry points that belong to no operation: [`CEILING`], and those of squares modulo `2^p - 1` and other numbers, of
/// products on the whole device, of gathering, of trial factoring, of
/// residue number systems, of fused kernels and of powers in two rings.
pub const OTHERS: [EntryPoint; OTHER_COUNT] = {
    let mut others = [CEILING; OTHER_COUNT];
    let mut at = 1;
    at = put(
        &mut others,
        at,
        &[weighted::ROWS, weighted::BACK, weighted::FORTH],
    );
    at = put(
        &mut others,
        at,
        &[weighted::MULTIPLY, weighted::PRODUCT, weighted::KEEP],
    );
    at = put(
        &mut others,
        at,
        &[
            long::LONG_ROWS,
            long::LONG_COLUMNS,
            long::LONG_COLUMNS_MODULO,
            long::LONG_COLUMNS_FAR,
            long::LONG_COLUMNS_REACH,
        ],
    );
    at = put(
        &mut others,
        at,
        &[long::LONG_MULTIPLY, long::LONG_PRODUCT, long::LONG_KEEP],
    );
    at = put(&mut others, at, &[grid::FORTH, grid::BACK]);
    at = put(&mut others, at, &grid::ROWS);
    at = put(&mut others, at, &grid::PAIRS);
    at = put(&mut others, at, &grid::SUMS);
    at = put(&mut others, at, &grid::AGAIN);
    at = put(&mut others, at, &grid::SUMS_AGAIN);
    at = put(&mut others, at, &[ntt::LIMBS]);
    at = put(&mut others, at, &ntt::FORTH);
    at = put(&mut others, at, &ntt::ROWS);
    at = put(&mut others, at, &ntt::BACK);
    at = put(
        &mut others,
        at,
        &[GATHER_CONTIGUOUS, GATHER_INTERLEAVED, GATHER_SCANNED, TRIAL],
    );
    at = put(
        &mut others,
        at,
        &[rns::RADIX, rns::RESIDUES, rns::BASE, rns::LIMBS],
    );
    let mut i = 0;
    while i < rns::WARPS.len() {
        at = put(&mut others, at, &[rns::WARPS[i].entry]);
        i += 1;
    }
    i = 0;
    while i < rns::WARPGROUPS.len() {
        at = put(&mut others, at, &[rns::WARPGROUPS[i].entry]);
        i += 1;
    }
    i = 0;
    while i < FusedKernel::ALL.len() {
        at = put(&mut others, at, &[FusedKernel::ALL[i].entry_point()]);
        i += 1;
    }
    i = 0;
    while i < rings::KERNELS.len() {
        at = put(&mut others, at, &rings::KERNELS[i]);
        i += 1;
    }
    assert!(at == OTHER_COUNT);
    others
};

/// The number of [`OTHERS`].
const OTHER_COUNT: usize = 47
    + rns::WARPS.len()
    + rns::WARPGROUPS.len()
    + FusedKernel::ALL.len()
    + 2 * rings::KERNELS.len();

/// Sets the entry points from place `at` on, and tells the place after the last.
const fn put(others: &mut [EntryPoint; OTHER_COUNT], at: usize, entries: &[EntryPoint]) -> usize {
    let mut i = 0;
    while i < entries.len() {
        others[at + i] = entries[i];
        i += 1;
    }
    at + entries.len()
}

/// The number of operations that have a module.
const OPERATIONS: usize = {
    let (mut count, mut i) = (0, 0);
    while i < Operation::ALL.len() {
        count += Operation::ALL[i].has_module() as usize;
        i += 1;
    }
    count
};

/// The names of the PTX modules: one for each operation that has kernels of its own, the one of kernels
/// that need tensor cores, and those of [`OTHERS`].
pub const MODULES: [&str; OPERATIONS + 12 + rns::WARPGROUPS.len()] = {
    let mut modules = [CEILING.module; OPERATIONS + 12 + rns::WARPGROUPS.len()];
    modules[OPERATIONS] = FUSED_MODULE;
    modules[OPERATIONS + 1] = weighted::MODULE;
    modules[OPERATIONS + 2] = long::LONG_MODULE;
    modules[OPERATIONS + 3] = grid::MODULE;
    modules[OPERATIONS + 4] = ntt::MODULE;
    modules[OPERATIONS + 5] = GATHER_MODULE;
    modules[OPERATIONS + 6] = TRIAL_MODULE;
    modules[OPERATIONS + 7] = TENSOR_MODULE;
    modules[OPERATIONS + 8] = RNS_MODULE;
    modules[OPERATIONS + 9] = rings::MODULE;
    modules[OPERATIONS + 10] = grid::AGAIN_MODULE;
    let (mut count, mut i) = (0, 0);
    while i < rns::WARPGROUPS.len() {
        modules[OPERATIONS + 11 + i] = rns::WARPGROUPS[i].entry.module;
        i += 1;
    }
    i = 0;
    while i < Operation::ALL.len() {
        if Operation::ALL[i].has_module() {
            modules[count] = Operation::ALL[i].name();
            count += 1;
        }
        i += 1;
    }
    modules
};

/// The kernel that multiplies and adds as fast as the chip can, so that the rate of a product can be
/// given as a share of what is possible. Every worker is a thread. For each number of `r` it does
/// [`CEILING_MULTIPLY_ADDS`] multiply-adds and writes one limb. It has no operands.
pub const CEILING: EntryPoint = EntryPoint {
    name: "multiply_add_ceiling",
    module: "ceiling",
};

/// The multiply-adds (32x32+64->64 bits) that a thread of [`CEILING`] does for each number.
pub const CEILING_MULTIPLY_ADDS: u64 = 1 << 15;
