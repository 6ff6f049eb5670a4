//! A thread's part of scratch, four limbs at a time.

// Addresses come from the launch.
#![allow(unsafe_code)]

use super::access::{load_four_of_many, store_four};
use super::thread;
use bigint_core::kernel::BLOCK;
use bigint_core::{Limb, MatrixArgument};

/// Bytes of four limbs.
const FOUR: u32 = 4 * LIMB_BYTES;

/// Bytes of a limb.
const LIMB_BYTES: u32 = size_of::<Limb>() as u32;

/// Bytes from one four of a thread to its next.
const STRIDE: u32 = FOUR * BLOCK;

/// A thread's own column of fours of limbs in scratch. Those of a block's threads stand side by side:
/// four `i` of its thread `t` is four `i * BLOCK + t` of the block's own part, so that all of them are
/// at distances from the first that the compiler knows, and near it. They come past what caches are to
/// keep: tables of all threads fill them, and the code would have to come from memory again.
#[derive(Clone, Copy)]
pub struct Fours {
    address: u64,
}

impl Fours {
    /// The calling thread's column, where `lanes` threads share a number.
    ///
    /// # Safety
    /// The argument describes scratch that has four limbs for each thread of the launch and each
    /// four that is asked for, where nothing else stands, and stays allocated while the kernel
    /// runs; blocks have [`BLOCK`] threads. What is read has been set.
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

    /// `X` limbs from four `at` on; `X` is a multiple of 4.
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

    /// Sets the `X` limbs from four `at` on.
    #[inline(always)]
    pub fn set_limbs<const X: usize>(self, at: u32, limbs: [Limb; X]) {
        let mut address = self.address_of(at);
        for four in limbs.as_chunks::<4>().0 {
            // SAFETY: as in `limbs`.
            unsafe { store_four(address, *four) };
            address += u64::from(STRIDE);
        }
    }
}
