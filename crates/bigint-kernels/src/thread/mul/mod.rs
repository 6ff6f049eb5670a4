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
pub fn school<S: Stride>(batches: Batches<'_, S>) {
    if let Some(tile) = batches.staged(Algorithm::School) {
        // A launch has a tile for each warp.
        if tile.is_some() {
            school::staged(tile);
        }
    } else {
        for work in batches.numbers() {
            school::product(work.r, work.a, work.b);
        }
    }
}

/// By columns, a tile of neighbouring numbers at a time.
#[inline(always)]
pub fn comba<S: Stride>(batches: Batches<'_, S>) {
    match batches.tiles() {
        Some(tiles) => {
            for tile in tiles {
                comba::dense(tile);
            }
        }
        None => match batches.staged(Algorithm::Comba) {
            Some(mut tile) => {
                while tile.is_some() {
                    comba::staged(&tile);
                    tile.advance();
                }
            }
            None => {
                for work in batches.numbers() {
                    comba::product(work.r, work.a, work.b);
                }
            }
        },
    }
}

/// By three products of half the width.
#[inline(always)]
pub fn karatsuba<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        karatsuba::product(work.r, work.a, work.b, work.scratch);
    }
}
