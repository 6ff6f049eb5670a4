//! A thread's part of scratch, which it reads and writes four limbs at a time.

// Addresses come from the launch.
#![allow(unsafe_code)]

use super::access::{load_four_of_many, store_four};
use super::shared::OfThreads;
use super::thread;
use bigint_core::kernel::BLOCK;
use bigint_core::{Limb, MatrixArgument};
use core::arch::asm;

/// Bytes of four limbs.
const FOUR: u32 = 4 * LIMB_BYTES;

/// Bytes of a limb.
const LIMB_BYTES: u32 = size_of::<Limb>() as u32;

/// The bytes from one group of four limbs of a thread to its next.
const STRIDE: u32 = FOUR * BLOCK;

/// A thread's own column in scratch, made of groups of four limbs. The columns of a block's threads
/// stand side by side: group `i` of thread `t` is group `i * BLOCK + t` of the block's part. So the
/// compiler knows the distance of each group from the first, and it is short. Groups are loaded so
/// that caches evict them first: the tables of all threads would fill the caches, and the kernel's
/// code would have to come from memory again.
#[derive(Clone, Copy)]
pub struct Fours {
    address: u64,
}

impl Fours {
    /// The calling thread's column, in a launch in which `lanes` threads share a number.
    ///
    /// # Safety
    /// The argument describes scratch that has room for every group that is read or set, in each
    /// thread of the launch. Nothing else uses it, and it stays allocated while the kernel runs.
    /// Blocks have [`BLOCK`] threads. What is read has been set before.
    #[inline(always)]
    pub unsafe fn new(scratch: &MatrixArgument, lanes: u32) -> Self {
        let limbs = BLOCK / lanes * scratch.width as u32;
        let block = u64::from(LIMB_BYTES * limbs) * u64::from(thread::block_index());
        let own = FOUR * thread::index_in_block();
        Fours {
            address: scratch.limbs + block + u64::from(own),
        }
    }

    #[inline(always)]
    fn address_of(self, i: u32) -> u64 {
        self.address + u64::from(i * STRIDE)
    }

    /// The `X` limbs from group `at` on; `X` is a multiple of 4.
    #[inline(always)]
    pub fn limbs<const X: usize>(self, at: u32) -> [Limb; X] {
        let mut address = self.address_of(at);
        let mut limbs = [0; X];
        for four in limbs.as_chunks_mut::<4>().0 {
            // SAFETY: by the contract of `new`; fours are aligned to 16 bytes.
            *four = unsafe { load_four_of_many(address) };
            address += u64::from(STRIDE);
        }
        limbs
    }

    /// Sets the `X` limbs from group `at` on.
    #[inline(always)]
    pub fn set_limbs<const X: usize>(self, at: u32, limbs: [Limb; X]) {
        let mut address = self.address_of(at);
        for four in limbs.as_chunks::<4>().0 {
            // SAFETY: as in `limbs`.
            unsafe { store_four(address, *four) };
            address += u64::from(STRIDE);
        }
    }

    /// Begins to bring the `X` limbs from group `at` on to the calling thread's own place in shared memory, which the thread
    /// leaves alone until it has [waited](Self::wait). What it has set itself has been set before a barrier. For devices of
    /// compute capability 8.0 and more.
    #[inline(always)]
    pub fn bring<const X: usize>(self, at: u32, to: OfThreads<X>) {
        let mut address = self.address_of(at);
        for four in 0..X / 4 {
            // SAFETY: by the contracts of `new` and of `OfThreads::new`.
            unsafe {
                asm!("cp.async.cg.shared.global [{to}], [{from}], 16;",
                    to = in(reg32) to.address_of(thread::index_in_block(), four), from = in(reg64) address,
                    options(nostack, preserves_flags));
            }
            address += u64::from(STRIDE);
        }
    }

    /// Waits for all that the calling thread has begun to [bring](Self::bring).
    #[inline(always)]
    pub fn wait(self) {
        // SAFETY: changes nothing but what was to be brought.
        unsafe { asm!("cp.async.wait_all;", options(nostack, preserves_flags)) }
    }
}
