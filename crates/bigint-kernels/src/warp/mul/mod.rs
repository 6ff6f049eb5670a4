//! Multiplication, full or cut to the result's width.

pub mod comba;
pub mod karatsuba;
pub mod operand;
pub mod school;
pub mod staged;

use super::{Batches, LANES};
use crate::gpu::known::Known;
use crate::gpu::memory::Stride;
use bigint_core::specialization::{Moves, ProductByRows};

/// By rows.
#[inline(always)]
pub fn school<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    let Batches {
        arguments, group, ..
    } = batches;
    let found = match S::UNIT {
        true => Moves::of(arguments, group.lanes()),
        false => Moves::Single,
    };
    match ProductByRows::MOVES.or(found) {
        Moves::Fours if S::UNIT => {
            for work in batches.numbers() {
                school::product::<LANES, true, S>(work.group, work.r, work.a, work.b);
            }
        }
        Moves::Staged if S::UNIT => staged::products(batches),
        _ => {
            for work in batches.numbers() {
                school::product::<LANES, false, S>(work.group, work.r, work.a, work.b);
            }
        }
    }
}

/// By columns, a whole warp on a number.
#[inline(always)]
pub fn comba<S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        comba::product(work.group, work.r, work.a, work.b);
    }
}

/// By three products of half the width, a whole warp on a number.
#[inline(always)]
pub fn karatsuba<S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        karatsuba::product(work.group, work.r, work.a, work.b, work.scratch);
    }
}
