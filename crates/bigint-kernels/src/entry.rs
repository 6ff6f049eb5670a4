//! Every entry point, generated from the table of [`for_each_kernel!`]. A row
//!
//! ```text
//! (add_carry_lookahead_warp4_contiguous, Add, CarryLookahead, Warp, 4, Contiguous)
//! ```
//!
//! becomes
//!
//! ```text
//! #[cfg(feature = "add")]
//! #[unsafe(no_mangle)]
//! unsafe extern "ptx-kernel" fn add_carry_lookahead_warp4_contiguous(arguments: Arguments) {
//!     // SAFETY: ...
//!     for work in unsafe { warp::Numbers::<4, Unit>::new(&arguments) } {
//!         let carry = warp::add::carry_lookahead(work.group, work.r, work.a, work.b);
//!         work.carry.set(carry);
//!     }
//! }
//! ```

// Exported names, and launches that the host vouches for.
#![allow(unsafe_code)]

use crate::gpu::memory::{Any, Unit};
use crate::{thread, warp};
use bigint_core::{Arguments, for_each_kernel};

macro_rules! entry_points {
    ($(($name:ident, $operation:ident, $algorithm:ident, $level:ident, $lanes:tt, $layout:ident))*) => {$(
        entry_point! {
            $operation, $name, numbers!($level, $lanes, stride!($layout)),
            work => compute!(work, $operation, $algorithm, $level)
        }
    )*};
}

macro_rules! entry_point {
    (Add, $($rest:tt)*) => { entry_point! { feature "add", $($rest)* } };
    (Sub, $($rest:tt)*) => { entry_point! { feature "sub", $($rest)* } };
    (Mul, $($rest:tt)*) => { entry_point! { feature "mul", $($rest)* } };
    (feature $feature:literal, $name:ident, $numbers:ty, $work:ident => $compute:expr) => {
        #[cfg(feature = $feature)]
        #[unsafe(no_mangle)]
        unsafe extern "ptx-kernel" fn $name(arguments: Arguments) {
            // SAFETY: who launches a kernel passes the arguments, and the grid
            // and block, of `Kernel::launch`. What is computed below branches on
            // widths only where lanes share a number.
            for $work in unsafe { <$numbers>::new(&arguments) } {
                $compute
            }
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
    (Thread, 1, $stride:ty) => { thread::Numbers<'_, $stride> };
    (Warp, $lanes:literal, $stride:ty) => { warp::Numbers<'_, $lanes, $stride> };
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
    ($work:ident, Add, CarryLookahead, Warp) => {
        $work.carry.set(warp::add::carry_lookahead(
            $work.group,
            $work.r,
            $work.a,
            $work.b,
        ))
    };
    ($work:ident, Sub, CarryLookahead, Warp) => {
        $work.carry.set(warp::sub::carry_lookahead(
            $work.group,
            $work.r,
            $work.a,
            $work.b,
        ))
    };
    ($work:ident, Mul, School, Thread) => {
        thread::mul::school::product($work.r, $work.a, $work.b)
    };
    ($work:ident, Mul, Comba, Thread) => {
        thread::mul::comba::product($work.r, $work.a, $work.b)
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
