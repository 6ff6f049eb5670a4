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
//! The limbs of all results are one flat row, whatever their width. A warp has a run of whole
//! numbers, so that no carry comes into it; `high` and carry of a number's top limb are dropped.
//! Where every input is such a row too, lanes have four neighbouring limbs, as lane 1 has here of
//! numbers of six:
//!
//! ```text
//! lane      0            1            2
//! limb      0 1 2 3      4 5|0 1      2 3 4 5|
//! ```
//!
//! A lane carries through its own four first, and through tops no further. What comes into it
//! from below then goes through all four only where each is all ones and none is a top: it is
//! such lanes that propagate. Elsewhere, where an input is narrower or one number stands for
//! all, lanes have one limb each of a chunk of 32.
//!
//! Cost: for each limb of an input a multiply-add, and for four of them, or for one, a load; for
//! as many of the result a shuffle, two votes and a store. No scratch.

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

/// Neighbouring limbs of a lane.
const FOUR: u32 = 4;

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
        // The same in the whole warp; only the batch's last run may end within four limbs.
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

/// Four limbs of a sum, which a lane has, and whether a carry out of each stays in its number.
#[derive(Clone, Copy)]
struct Four {
    limbs: [Limb; FOUR as usize],
    stays: [bool; FOUR as usize],
}

impl Four {
    /// The limbs that begin with limb `limb` of a number of `width`, of these sums, to which as
    /// many ones are to be added as numbers are subtracted; and what they give to the limb above.
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

    /// With what the limb below gives; and whether that is carried further.
    #[inline(always)]
    fn carried(mut self, mut carry: Limb) -> (Self, bool) {
        for i in 0..FOUR as usize {
            let (value, is_over) = self.limbs[i].overflowing_add(carry);
            self.limbs[i] = value;
            carry = Limb::from(is_over & self.stays[i]);
        }
        (self, carry != 0)
    }

    /// Whether a carry would go through.
    #[inline(always)]
    fn propagates(self) -> bool {
        let [a, b, c, d] = self.limbs;
        let [w, x, y, z] = self.stays;
        (a & b & c & d == Limb::MAX) & w & x & y & z
    }
}

/// A lane's sums with four more limbs, of a step's input.
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

/// Computes the numbers whose result is `fours` times four limbs of `r` from limb `start` on, by
/// inputs all of which are rows.
///
/// # Safety
/// As for [`sums`]; `fours` is not zero.
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
    // What the top lane has given, for the lowest lane of the next chunk.
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
