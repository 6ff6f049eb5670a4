//! A thread's row of limbs in device memory, which it reads and writes four limbs, a *quad*, at a time.
//!
//! Rows stand in *tiles* of 32, a warp's: in a tile quad `i` of each of them stand side by side, so that a warp moves whole
//! lines and a thread 16 bytes.
//!
//! ```text
//! thread       0     1          31      0     1          31
//! quad       | 0   | 0   | ... | 0   | 1   | 1   | ... | 1   | ...
//! ```
//!
//! The last tile has as many rows as are left, and takes no more room than they do. Rows of either layout of batches can be read
//! and written too.

// Addresses come from the launch.
#![allow(unsafe_code)]

use super::access::{load, load_four, store_below, store_four_below};
use super::wide::multiply_add;
use crate::squares::each;
use bigint_core::{Limb, MatrixArgument};

/// Rows of a tile.
const TILE: u64 = 32;

/// Bytes of a limb.
const LIMB_BYTES: u64 = size_of::<Limb>() as u64;

/// A row of quads.
#[derive(Clone, Copy)]
pub struct Quads {
    address: u64,
    /// Bytes from a quad to the next.
    stride: u32,
    /// Bytes from a limb of a quad to the next: more than a limb's where they are no neighbours.
    of_limb: u32,
    /// 1, or 0 where nothing is to be stored.
    reach: u32,
}

impl Quads {
    /// Row `index` of a batch of `count`, of which a number's limbs are a multiple of four; it is in a tile where `is_tiled`, else as the batch's layout
    /// says.
    ///
    /// # Safety
    /// As for [`Number::new`](super::memory::Number::new). A batch in tiles, and a contiguous one, has no gaps and begins at a
    /// multiple of 16 bytes. Places that are read and written are in the row.
    #[inline(always)]
    pub unsafe fn new(
        argument: &MatrixArgument,
        (index, count): (u64, u64),
        is_tiled: bool,
    ) -> Self {
        let (first, of_tile) = (index / TILE * TILE, index % TILE);
        let (at, stride, of_limb) = if is_tiled {
            let rows = TILE.min(count - first);
            (first * argument.width + 4 * of_tile, 4 * rows, 1)
        } else {
            let limb = argument.limb_stride;
            (index * argument.number_stride, 4 * limb, limb)
        };
        Quads {
            address: argument.limbs + LIMB_BYTES * at,
            stride: (LIMB_BYTES * stride) as u32,
            of_limb: (LIMB_BYTES * of_limb) as u32,
            reach: 1,
        }
    }

    /// A row of which nothing is stored, and each quad reads as the first of a batch.
    ///
    /// # Safety
    /// The argument describes device memory that has a quad, begins at a multiple of 16 bytes and stays allocated while the
    /// kernel runs.
    #[inline(always)]
    pub unsafe fn idle(argument: &MatrixArgument) -> Self {
        Quads {
            address: argument.limbs,
            stride: 0,
            of_limb: LIMB_BYTES as u32,
            reach: 0,
        }
    }

    #[inline(always)]
    fn address_of(self, at: u32) -> u64 {
        multiply_add(at, self.stride, self.address)
    }

    /// The `X` limbs from quad `at` on, of a row whose limbs are neighbours in each quad.
    #[inline(always)]
    pub fn quads<const X: usize>(self, at: u32) -> [Limb; X] {
        let mut address = self.address_of(at);
        let mut limbs = [0; X];
        for four in limbs.as_chunks_mut::<4>().0 {
            // SAFETY: by the contract of `new`.
            *four = unsafe { load_four(address) };
            address += u64::from(self.stride);
        }
        limbs
    }

    /// Sets the `X` limbs from quad `at` on, of such a row.
    #[inline(always)]
    pub fn set_quads<const X: usize>(self, at: u32, limbs: [Limb; X]) {
        let mut address = self.address_of(at);
        for four in limbs.as_chunks::<4>().0 {
            // SAFETY: by the contract of `new`.
            unsafe { store_four_below(0, self.reach, address, *four) };
            address += u64::from(self.stride);
        }
    }

    /// The `X` limbs from quad `at` on.
    #[inline(always)]
    pub fn limbs<const X: usize>(self, at: u32) -> [Limb; X] {
        if self.is_of_neighbours() {
            return self.quads(at);
        }
        let mut address = self.address_of(at);
        each(|_| {
            // SAFETY: by the contract of `new`.
            let limb = unsafe { load(address) };
            address += u64::from(self.of_limb);
            limb
        })
    }

    /// Sets the `X` limbs from quad `at` on.
    #[inline(always)]
    pub fn set<const X: usize>(self, at: u32, limbs: [Limb; X]) {
        if self.is_of_neighbours() {
            return self.set_quads(at, limbs);
        }
        let mut address = self.address_of(at);
        let _: [Limb; X] = each(|i| {
            // SAFETY: by the contract of `new`.
            unsafe { store_below(0, self.reach, address, limbs[i]) };
            address += u64::from(self.of_limb);
            0
        });
    }

    #[inline(always)]
    fn is_of_neighbours(self) -> bool {
        u64::from(self.of_limb) == LIMB_BYTES
    }
}
