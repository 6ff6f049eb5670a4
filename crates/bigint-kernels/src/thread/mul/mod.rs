//! Multiplication by a thread. The product is whole, or cut to the result's width.

pub mod comba;
pub mod karatsuba;
pub mod school;

use super::Batches;
use crate::gpu::memory::Stride;

/// Multiplies by rows, a tile of neighbouring numbers at a time.
#[inline(always)]
pub fn school<S: Stride>(batches: Batches<'_, S>) {
    for tile in batches.tiles::<true>() {
        school::products(tile);
    }
}

/// Multiplies by columns, a tile of neighbouring numbers at a time.
#[inline(always)]
pub fn comba<S: Stride>(batches: Batches<'_, S>) {
    for tile in batches.tiles::<false>() {
        comba::products(tile);
    }
}

/// Multiplies by three products of half the width.
#[inline(always)]
pub fn karatsuba<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        karatsuba::product(work.r, work.a, work.b, work.scratch);
    }
}
