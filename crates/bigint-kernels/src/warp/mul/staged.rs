//! Products by rows of numbers that are staged in shared memory, as they do not begin at
//! multiples of four limbs in device memory, and so cannot be moved four limbs at a time there.
//!
//! A warp moves the operands of all its groups in and their products out, in whole lines
//! ([`staged`](crate::gpu::staged)). Rows load and store four limbs at a time in the stage, as
//! they otherwise do in device memory.
//!
//! Cost: that of the rows, and some seven instructions of the warp for each 32 limbs of
//! operands and products; two instructions if widths are known and numbers have 4 or 8 lanes.
//! Operands and product take shared memory.

use super::school;
use crate::gpu::flat::Row;
use crate::gpu::known::{self, Known};
use crate::gpu::memory::Stride;
use crate::gpu::staged::{self, Stage};
use crate::gpu::thread;
use crate::warp::Batches;
use bigint_core::kernel::staged_fours;
use bigint_core::specialization::ProductByRows as Of;
use bigint_core::{Arguments, MatrixArgument};

/// The lanes of a warp.
const WARP: u32 = 32;

/// Computes the products that fall to the groups of the calling lane's warp. Numbers follow one
/// another without a gap.
#[allow(unsafe_code)]
#[inline(always)]
pub fn products<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    let Batches {
        arguments, group, ..
    } = batches;
    let Arguments { count, .. } = arguments;
    let [a, b, r] = &known::of_widths(
        arguments,
        [Of::FIRST_WIDTH, Of::SECOND_WIDTH, Of::PRODUCT_WIDTH],
    );
    let lanes = group.lanes();
    let fours = |batch: &MatrixArgument| (batch.width as u32).div_ceil(4);
    let all = staged_fours([a.width, b.width, r.width], lanes) as u32;
    let stage = |before: u32, batch: &MatrixArgument| {
        // SAFETY: by the contract of `Batches::new`, a launch has as many groups of four limbs
        // of shared memory for each group of lanes.
        unsafe { Stage::new(lanes, all, before, batch.width as u32) }
    };
    let (to_a, to_b) = (stage(0, a), stage(fours(a), b));
    let from_r = stage(fours(a) + fours(b), r);
    let groups = WARP >> lanes.trailing_zeros();
    let own = thread::lane() >> lanes.trailing_zeros();
    // If widths are not known, or numbers take many rows, computing places takes fewer
    // instructions.
    let are_known = groups % staged::NUMBERS == 0 && Of::FIRST_WIDTH.or(0) != 0;
    // The number of the warp's first group. It is the same in the whole warp.
    let mut first = group.index() - u64::from(own);
    while first < *count {
        let numbers = (count - first).min(u64::from(groups)) as u32;
        let row = |batch: &MatrixArgument| {
            // SAFETY: by the contract of `Batches::new`: the numbers are in the batch, and no
            // other warp has them.
            unsafe { Row::new(batch, first * batch.width) }
        };
        let by_number = are_known && numbers == groups;
        let operands = [(row(a), to_a), (row(b), to_b)];
        if by_number {
            staged::bring_numbers_in(groups, operands);
        } else {
            staged::bring_in(numbers, operands);
        }
        // Groups past the batch's end stay with their warp, and multiply the last number again.
        let index = own.min(numbers - 1);
        let is_on = own < numbers;
        let [x, y, product] = [to_a, to_b, from_r].map(|stage| stage.number(index));
        x.switched(is_on).fill(group.lane());
        y.switched(is_on).fill(group.lane());
        group.sync();
        school::rows(group, product.switched(is_on), x, y);
        group.sync();
        if by_number {
            staged::bring_numbers_out(groups, (row(r), from_r));
        } else {
            staged::bring_out(numbers, (row(r), from_r));
        }
        first += arguments.workers;
    }
}
