//! The position of a thread in the launch.

// Special registers are read by intrinsics of the target. `asm!` hides a value from the
// compilers.
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

/// The number of threads of the whole launch.
#[inline(always)]
pub fn count() -> u64 {
    // SAFETY: as in `index_1d`.
    let (blocks, threads) = unsafe { (nvptx::_grid_dim_x(), nvptx::_block_dim_x()) };
    blocks as u64 * threads as u64
}

/// The thread's lane in its warp. (Blocks are one-dimensional.)
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

/// The number of blocks of the launch.
#[inline(always)]
pub fn blocks() -> u32 {
    // SAFETY: as in `index_1d`.
    unsafe { nvptx::_grid_dim_x() as u32 }
}

/// `x`, in such a way that nothing that depends on it is computed earlier. In a loop, the
/// compiler would otherwise compute what does not change, such as addresses, ahead of the loop
/// and keep it in registers.
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

/// The place before which the kernel touches nothing that launches write, which the PTX names by a comment
/// ([`WAITS_HERE`](bigint_core::weighted::long::WAITS_HERE)).
#[inline(always)]
pub fn waits_here() {
    // SAFETY: there is no instruction, or one that waits for the launch before.
    unsafe {
        asm!("/*waits here*/", options(nostack, preserves_flags));
    }
}
