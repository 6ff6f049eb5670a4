//! A kernel of one's own: `r = a b - c` modulo `2^(32 w)`, and for each number whether that
//! is less than zero, by one launch.
//!
//! A product and a difference of `bigint-kernels` follow one another on the same number; the
//! difference finds the product where the same thread has just put it.

#![no_std]
#![feature(abi_ptx)]

use bigint_core::Arguments;
use bigint_kernels::gpu::memory::Unit;
use bigint_kernels::thread::{self, Batches};

/// The entry point. Its arguments are those of the library's own kernels, so that a host
/// fills them in the same way: `r`, `a`, `b`, `c`, `carry`, `count` and `workers`.
///
/// # Safety
/// As for [`Batches::new`]: a launch of whole warps, one thread to a worker, with batches
/// that are allocated and contiguous and a result that overlaps none of them.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn multiply_subtract(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    for work in unsafe { Batches::<Unit>::new(&arguments) }.numbers() {
        thread::mul::comba::product(work.r, work.a, work.b);
        let borrow = thread::sub::number(work.r, work.r, work.c);
        work.carry.set(borrow);
    }
}
