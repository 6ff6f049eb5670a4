//! A thread's part of scratch, four limbs at a time.

// Addresses come from the launch.
#![allow(unsafe_code)]

use super::access::{load_four, store_four};
use super::thread;
use bigint_core::{Limb, MatrixArgument};

/// Bytes of four limbs.
const FOUR: u32 = 16;

/// A thread's own column of fours of limbs in scratch. Those of all threads stand side by side:
/// four `i` of thread `t` is four `i * threads + t`.
#[derive(Clone, Copy)]
pub struct Fours {
    address: u64,
    /// Bytes from a four to the next.
    stride: u32,
}

impl Fours {
    /// The calling thread's column.
    ///
    /// # Safety
    /// The argument describes scratch that has four limbs for each thread of the launch and each
    /// four that is asked for, where nothing else stands, and stays allocated while the kernel
    /// runs. What is read has been set.
    #[inline(always)]
    pub unsafe fn new(scratch: &MatrixArgument) -> Self {
        Fours {
            address: scratch.limbs + u64::from(FOUR) * thread::index_1d(),
            stride: FOUR * thread::count() as u32,
        }
    }

    #[inline(always)]
    fn address_of(self, i: u32) -> u64 {
        self.address + u64::from(i) * u64::from(self.stride)
    }

    /// `X` limbs from four `at` on; `X` is a multiple of 4.
    #[inline(always)]
    pub fn limbs<const X: usize>(self, at: u32) -> [Limb; X] {
        let mut address = self.address_of(at);
        let mut limbs = [0; X];
        for four in limbs.as_chunks_mut::<4>().0 {
            // SAFETY: by the contract of `new`; fours are aligned to 16 bytes.
            *four = unsafe { load_four(address) };
            address += u64::from(self.stride);
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
            address += u64::from(self.stride);
        }
    }
}
