//! The threads of a block, which meet at barriers.

// The barrier is a foreign function: as an intrinsic it is `convergent`.
#![allow(unsafe_code)]

use super::thread;
use super::warp::Group;

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    fn barrier(number: u32);
    #[link_name = "llvm.nvvm.barrier.cta.red.and.aligned.all"]
    fn barrier_all(number: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.count"]
    fn barrier_of_some(number: u32, threads: u32);
}

/// The threads of a block, seen from one of them.
#[derive(Clone, Copy)]
pub struct Team<const THREADS: u32> {
    thread: u32,
    warp: Group<32>,
}

impl<const THREADS: u32> Team<THREADS> {
    /// The calling thread's block.
    ///
    /// # Safety
    /// The block has `THREADS` threads and all the shared memory that the kernel's leaf uses; every access of a
    /// [`Stretch`](super::stretch::Stretch) is within it. All threads come to every call of [`sync`](Self::sync) and
    /// [`all`](Self::all), and to the shuffles and votes of the [`warp`](Self::warp), together: control flow may
    /// depend only on values that are the same in the whole block.
    #[inline(always)]
    pub unsafe fn new() -> Self {
        // The compiler decides this. (As a `const` it would be checked even in code that is never reached.)
        assert!(THREADS.is_multiple_of(32));
        Team {
            // The remainder tells the compiler that the index is small, so that divisions by powers of two are cheap.
            thread: thread::index_in_block() % THREADS.next_power_of_two(),
            // SAFETY: by this function's own contract.
            warp: unsafe { Group::new() },
        }
    }

    /// The calling thread's place in its block.
    #[inline(always)]
    pub fn thread(self) -> u32 {
        self.thread
    }

    /// The calling thread's warp.
    #[inline(always)]
    pub fn warp(self) -> Group<32> {
        self.warp
    }

    /// The group of `LANES` lanes, within its warp, with which the calling thread shares a number.
    #[inline(always)]
    pub fn group<const LANES: u32>(self) -> Group<LANES> {
        // SAFETY: by the contract of `new`.
        unsafe { Group::new() }
    }

    /// Waits for all threads of the block. Afterwards all of them may read what any of them wrote before.
    #[inline(always)]
    pub fn sync(self) {
        // SAFETY: the block is converged by the contract of `new`.
        unsafe { barrier(0) }
    }

    /// Waits for all threads of the block, and returns whether `predicate` holds in every one.
    #[inline(always)]
    pub fn all(self, predicate: bool) -> bool {
        // SAFETY: as in `sync`.
        unsafe { barrier_all(0, predicate) }
    }

    /// Waits for the part of the block that the calling warp is in. A part is `warps` warps that follow each other,
    /// and all of its threads come here together. There are at most 15 parts, unless parts are single warps.
    #[inline(always)]
    pub fn sync_part(self, warps: u32) {
        if warps == 1 {
            return self.warp.sync();
        }
        let threads = (32 * warps).max(32);
        // SAFETY: the part is converged by the contract of `new`; number 0 is that of the
        // whole block.
        unsafe { barrier_of_some(1 + self.thread / threads, threads) }
    }
}
