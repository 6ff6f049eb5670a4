//! Multiplication, full or cut to the result's width.

pub mod comba;
pub mod karatsuba;
pub mod school;

use super::Batches;
use crate::gpu::memory::Stride;

/// By rows.
#[inline(always)]
pub fn school<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        school::product(work.group, work.r, work.a, work.b);
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
