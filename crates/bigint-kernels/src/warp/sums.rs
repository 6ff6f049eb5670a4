//! Sums and differences of several numbers at once: a fused program that does not multiply
//! ([`bigint_core::fused`]).
//!
//! # One carry for all terms
//!
//! With `B` = 2^32, and `x'` the complement of `x` limb by limb, `x'` = `B^w - 1 - x`, a
//! difference is a sum: `-x = x' + 1` modulo `B^w`. So the value is a sum of `k` numbers and
//! of one for each that is subtracted. A number that is a term several times is loaded once
//! and multiplied. Limb `j` of all terms, summed in 64 bits, is
//!
//! ```text
//! S[j] = low[j] + B high[j],     high[j] <= k
//! ```
//!
//! A lane gives its `high` to the lane above. What it has then, `low[j] + high[j-1]`, is
//! below `2 B`: it generates a carry or propagates one, never both, and two votes decide
//! all carries of a chunk, as in [`lookahead`](super::lookahead). However many terms there
//! are, there is one shuffle and there are two votes.
//!
//! Three terms for `B` = 10, 777 + 888 + 9 = 1674, limbs from below:
//!
//! ```text
//! S         7+8+9 = 24    7+8+0 = 15    15
//! low            4             5         5
//! high           2             1         1
//! low+high       4            5+2 = 7   5+1 = 6     1      no carries: 1674
//! ```
//!
//! # Who computes what
//!
//! The limbs of all results are one flat row, whatever their width: chunk after chunk of 32
//! neighbours for the 32 lanes. A warp has a run of whole numbers, so that no carry comes
//! into it; `high` and carry of a number's top limb are dropped.
//!
//! Cost: for each limb of an input a load and a multiply-add; for each limb of the result a
//! shuffle, two votes and a store. No scratch.

use super::lookahead::carries;
use super::program::Program;
use crate::gpu::memory::{Batch, Row, Unit};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::fused::{FusedArguments, StepKind};
use bigint_core::kernel::TILE;
use bigint_core::{LIMB_BITS, Limb};
use core::num::NonZero;

const LANES: u32 = 32;

/// Chunks whose limbs are on their way at a time. (Those of two inputs would take so many
/// registers that fewer warps fit: on an H200 that takes a quarter longer.)
const CHUNKS: usize = (TILE / LANES as u64) as usize;

/// Computes the calling warp's numbers.
///
/// # Safety
/// `arguments` are those of a launch of [`FusedKernel::Sums`]: inputs and result allocated
/// and contiguous, the result apart from the inputs, steps that add and subtract, blocks of
/// whole warps, which come here as a whole.
///
/// [`FusedKernel::Sums`]: bigint_core::fused::FusedKernel::Sums
#[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
#[inline(always)]
pub unsafe fn sums(arguments: &FusedArguments) {
    // SAFETY: the whole warp is here; it branches on what is the same in all its lanes.
    let (group, program) = unsafe { (Group::<LANES>::new(), Program::new(arguments)) };
    let Some(width) = NonZero::new(arguments.r.width as u32) else {
        return;
    };
    let differences = program.differences();
    let worker = thread::index_1d() / u64::from(LANES);
    let mut first = worker * arguments.numbers;
    while first < arguments.count {
        let numbers = (arguments.count - first).min(arguments.numbers) as u32;
        let lane = group.lane();
        let mut number = (lane / width) as i32;
        let mut limb = lane % width;
        let (numbers_up, limbs_up) = ((LANES / width) as i32, LANES % width);
        // SAFETY: by this function's own contract; no other warp has these numbers.
        let mut flat = unsafe {
            let start = first * u64::from(width.get()) + u64::from(lane);
            Row::new(&arguments.r, start)
        };
        let end = numbers * width.get();
        // What the top lane has given, for the lowest lane of the next chunk.
        let mut waiting = 0;
        let mut at = 0;
        while at < end {
            let left = (end - at).saturating_sub(lane);
            let mut places = [(0, 0); CHUNKS];
            let mut sums = [0_u64; CHUNKS];
            for place in &mut places {
                *place = (number, limb);
                (number, limb) = (number + numbers_up, limb + limbs_up);
                if limb >= width.get() {
                    (number, limb) = (number + 1, limb - width.get());
                }
            }
            for (u, sum) in sums.iter_mut().enumerate() {
                let (_, limb) = places[u];
                // The ones of all complements.
                *sum = if limb == 0 { u64::from(differences) } else { 0 };
            }
            let mut step = 0;
            while step < program.steps {
                let (of, input) = program.step(step);
                // SAFETY: as above.
                let input = unsafe { Batch::<Unit>::new(&input, first) };
                let is_difference = of.kind() == StepKind::Sub as u32;
                let turn = if is_difference { Limb::MAX } else { 0 };
                for (u, sum) in sums.iter_mut().enumerate() {
                    let (number, limb) = places[u];
                    let x = input.limb(number, limb, LANES * u as u32, left) ^ turn;
                    *sum += u64::from(x) * u64::from(of.times());
                }
                step += 1;
            }
            let mut digit = |u: usize| {
                let (sum, (_, limb)) = (sums[u], places[u]);
                let stays = limb != width.get() - 1;
                let high = if stays { (sum >> LIMB_BITS) as Limb } else { 0 };
                let given = group.rotate_up(high, 1);
                let below = if lane == 0 { waiting } else { given };
                let (value, generates) = (sum as Limb).overflowing_add(below);
                let carries = carries(
                    group.ballot(generates & stays),
                    group.ballot((value == Limb::MAX) & stays),
                    0,
                );
                waiting = given + (carries >> LANES) as Limb;
                let own = Limb::from(carries as u32 & 1 << lane != 0);
                flat.set(LANES * u as u32, left, value.wrapping_add(own));
            };
            // One by one: a loop over them would keep them in memory.
            digit(0);
            digit(1);
            digit(2);
            digit(3);
            digit(4);
            digit(5);
            digit(6);
            digit(7);
            flat = flat.up(TILE as u32);
            at += TILE as u32;
        }
        first += arguments.workers * arguments.numbers;
    }
}
