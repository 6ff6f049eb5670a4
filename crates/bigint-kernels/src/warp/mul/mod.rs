//! Multiplication by lanes of a warp. The product is whole, or cut to the result's width.

pub mod comba;
pub mod karatsuba;
pub mod operand;
pub mod school;
pub mod staged;
pub mod toeplitz;

use super::{Batches, LANES};
use crate::gpu::known::Known;
use crate::gpu::memory::Stride;
use bigint_core::Arguments;
use bigint_core::kernel::Toeplitz as Plan;
use bigint_core::specialization::{Moves, ProductByRows, Toeplitz};

/// Multiplies by rows.
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

/// Multiplies by Toeplitz matrices on tensor cores, with a whole warp on a number.
#[inline(always)]
pub fn toeplitz<S: Stride>(batches: Batches<'_, LANES, S>) {
    let Arguments { a, b, .. } = batches.arguments;
    let plan = Plan::of(a.width as u32, b.width as u32);
    match Toeplitz::GROUPS.or(plan.groups) {
        1 => toeplitz::products::<1, S>(batches),
        2 => toeplitz::products::<2, S>(batches),
        3 => toeplitz::products::<3, S>(batches),
        4 => toeplitz::products::<4, S>(batches),
        5 => toeplitz::products::<5, S>(batches),
        6 => toeplitz::products::<6, S>(batches),
        7 => toeplitz::products::<7, S>(batches),
        _ => toeplitz::products::<8, S>(batches),
    }
}

/// Multiplies by columns, with a whole warp on a number.
#[inline(always)]
pub fn comba<S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        comba::product(work.group, work.r, work.a, work.b);
    }
}

/// Multiplies by three products of half the width, with a whole warp on a number.
#[inline(always)]
pub fn karatsuba<S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        karatsuba::product(work.group, work.r, work.a, work.b, work.scratch);
    }
}
