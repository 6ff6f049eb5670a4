//! Multiplication, full or cut to the result's width.

pub mod comba;
pub mod karatsuba;
pub mod school;

use super::Batches;
use crate::gpu::memory::Stride;
use bigint_core::Algorithm;

/// By rows, a tile of neighbouring numbers at a time where they come by way of shared
/// memory.
#[inline(always)]
pub fn school<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    if let Some(tile) = batches.staged(Algorithm::School, school::exchanges::<LANES>) {
        // A launch has a tile for each warp.
        if tile.is_some() {
            school::staged(batches.group(), tile);
        }
    } else {
        for work in batches.numbers() {
            school::product(work.group, work.r, work.a, work.b);
        }
    }
}

/// By columns.
#[inline(always)]
pub fn comba<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        comba::product(work.group, work.r, work.a, work.b);
    }
}

/// By three products of half the width.
#[inline(always)]
pub fn karatsuba<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        karatsuba::product(work.group, work.r, work.a, work.b, work.scratch);
    }
}
