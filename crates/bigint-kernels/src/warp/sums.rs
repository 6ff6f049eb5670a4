//! Sums and differences of several numbers at once, which is a fused program that does not
//! multiply ([`bigint_core::fused`]).
//!
//! # One carry for all terms
//!
//! With `B` = 2^32 and the complement `x' = B^w - 1 - x`, limb by limb, a difference is a sum:
//! `-x = x' + 1` modulo `B^w`. So the value is a sum of `k` numbers, and of a 1 for each number
//! that is subtracted. A number that is a term several times is loaded once and multiplied. The
//! sum of limb `j` of all terms, in 64 bits, is
//!
//! ```text
//! S[j] = low[j] + B high[j],     high[j] <= k
//! ```
//!
//! A lane hands its `high` to the lane above. Then it has `low[j] + high[j-1]`, which is below
//! `2 B - 1`: it generates a carry or propagates one, never both. Two votes decide all carries of
//! a chunk, as in [`lookahead`](super::lookahead). So for any number of terms one shuffle and two
//! votes are enough.
//!
//! By hand, three terms with `B` = 10, 777 + 888 + 9 = 1674, lowest limb first:
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
//! The limbs of all results are one row, whatever their width. A warp has a run of whole numbers,
//! so that no carry comes into it. `high` and the carry of a number's top limb are dropped. If
//! every input is such a row too, lanes have four neighbouring limbs, which may belong to two
//! numbers, as those of lane 1 do here for numbers of six limbs:
//!
//! ```text
//! lane      0            1            2
//! limb      0 1 2 3      4 5|0 1      2 3 4 5|
//! ```
//!
//! A lane first carries through its own four limbs, but not past the top of a number. Then a
//! carry from below goes through all four limbs only if each is all ones and none is the top of a
//! number; such lanes propagate. If an input is narrower, or one number stands for all, each lane
//! has one limb of a chunk of 32.
//!
//! Cost: a multiply-add for each limb of an input, and a load for each four of them, or for each
//! one; a shuffle, two votes and a store for as many limbs of the result. No scratch.

use super::LANES;
use super::lookahead::carries;
use super::program::Program;
use crate::gpu::flat::Row;
use crate::gpu::memory::{Batch, Unit};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::fused::{FusedArguments, Step, StepKind};
use bigint_core::kernel::TILE;
use bigint_core::{LIMB_BITS, Limb, MatrixArgument};
use core::num::NonZero;

/// The neighbouring limbs of a lane.
const FOUR: u32 = 4;

/// The chunks whose limbs are on their way at a time. (Loading two inputs at a time would take so
/// many registers that fewer warps fit: on an H200 it takes a quarter longer.)
const CHUNKS: usize = (TILE / LANES as u64) as usize;

/// Computes the calling warp's numbers.
///
/// # Safety
/// `arguments` are those of a launch of [`FusedKernel::Sums`]. Inputs and result are allocated
/// and contiguous, the result overlaps no input, and steps only add and subtract. Blocks are made
/// of whole warps, which come here as a whole.
///
/// [`FusedKernel::Sums`]: bigint_core::fused::FusedKernel::Sums
#[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
#[inline(always)]
pub unsafe fn sums(arguments: &FusedArguments) {
    // SAFETY: the whole warp is here; its branches depend on values that are the same in all
    // lanes.
    let (group, program) = unsafe { (Group::<LANES>::new(), Program::new(arguments)) };
    let Some(width) = NonZero::new(arguments.r.width as u32) else {
        return;
    };
    let differences = program.differences();
    let are_rows = arguments.r.limbs % 16 == 0 && program.are_rows(width.get());
    let worker = thread::index_1d() / u64::from(LANES);
    let mut first = worker * arguments.numbers;
    while first < arguments.count {
        let numbers = (arguments.count - first).min(arguments.numbers) as u32;
        let lane = group.lane();
        let mut number = (lane / width) as i32;
        let mut limb = lane % width;
        let (numbers_up, limbs_up) = ((LANES / width) as i32, LANES % width);
        let start = first * u64::from(width.get());
        let end = numbers * width.get();
        // This is the same in the whole warp. Only the batch's last run may end within a group of
        // four limbs.
        if are_rows && end % FOUR == 0 {
            // SAFETY: by this function's own contract; no other warp has these numbers.
            unsafe {
                rows(
                    program,
                    width,
                    (&arguments.r, start, end / FOUR),
                    differences,
                )
            };
            first += arguments.workers * arguments.numbers;
            continue;
        }
        // SAFETY: as above.
        let mut flat = unsafe { Row::new(&arguments.r, start + u64::from(lane)) };
        // The value that the top lane hands to the lowest lane of the next chunk.
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
                // A number's lowest limb gets the 1 of each complement.
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
            // They are written out, as a loop would keep them in memory.
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

/// The four limbs of a sum that a lane has, and whether a carry out of each stays in its number.
#[derive(Clone, Copy)]
struct Four {
    limbs: [Limb; FOUR as usize],
    stays: [bool; FOUR as usize],
}

impl Four {
    /// The four limbs, the first of which is limb `limb` of a number of `width` limbs, from their
    /// `sums`; and the value that they hand to the limb above. A number's lowest limb gets
    /// `differences` more, a 1 for each complement.
    #[inline(always)]
    fn of(sums: [u64; FOUR as usize], width: u32, limb: u32, differences: u32) -> (Self, Limb) {
        let (mut limbs, mut stays) = ([0; FOUR as usize], [false; FOUR as usize]);
        let (mut high, mut at) = (0, limb);
        for i in 0..FOUR as usize {
            let ones = if at == 0 { differences } else { 0 };
            let sum = sums[i] + u64::from(ones) + high;
            limbs[i] = sum as Limb;
            at += 1;
            stays[i] = at != width;
            high = if stays[i] { sum >> LIMB_BITS } else { 0 };
            at = if stays[i] { at } else { 0 };
        }
        (Four { limbs, stays }, high as Limb)
    }

    /// Adds the value that the limb below hands on. Returns the limbs, and whether they carry
    /// out.
    #[inline(always)]
    fn carried(mut self, mut carry: Limb) -> (Self, bool) {
        for i in 0..FOUR as usize {
            let (value, is_over) = self.limbs[i].overflowing_add(carry);
            self.limbs[i] = value;
            carry = Limb::from(is_over & self.stays[i]);
        }
        (self, carry != 0)
    }

    /// Whether a carry into the limbs would go through all of them.
    #[inline(always)]
    fn propagates(self) -> bool {
        let [a, b, c, d] = self.limbs;
        let [w, x, y, z] = self.stays;
        (a & b & c & d == Limb::MAX) & w & x & y & z
    }
}

/// A lane's sums, with four limbs of a step's input added.
#[inline(always)]
fn plus(
    sums: [u64; FOUR as usize],
    of: Step,
    limbs: [Limb; FOUR as usize],
) -> [u64; FOUR as usize] {
    let is_difference = of.kind() == StepKind::Sub as u32;
    let turn = if is_difference { Limb::MAX } else { 0 };
    [0, 1, 2, 3].map(|i| sums[i] + u64::from(limbs[i] ^ turn) * u64::from(of.times()))
}

/// Computes the numbers whose results are the `4 fours` limbs of `r` from limb `start` on. All
/// inputs are rows.
///
/// # Safety
/// The contract is that of [`sums`]; `fours` is not zero.
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn rows(
    program: Program,
    width: NonZero<u32>,
    (r, start, fours): (&MatrixArgument, u64, u32),
    differences: u32,
) {
    // SAFETY: the whole warp is here, as it is in `sums`.
    let group = unsafe { Group::<LANES>::new() };
    let lane = group.lane();
    // SAFETY: by this function's own contract.
    let flat = unsafe { Row::new(r, start) };
    let mut limb = FOUR * lane % width;
    let limbs_up = FOUR * LANES % width;
    // The value that the top lane hands to the lowest lane of the next chunk.
    let mut waiting = 0;
    let mut at = 0;
    while at < fours {
        let (low, high) = (at + lane, at + LANES + lane);
        let load = |step| {
            let (of, input) = program.row(step);
            // SAFETY: by this function's own contract.
            let input = unsafe { Row::new(&input, start) };
            let four = |at| input.four(at, fours - 1);
            (of, four(low), four(high))
        };
        let (mut lower, mut upper) = ([0; FOUR as usize], [0; FOUR as usize]);
        // The next input's limbs are on their way while one is added.
        let (mut of, mut x, mut y) = load(0);
        let mut step = 1;
        while step < program.steps {
            let next = load(step);
            (lower, upper) = (plus(lower, of, x), plus(upper, of, y));
            (of, x, y) = next;
            step += 1;
        }
        let mut digits = |four: u32, sums: [u64; FOUR as usize]| {
            let (own, high) = Four::of(sums, width.get(), limb, differences);
            let given = group.rotate_up(high, 1);
            let (own, generates) = own.carried(if lane == 0 { waiting } else { given });
            let carries = carries(group.ballot(generates), group.ballot(own.propagates()), 0);
            waiting = given + (carries >> LANES) as Limb;
            let (own, _) = own.carried(Limb::from(carries as u32 & 1 << lane != 0));
            flat.set_four_below(four, fours, own.limbs);
            limb += limbs_up;
            limb = if limb < width.get() {
                limb
            } else {
                limb - width.get()
            };
        };
        digits(low, plus(lower, of, x));
        digits(high, plus(upper, of, y));
        at += 2 * LANES;
    }
}
