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
    /// The block has `THREADS` threads, and the shared memory that the kernel's leaf lays
    /// claim to; what is asked for of a [`Stretch`](super::stretch::Stretch) is within it. All threads come to every call of
    /// [`sync`](Self::sync) and [`all`](Self::all), and to what the [`warp`](Self::warp) does, together: control
    /// flow may depend on what is the same in the block.
    #[inline(always)]
    pub unsafe fn new() -> Self {
        // Known to the compiler. (As a `const` it would be checked where nothing comes to.)
        assert!(THREADS.is_multiple_of(32));
        Team {
            // Known to be small, so that divisions by powers of two are cheap.
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

    /// The part of its warp that shares a number, of so many lanes.
    #[inline(always)]
    pub fn group<const LANES: u32>(self) -> Group<LANES> {
        // SAFETY: by the contract of `new`.
        unsafe { Group::new() }
    }

    /// Waits for the block: what its threads wrote before, all of them may read after.
    #[inline(always)]
    pub fn sync(self) {
        // SAFETY: the block is converged by the contract of `new`.
        unsafe { barrier(0) }
    }

    /// Waits for the block's threads, and says whether `predicate` holds in every one.
    #[inline(always)]
    pub fn all(self, predicate: bool) -> bool {
        // SAFETY: as in `sync`.
        unsafe { barrier_all(0, predicate) }
    }

    /// Waits for the part of the block that the calling warp is in, where parts are of so
    /// many warps that follow each other: all threads of a part come together. There are no
    /// more than 15 parts, unless they are single warps.
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
