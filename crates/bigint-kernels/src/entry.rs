//! Every entry point, generated from the table of [`for_each_kernel!`]. A row
//!
//! ```text
//! (mul_comba_warp4_contiguous, Mul, Comba, Warp, 4, Contiguous)
//! ```
//!
//! becomes
//!
//! ```text
//! #[cfg(feature = "mul")]
//! #[unsafe(no_mangle)]
//! unsafe extern "ptx-kernel" fn mul_comba_warp4_contiguous(arguments: Arguments) {
//!     // SAFETY: ...
//!     for work in unsafe { warp::Numbers::<4, Unit>::new(&arguments) } {
//!         warp::mul::comba::product(work.group, work.r, work.a, work.b)
//!     }
//! }
//! ```
//!
//! Lookahead, which has no numbers of its own, is given the whole batch.

// Exported names, and launches that the host vouches for.
#![allow(unsafe_code)]

use crate::gpu::memory::{Any, Unit};
use crate::{thread, warp};
use bigint_core::{Arguments, for_each_kernel};

macro_rules! entry_points {
    ($(($name:ident, $operation:ident, $algorithm:ident, $level:ident, $lanes:tt, $layout:ident))*) => {$(
        entry_point! {
            $operation, $name,
            arguments => batch!(arguments, $operation, $algorithm, $level, $lanes, stride!($layout))
        }
    )*};
}

macro_rules! entry_point {
    (Add, $($rest:tt)*) => { entry_point! { feature "add", $($rest)* } };
    (Sub, $($rest:tt)*) => { entry_point! { feature "sub", $($rest)* } };
    (Mul, $($rest:tt)*) => { entry_point! { feature "mul", $($rest)* } };
    (feature $feature:literal, $name:ident, $arguments:ident => $compute:expr) => {
        #[cfg(feature = $feature)]
        #[unsafe(no_mangle)]
        unsafe extern "ptx-kernel" fn $name($arguments: Arguments) {
            $compute
        }
    };
}

// SAFETY, of every kernel: who launches it passes the arguments, and the grid and
// block, of `Kernel::launch`. What is computed branches on widths only where lanes
// share a number, or on what is the same in the whole warp.
macro_rules! batch {
    ($arguments:ident, Add, CarryLookahead, Warp, 32, $stride:ty) => {
        // SAFETY: as above.
        unsafe { warp::lookahead::batch::<warp::add::Sum, $stride>(&$arguments) }
    };
    ($arguments:ident, Sub, CarryLookahead, Warp, 32, $stride:ty) => {
        // SAFETY: as above.
        unsafe { warp::lookahead::batch::<warp::sub::Difference, $stride>(&$arguments) }
    };
    ($arguments:ident, $operation:ident, $algorithm:ident, $level:ident, $lanes:tt, $stride:ty) => {
        // SAFETY: as above.
        for work in
            unsafe { <numbers!($operation, $algorithm, $level, $lanes, $stride)>::new(&$arguments) }
        {
            compute!(work, $operation, $algorithm, $level)
        }
    };
}

macro_rules! stride {
    (Contiguous) => {
        Unit
    };
    (Interleaved) => {
        Any
    };
}

macro_rules! numbers {
    (Mul, School, Thread, 1, $stride:ty) => { thread::tile::Tiles<'_, $stride, true> };
    (Mul, Comba, Thread, 1, $stride:ty) => { thread::tile::Tiles<'_, $stride, false> };
    ($operation:ident, $algorithm:ident, Thread, 1, $stride:ty) => {
        thread::Numbers<'_, $stride>
    };
    ($operation:ident, $algorithm:ident, Warp, $lanes:literal, $stride:ty) => { warp::Numbers<'_, $lanes, $stride> };
}

macro_rules! compute {
    ($work:ident, Add, Ripple, Thread) => {
        $work
            .carry
            .set(thread::add::ripple($work.r, $work.a, $work.b))
    };
    ($work:ident, Sub, Ripple, Thread) => {
        $work
            .carry
            .set(thread::sub::ripple($work.r, $work.a, $work.b))
    };
    ($work:ident, Mul, School, Thread) => {
        thread::mul::school::products($work)
    };
    ($work:ident, Mul, Comba, Thread) => {
        thread::mul::comba::products($work)
    };
    ($work:ident, Mul, Karatsuba, Thread) => {
        thread::mul::karatsuba::product($work.r, $work.a, $work.b, $work.scratch)
    };
    ($work:ident, Mul, School, Warp) => {
        warp::mul::school::product($work.group, $work.r, $work.a, $work.b)
    };
    ($work:ident, Mul, Comba, Warp) => {
        warp::mul::comba::product($work.group, $work.r, $work.a, $work.b)
    };
    ($work:ident, Mul, Karatsuba, Warp) => {
        warp::mul::karatsuba::product($work.group, $work.r, $work.a, $work.b, $work.scratch)
    };
}

for_each_kernel!(entry_points);

/// [`bigint_core::kernel::CEILING`]: every thread is one number of `r`.
#[cfg(feature = "ceiling")]
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn multiply_add_ceiling(arguments: Arguments) {
    // SAFETY: who launches this kernel passes a result with one number for each
    // thread of the launch, and no operands.
    for work in unsafe { thread::Numbers::<'_, Unit>::new(&arguments) } {
        work.r.set(
            0,
            crate::ceiling::multiply_adds(crate::gpu::thread::index_1d() as u32),
        );
    }
}
