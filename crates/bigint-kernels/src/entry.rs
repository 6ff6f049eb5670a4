//! Every entry point, generated from the declarations of [`for_each_operation!`]. A row
//!
//! ```text
//! comba thread [1] [contiguous interleaved]
//! ```
//!
//! of `Mul` becomes two of them, the first of which is
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
//! Of those whose text is told the lanes there is one for each layout, with [`TOLD`] for
//! their number; those of a block that serve any layout, squares, quotients, roots, and divisors, multiples and inverses by a
//! thread, are [`Told`] where limbs are neighbours.

// Exported names, and launches that the host vouches for.
#![allow(unsafe_code)]

use crate::gpu::memory::{Any, Told, Unit};
use crate::gpu::warp::TOLD;
use crate::grid::{self, trial, weighted};
use crate::{block, thread, warp};
use bigint_core::fused::FusedArguments;
use bigint_core::gather::GatherArguments;
use bigint_core::transform::grid::GridArguments;
use bigint_core::transform::ntt::NttArguments;
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
            kernels: {$(
                $algorithm:ident $level:ident $lanes:tt $layouts:tt
            )*}
        }
    )*) => {$($(
        row! { $operation $algorithm $level $lanes $layouts }
    )*)*};
}

/// Multiplies lanes and layouts out.
macro_rules! row {
    // `Operation::kernels_of`: those of `div_rem` leave out a result that nobody wants.
    (div $($row:tt)*) => {};
    (rem $($row:tt)*) => {};
    // Those of `pow_mod` are told what they compute.
    (pow_pair $($row:tt)*) => {};
    (pow_fixed $($row:tt)*) => {};
    // `Operation::kernels_by`: those of `mul` see that operands are the same.
    (square fft $($row:tt)*) => {};
    // Told `bigint_core::facts::SCAN`, those of `window`.
    (pow_mod window_vartime $($row:tt)*) => {};
    // A whole warp: its leaves have no choice of lanes.
    ($operation:ident $algorithm:ident warp [32] [$($layout:ident)*]) => {$(
        entry_point! { ($operation, "_", $algorithm, "_warp32_", $layout)
            arguments => warp::$operation::$algorithm::<stride!($layout)>(
                // SAFETY: below.
                unsafe { warp::Batches::new(&arguments) }
            )
        }
    )*};
    // `bigint_core::kernel::lanes_are_told`.
    (mul school warp $lanes:tt $layouts:tt) => {
        row! { @ mul school told $layouts }
    };
    (one_text $operation:ident $algorithm:ident warp $lanes:tt [interleaved]) => {
        entry_point! { ($operation, "_", $algorithm, "_warp_interleaved")
            arguments => warp::$operation::$algorithm::<TOLD, Told>(
                // SAFETY: below.
                unsafe { warp::Batches::new(&arguments) }
            )
        }
    };
    ($operation:ident cios warp $lanes:tt $layouts:tt) => {
        row! { @ $operation cios told $layouts }
    };
    ($operation:ident window warp $lanes:tt $layouts:tt) => {
        row! { @ $operation window told $layouts }
    };
    // One text for both layouts, told which.
    (div_rem school $($row:tt)*) => {
        row! { one_text div_rem school $($row)* }
    };
    (square school $($row:tt)*) => {
        row! { one_text square school $($row)* }
    };
    (isqrt school $($row:tt)*) => {
        row! { one_text isqrt school $($row)* }
    };
    (gcd lehmer $($row:tt)*) => {
        row! { one_text gcd lehmer $($row)* }
    };
    (inv_mod lehmer $($row:tt)*) => {
        row! { one_text inv_mod lehmer $($row)* }
    };
    (lcm lehmer $($row:tt)*) => {
        row! { one_text lcm lehmer $($row)* }
    };
    (one_text $operation:ident $algorithm:ident thread [1] [interleaved]) => {
        entry_point! { ($operation, "_", $algorithm, "_thread_interleaved")
            arguments => thread::$operation::$algorithm::<Told>(
                // SAFETY: below.
                unsafe { thread::Batches::new(&arguments) }
            )
        }
    };
    (@ $operation:ident $algorithm:ident told [$($layout:ident)*]) => {$(
        entry_point! { ($operation, "_", $algorithm, "_warp_", $layout)
            arguments => warp::$operation::$algorithm::<TOLD, stride!($layout)>(
                // SAFETY: below.
                unsafe { warp::Batches::new(&arguments) }
            )
        }
    )*};
    ($operation:ident $algorithm:ident $level:ident [$($lanes:tt)*] $layouts:tt) => {$(
        row! { @ $operation $algorithm $level $lanes $layouts }
    )*};
    (@ $operation:ident $algorithm:ident thread 1 [$($layout:ident)*]) => {$(
        entry_point! { ($operation, "_", $algorithm, "_thread_", $layout)
            arguments => thread::$operation::$algorithm::<stride!($layout)>(
                // SAFETY: below.
                unsafe { thread::Batches::new(&arguments) }
            )
        }
    )*};
    (@ $operation:ident $algorithm:ident warp $lanes:literal [$($layout:ident)*]) => {$(
        entry_point! { ($operation, "_", $algorithm, "_warp", $lanes, "_", $layout)
            arguments => warp::$operation::$algorithm::<$lanes, stride!($layout)>(
                // SAFETY: below.
                unsafe { warp::Batches::new(&arguments) }
            )
        }
    )*};
    (@ $operation:ident $algorithm:ident block $threads:literal [$($layout:ident)*]) => {$(
        entry_point! { ($operation, "_", $algorithm, "_block", $threads, "_", $layout)
            arguments => block::$operation::$algorithm::<$threads, told_stride!($layout)>(
                // SAFETY: below.
                unsafe { block::Batches::new(&arguments) }
            )
        }
    )*};
}

// SAFETY, of every kernel: who launches it passes the arguments, and the grid and
// block, of `Kernel::launch`. What is computed branches on widths only where lanes
// or threads share a number, or on what is the same in the whole warp.
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

macro_rules! told_stride {
    (contiguous) => {
        Unit
    };
    (interleaved) => {
        Told
    };
}

for_each_operation!(entry_points);

/// [`bigint_core::modules::CEILING`]: every thread is one number of `r`.
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn multiply_add_ceiling(arguments: Arguments) {
    // SAFETY: who launches this kernel passes a result with one number for each
    // thread of the launch, and no operands.
    for work in unsafe { thread::Batches::<Unit>::new(&arguments) }.numbers() {
        work.r.set(
            0,
            crate::ceiling::multiply_adds(crate::gpu::thread::index_1d() as u32),
        );
    }
}

/// A fused kernel, [`bigint_core::fused`].
macro_rules! fused {
    ($(($($part:literal),*) $compute:path;)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("fused_", $($part),*))]
            unsafe extern "ptx-kernel" fn entry(arguments: FusedArguments) {
                // SAFETY: who launches it passes the arguments, and the grid, block and
                // shared memory, of `FusedKernel::launch`.
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

// SAFETY, of both: who launches them passes the arguments of `GatherArguments::launch`.

/// [`bigint_core::gather::GATHER_CONTIGUOUS`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn gather_contiguous(arguments: GatherArguments) {
    // SAFETY: above.
    unsafe { warp::gather::gather::<Unit>(&arguments) }
}

/// [`bigint_core::gather::GATHER_INTERLEAVED`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn gather_interleaved(arguments: GatherArguments) {
    // SAFETY: above.
    unsafe { warp::gather::gather::<Any>(&arguments) }
}

/// A kernel of products on the whole device, [`bigint_core::transform::grid`] and
/// [`bigint_core::transform::ntt`].
macro_rules! grid {
    ($($name:literal $leaf:ident $arguments:ident $method:ident;)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("mul_", $name))]
            unsafe extern "ptx-kernel" fn entry(arguments: $arguments) {
                // SAFETY: who launches it passes the arguments, the grid and the shared memory
                // that these describe.
                unsafe { grid::$leaf::Block::new(&arguments) }.$method();
            }
        };
    )*};
}

grid! {
    "fft_grid_forth" mul GridArguments forth;
    "fft_grid_rows" mul GridArguments rows;
    "fft_grid_back" mul GridArguments back;
    "fft_grid_digits" mul GridArguments digits;
    "ntt_grid_forth" ntt NttArguments forth;
    "ntt_grid_rows" ntt NttArguments rows;
    "ntt_grid_back" ntt NttArguments back;
    "ntt_grid_limbs" ntt NttArguments limbs;
}

// SAFETY, of the three kernels of squares modulo `2^p - 1`: who launches them passes the
// arguments, the grid and the shared memory of `bigint_core::weighted`.

/// [`bigint_core::weighted::ROWS`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_rows(arguments: WeightedArguments) {
    // SAFETY: above.
    unsafe { weighted::Block::new(&arguments) }.rows();
}

/// [`bigint_core::weighted::BACK`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_back(arguments: WeightedArguments) {
    // SAFETY: above.
    unsafe { weighted::Block::new(&arguments) }.back();
}

/// [`bigint_core::weighted::FORTH`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_forth(arguments: WeightedArguments) {
    // SAFETY: above.
    unsafe { weighted::Block::new(&arguments) }.forth();
}

// SAFETY, of the two kernels of long transforms: the same, by
// `bigint_core::weighted::long`.

/// [`bigint_core::weighted::long::LONG_ROWS`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_long_rows(arguments: LongArguments) {
    // SAFETY: above.
    unsafe { weighted::long::Block::new(&arguments) }.rows();
}

/// [`bigint_core::weighted::long::LONG_COLUMNS`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn weighted_long_columns(arguments: LongArguments) {
    // SAFETY: above.
    unsafe { weighted::long::Block::new(&arguments) }.columns();
}

/// [`bigint_core::trial::TRIAL`].
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn trial_factors(arguments: TrialArguments) {
    // SAFETY: who launches it passes the arguments, the blocks and the shared memory of
    // `bigint_core::trial`.
    unsafe { trial::Block::new(&arguments) }.factors();
}
