//! Every entry point, generated from the declarations of [`for_each_operation!`]. A row
//!
//! ```text
//! comba thread [1] [contiguous interleaved]
//! ```
//!
//! of `Mul` becomes two entry points, the first of which is
//!
//! ```text
//! const _: () = {
//!     #[unsafe(export_name = "mul_comba_thread_contiguous")]
//!     unsafe extern "ptx-kernel" fn entry(arguments: Arguments) {
//!         // SAFETY: ...
//!         thread::mul::comba::<Unit>(unsafe { thread::Batches::new(&arguments) })
//!     }
//! };
//! ```
//!
//! A row whose lanes stand in braces becomes one entry point for each layout, whose number of lanes
//! is [`KNOWN`]. If the layout stands in braces, its stride is [`Known`]. A row that has the text
//! of another row becomes none.

// Entry points have exported names, and the host vouches for launches.
#![allow(unsafe_code)]

use crate::gpu::memory::{Any, Known, Unit};
use crate::gpu::warp::KNOWN;
use crate::grid::{self, trial, weighted};
use crate::{block, thread, warp};
use bigint_core::fused::FusedArguments;
use bigint_core::gather::{GatherArguments, ScanArguments};
use bigint_core::rns::RnsArguments;
use bigint_core::transform::grid::{GridArguments, SumArguments};
use bigint_core::transform::ntt::NttArguments;
use bigint_core::transform::rings::RingArguments;
use bigint_core::trial::TrialArguments;
use bigint_core::weighted::{WeightedArguments, long::LongArguments};
use bigint_core::{Arguments, for_each_operation};

macro_rules! entry_points {
    ($(
        $(#[$doc:meta])*
        $variant:ident $operation:ident $operands:tt -> $results:tt {
            exact: $exact:tt,
            flag: $flag:ident,
            methods: $method:ident $wrapping:tt $overflowing:tt,
            syntax: $syntax:ident$(($symbol:literal))?,
            $(signs: $signs:ident,)?
            $(cost: $cost:ident,)?
            $(properties: $properties:tt,)?
            kernels: {$(
                $algorithm:ident $level:ident $lanes:tt $layouts:tt
                $(: $family:ident)? $(@ $blocks:literal)? $(= $text:ident $by:ident)?
            )*}
        }
    )*) => {$($(
        row! { $layouts ($operation $algorithm $level $lanes) $($text)? }
    )*)*};
}

/// Makes entry points for each layout of a row, with the layout's stride.
macro_rules! row {
    // The text is another row's.
    ($layouts:tt $row:tt $text:ident) => {};
    ([$($layout:ident)*] $row:tt) => {$(
        lanes! { $layout [stride!($layout)] $row }
    )*};
    ({$layout:ident} $row:tt) => {
        lanes! { $layout [Known] $row }
    };
}

/// Makes an entry point for each number of lanes of a row.
macro_rules! lanes {
    ($layout:ident [$stride:ty] ($operation:ident $algorithm:ident thread [1])) => {
        entry_point! { ($operation, "_", $algorithm, "_thread_", $layout)
            arguments => thread::$operation::$algorithm::<$stride>(
                // SAFETY: below.
                unsafe { thread::Batches::new(&arguments) }
            )
        }
    };
    // A whole warp on a stretch of limbs: its leaves are not generic in the number of lanes.
    ($layout:ident [$stride:ty] ($operation:ident $algorithm:ident warp [32])) => {
        entry_point! { ($operation, "_", $algorithm, "_warp32_", $layout)
            arguments => warp::$operation::$algorithm::<$stride>(
                // SAFETY: below.
                unsafe { warp::Batches::new(&arguments) }
            )
        }
    };
    ($layout:ident [$stride:ty] ($operation:ident $algorithm:ident warp {$($lanes:literal)*})) => {
        entry_point! { ($operation, "_", $algorithm, "_warp_", $layout)
            arguments => warp::$operation::$algorithm::<KNOWN, $stride>(
                // SAFETY: below.
                unsafe { warp::Batches::new(&arguments) }
            )
        }
    };
    ($layout:ident [$stride:ty] ($operation:ident $algorithm:ident warp [$($lanes:literal)*])) => {$(
        entry_point! { ($operation, "_", $algorithm, "_warp", $lanes, "_", $layout)
            arguments => warp::$operation::$algorithm::<$lanes, $stride>(
                // SAFETY: below.
                unsafe { warp::Batches::new(&arguments) }
            )
        }
    )*};
    ($layout:ident [$stride:ty] ($operation:ident $algorithm:ident block [$($lanes:literal)*])) => {$(
        entry_point! { ($operation, "_", $algorithm, "_block", $lanes, "_", $layout)
            arguments => block::$operation::$algorithm::<$lanes, $stride>(
                // SAFETY: below.
                unsafe { block::Batches::new(&arguments) }
            )
        }
    )*};
    // Algorithms of several launches, whose kernels are not in the table.
    ($layout:ident [$stride:ty] ($operation:ident $algorithm:ident grid [])) => {};
}

// SAFETY, for every kernel: its launch has the arguments, the grid and the block of
// `Kernel::launch`. Where lanes or threads share a number, control flow depends only on widths, or
// on values that are the same in the whole warp.
macro_rules! entry_point {
    (($($part:tt),*) $arguments:ident => $compute:expr) => {
        const _: () = {
            #[unsafe(export_name = concat!($(part!($part)),*))]
            unsafe extern "ptx-kernel" fn entry($arguments: Arguments) {
                $compute
            }
        };
    };
}

macro_rules! part {
    ($text:literal) => {
        $text
    };
    ($name:ident) => {
        stringify!($name)
    };
}

macro_rules! stride {
    (contiguous) => {
        Unit
    };
    (interleaved) => {
        Any
    };
}

for_each_operation!(entry_points);

/// The kernel [`bigint_core::modules::CEILING`]. Every thread has one number of `r`.
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn multiply_add_ceiling(arguments: Arguments) {
    // SAFETY: the launch has a result with one number for each of its threads, and no operands.
    for work in unsafe { thread::Batches::<Unit>::new(&arguments) }.numbers() {
        work.r.set(
            0,
            crate::ceiling::multiply_adds(crate::gpu::thread::index_1d() as u32),
        );
    }
}

/// Makes entry points of the fused kernels of [`bigint_core::fused`].
macro_rules! fused {
    ($(($($part:literal),*) $compute:path;)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("fused_", $($part),*))]
            unsafe extern "ptx-kernel" fn entry(arguments: FusedArguments) {
                // SAFETY: the launch has the arguments, the grid, the block and the shared memory
                // of `FusedKernel::launch`.
                unsafe { $compute(&arguments) }
            }
        };
    )*};
}

fused! {
    ("sums") warp::sums::sums;
    ("steps", 1) warp::steps::steps::<1>;
    ("steps", 2) warp::steps::steps::<2>;
    ("steps", 4) warp::steps::steps::<4>;
}

// SAFETY, for both: the launch is that of `GatherArguments::launch`.

/// The kernel [`bigint_core::gather::GATHER_CONTIGUOUS`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn gather_contiguous(arguments: GatherArguments) {
    // SAFETY: above.
    unsafe { warp::gather::gather::<Unit>(&arguments) }
}

/// The kernel [`bigint_core::gather::GATHER_INTERLEAVED`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn gather_interleaved(arguments: GatherArguments) {
    // SAFETY: above.
    unsafe { warp::gather::gather::<Any>(&arguments) }
}

/// The kernel [`bigint_core::gather::GATHER_SCANNED`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn gather_scanned(arguments: ScanArguments) {
    // SAFETY: the launch is that of `ScanArguments::launch`.
    unsafe { warp::gather::scanned(&arguments) }
}

/// Makes entry points of the kernels of products on the whole device, of
/// [`bigint_core::transform::grid`] and [`bigint_core::transform::ntt`].
macro_rules! grid {
    ($($name:literal $block:ty, $arguments:ident $method:ident;)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("mul_", $name))]
            unsafe extern "ptx-kernel" fn entry(arguments: $arguments) {
                // SAFETY: the launch has the arguments, the grid and the shared memory that these
                // modules describe.
                unsafe { <$block>::new(&arguments) }.$method();
            }
        };
    )*};
}

grid! {
    "fft_grid_forth" grid::mul::Block<'_, 256>, GridArguments forth;
    "fft_grid_rows_128" grid::mul::Block<'_, 128>, GridArguments rows;
    "fft_grid_rows_256" grid::mul::Block<'_, 256>, GridArguments rows;
    "fft_grid_pairs_256" grid::mul::Block<'_, 256>, GridArguments pairs;
    "fft_grid_pairs_512" grid::mul::Block<'_, 512>, GridArguments pairs;
    "fft_grid_back" grid::mul::Block<'_, 256>, GridArguments back;
    "fft_grid_forth_again" grid::mul::Block<'_, 256>, GridArguments forth_again;
    "fft_grid_rows_128_again" grid::mul::Block<'_, 128>, GridArguments rows_again;
    "fft_grid_rows_256_again" grid::mul::Block<'_, 256>, GridArguments rows_again;
    "fft_grid_back_again" grid::mul::Block<'_, 256>, GridArguments back_again;
    "ntt_grid_forth_256" grid::ntt::Block<'_, 256>, NttArguments forth;
    "ntt_grid_forth_512" grid::ntt::Block<'_, 512>, NttArguments forth;
    "ntt_grid_forth_1024" grid::ntt::Block<'_, 1024>, NttArguments forth;
    "ntt_grid_rows_256" grid::ntt::Block<'_, 256>, NttArguments rows;
    "ntt_grid_rows_512" grid::ntt::Block<'_, 512>, NttArguments rows;
    "ntt_grid_rows_1024" grid::ntt::Block<'_, 1024>, NttArguments rows;
    "ntt_grid_back_256" grid::ntt::Block<'_, 256>, NttArguments back;
    "ntt_grid_back_512" grid::ntt::Block<'_, 512>, NttArguments back;
    "ntt_grid_back_1024" grid::ntt::Block<'_, 1024>, NttArguments back;
    "ntt_grid_limbs" grid::ntt::Block<'_, 512>, NttArguments limbs;
}

/// Makes entry points of the kernels [`bigint_core::transform::grid::SUMS`] and
/// [`bigint_core::transform::grid::SUMS_AGAIN`].
macro_rules! grid_sums {
    ($($name:literal $stride:ty, $marked:literal;)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("mul_fft_grid_sums_", $name))]
            unsafe extern "ptx-kernel" fn entry(arguments: SumArguments) {
                // SAFETY: the launch has the arguments and the grid that the module describes.
                unsafe { grid::mul::sums::<$stride, $marked>(&arguments) }
            }
        };
    )*};
}

grid_sums! {
    "contiguous" Unit, false;
    "interleaved" Any, false;
    "contiguous_again" Unit, true;
    "interleaved_again" Any, true;
}

/// Makes entry points of the kernels of [`bigint_core::transform::rings`].
macro_rules! rings {
    ($($lanes:literal: $threads:literal $first:literal;)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("rings_powers_", $lanes))]
            unsafe extern "ptx-kernel" fn powers(arguments: RingArguments) {
                // SAFETY: who launches it passes the arguments, and the launch of this plan.
                unsafe { block::mul::fft::rings::powers::<$lanes, $threads, $first>(&arguments) }
            }

            #[unsafe(export_name = concat!("rings_keep_", $lanes))]
            unsafe extern "ptx-kernel" fn keep(arguments: RingArguments) {
                // SAFETY: above.
                unsafe { block::mul::fft::rings::keep::<$lanes, $threads, $first>(&arguments) }
            }
        };
    )*};
}

rings! {
    32: 32 8;
    64: 64 8;
}

// SAFETY, for the kernels of squares and products modulo `2^p - 1`: the launch has the arguments, the grid
// and the shared memory that `bigint_core::weighted` describes.

/// The kernel [`bigint_core::weighted::ROWS`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_rows(arguments: WeightedArguments) {
    // SAFETY: above.
    unsafe { weighted::Block::new(&arguments) }.rows();
}

/// The kernel [`bigint_core::weighted::MULTIPLY`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_multiply(arguments: WeightedArguments) {
    // SAFETY: above.
    unsafe { weighted::Block::new(&arguments) }.multiply();
}

/// The kernel [`bigint_core::weighted::PRODUCT`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_product(arguments: WeightedArguments) {
    // SAFETY: above.
    unsafe { weighted::Block::new(&arguments) }.product();
}

/// The kernel [`bigint_core::weighted::KEEP`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_keep(arguments: WeightedArguments) {
    // SAFETY: above.
    unsafe { weighted::Block::new(&arguments) }.keep();
}

/// The kernel [`bigint_core::weighted::BACK`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_back(arguments: WeightedArguments) {
    // SAFETY: above.
    unsafe { weighted::Block::new(&arguments) }.back();
}

/// The kernel [`bigint_core::weighted::FORTH`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_forth(arguments: WeightedArguments) {
    // SAFETY: above.
    unsafe { weighted::Block::new(&arguments) }.forth();
}

// SAFETY, for the kernels of long transforms: the launch has the arguments, the grid and the
// shared memory that `bigint_core::weighted::long` describes.

/// The kernel [`bigint_core::weighted::long::LONG_ROWS`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_long_rows(arguments: LongArguments) {
    // SAFETY: above.
    unsafe { weighted::long::Block::new(&arguments) }.rows();
}

/// The kernel [`bigint_core::weighted::long::LONG_MULTIPLY`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_long_multiply(arguments: LongArguments) {
    // SAFETY: above.
    unsafe { weighted::long::Block::new(&arguments) }.multiply();
}

/// The kernel [`bigint_core::weighted::long::LONG_PRODUCT`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_long_product(arguments: LongArguments) {
    // SAFETY: above.
    unsafe { weighted::long::Block::new(&arguments) }.product();
}

/// The kernel [`bigint_core::weighted::long::LONG_KEEP`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_long_keep(arguments: LongArguments) {
    // SAFETY: above.
    unsafe { weighted::long::Block::new(&arguments) }.keep();
}

/// The kernel [`bigint_core::weighted::long::LONG_COLUMNS`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_long_columns(arguments: LongArguments) {
    // SAFETY: above.
    unsafe { weighted::long::Block::new(&arguments) }.columns();
}

/// The kernel [`bigint_core::weighted::long::LONG_COLUMNS_MODULO`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_long_columns_modulo(arguments: LongArguments) {
    // SAFETY: above.
    unsafe { weighted::long::Block::new(&arguments) }.columns_modulo();
}

/// The kernel [`bigint_core::weighted::long::LONG_COLUMNS_FAR`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_long_columns_far(arguments: LongArguments) {
    // SAFETY: above.
    unsafe { weighted::long::Block::new(&arguments) }.columns_far();
}

/// The kernel [`bigint_core::weighted::long::LONG_COLUMNS_REACH`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_long_columns_reach(arguments: LongArguments) {
    // SAFETY: above.
    unsafe { weighted::long::Block::new(&arguments) }.columns_reach();
}

/// A kernel of residue number systems, [`bigint_core::rns`].
macro_rules! residue_systems {
    ($($name:literal $leaf:path;)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("rns_", $name))]
            unsafe extern "ptx-kernel" fn entry(arguments: RnsArguments) {
                // SAFETY: who launches it passes the arguments, and the launch of this kernel among
                // `RnsArguments::launches` or `launches_of_base`.
                unsafe { $leaf(&arguments) }
            }
        };
    )*};
}

residue_systems! {
    "radix" grid::pow_mod::radix;
    "residues" grid::pow_mod::residues;
    "base" grid::pow_mod::base;
    "powers_5" grid::pow_mod::powers::<5, 512>;
    "powers_7" grid::pow_mod::powers::<7, 512>;
    "powers_9" grid::pow_mod::powers::<9, 512>;
    "powers_13" grid::pow_mod::powers::<13, 384>;
    "powers_18" grid::pow_mod::powers::<18, 256>;
    "powers_26" grid::pow_mod::powers::<26, 256>;
    "powers_35" grid::pow_mod::powers::<35, 256>;
    "warpgroups_5" grid::pow_mod::warpgroups::<5>;
    "warpgroups_7" grid::pow_mod::warpgroups::<7>;
    "warpgroups_9" grid::pow_mod::warpgroups::<9>;
    "warpgroups_13" grid::pow_mod::warpgroups::<13>;
    "warpgroups_18" grid::pow_mod::warpgroups::<18>;
    "warpgroups_26" grid::pow_mod::warpgroups::<26>;
    "warpgroups_35" grid::pow_mod::warpgroups::<35>;
    "limbs" grid::pow_mod::limbs;
}

/// The kernel [`bigint_core::trial::TRIAL`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn trial_factors(arguments: TrialArguments) {
    // SAFETY: the launch has the arguments, the blocks and the shared memory that
    // `bigint_core::trial` describes.
    unsafe { trial::Block::new(&arguments) }.factors();
}
