//! Where a thread stands in the launch.

// Reading the special registers is an intrinsic of the target; `asm!` is what no compiler sees
// through.
#![allow(unsafe_code)]

use core::arch::asm;
#[cfg(target_arch = "nvptx64")]
use core::arch::nvptx;

/// The thread's index in the whole launch.
#[inline(always)]
pub fn index_1d() -> u64 {
    // SAFETY: the three registers are defined in every thread of every launch,
    // and reading them has no effect.
    let (block, threads, thread) = unsafe {
        (
            nvptx::_block_idx_x(),
            nvptx::_block_dim_x(),
            nvptx::_thread_idx_x(),
        )
    };
    block as u64 * threads as u64 + thread as u64
}

/// Threads of the whole launch.
#[inline(always)]
pub fn count() -> u64 {
    // SAFETY: as in `index_1d`.
    let (blocks, threads) = unsafe { (nvptx::_grid_dim_x(), nvptx::_block_dim_x()) };
    blocks as u64 * threads as u64
}

/// The thread's lane in its warp: blocks are one-dimensional.
#[inline(always)]
pub fn lane() -> u32 {
    // SAFETY: as in `index_1d`.
    unsafe { nvptx::_thread_idx_x() as u32 % 32 }
}

/// The thread's index in its block.
#[inline(always)]
pub fn index_in_block() -> u32 {
    // SAFETY: as in `index_1d`.
    unsafe { nvptx::_thread_idx_x() as u32 }
}

/// The block's index in the launch.
#[inline(always)]
pub fn block_index() -> u32 {
    // SAFETY: as in `index_1d`.
    unsafe { nvptx::_block_idx_x() as u32 }
}

/// `x`, but not before the thread comes here: what follows from it is no invariant of a loop
/// around, which the compiler would compute ahead, as addresses, and keep in registers.
#[inline(always)]
pub fn here(x: u32) -> u32 {
    let same;
    // SAFETY: sets a register.
    unsafe {
        asm!("mov.b32 {same}, {x};", same = out(reg32) same, x = in(reg32) x,
            options(nomem, nostack, preserves_flags));
    }
    same
}
