//! Sums and differences of segments, all limbs at once (CarryLookahead; [Langer 2015], [Bringgaard 2024]).
//!
//! With `y'` the complement of `y`, limb by limb, a difference is a sum: `x - y = x + y' + 1`
//! modulo the segment. So the carry into the lowest limb of a segment is known: 1 where `y` is
//! subtracted, else 0. That limb has its final value before any vote, and sends a carry up or
//! does not; it propagates none. What the segment below sends it means nothing to it. So a vote
//! decides all carries, as in [`lookahead`](super::lookahead), wherever segments begin and end.
//!
//! Two segments for `B` = 10, limbs from below: 97 + 5 in three limbs, 41 - 13 in two:
//!
//! ```text
//! begins     *           *
//! x          7   9   0   1   4
//! y, y'      5   0   0   6   8      9 - 3 and 9 - 1
//! carry in   0           1
//! x + y'     2   9   0   8   2
//! sends up   g   p   -   -   g      the last one is dropped
//! r          2   0   1   8   2      102 and 28
//! ```
//!
//! Where an operand ends below its segment's top the marks say so, and lanes that have nothing but
//! such limbs of it load none: a short number costs no more than its limbs.
//!
//! A lane has four neighbouring limbs where they can be moved at once, else one. What comes into
//! four goes through where each of them propagates and none begins a segment. Who computes what,
//! and what a stretch that begins inside a segment does for its carry, is as in
//! [`lookahead`](super::lookahead) with the segment in place of the number.
//!
//! Cost: two votes a chunk, 96 bits of marks to 32 limbs, and one chunk in `stretch / 32 + 1`
//! loaded twice. No scratch.

use super::lookahead::{LimbPlace, Step, carries, carry_into, of_lane};
use super::{Batches, LANES};
use crate::gpu::flat::Row;
use crate::gpu::memory::{Batch, Stride};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::kernel::{MARKS, TILE};
use bigint_core::{LIMB_BITS, Limb};
use core::num::NonZero;

/// Chunks that are loaded before any is computed.
const CHUNKS: u32 = 2;
const _: () = assert!(TILE % (CHUNKS * LANES * 4) as u64 == 0);

/// What the marks say of a lane's limbs: bit `i` of limb `i`.
#[derive(Clone, Copy)]
struct Marks {
    begins: u32,
    subtracts: u32,
    absent: u32,
}

/// The limbs that a lane has of both operands, neighbours, and their marks.
#[derive(Clone, Copy)]
struct Digits<const UNIT: usize> {
    x: [Limb; UNIT],
    y: [Limb; UNIT],
    marks: Marks,
}

impl<const UNIT: usize> Digits<UNIT> {
    /// The limbs of the result where `carry` comes in, and the carry out.
    #[inline(always)]
    fn sum(self, mut carry: Limb) -> ([Limb; UNIT], Limb) {
        let Digits { x, y, marks } = self;
        let mut limbs = [0; UNIT];
        for i in 0..UNIT {
            let subtracts = marks.subtracts >> i & 1;
            let begins = marks.begins >> i & 1 != 0;
            let into = if begins { subtracts } else { carry };
            let (sum, first) = x[i].overflowing_add(y[i] ^ subtracts.wrapping_neg());
            let (limb, second) = sum.overflowing_add(into);
            limbs[i] = limb;
            carry = Limb::from(first | second);
        }
        (limbs, carry)
    }
}

/// The operands of a stretch, whose lanes have `UNIT` limbs each: places are counted in so many.
#[derive(Clone, Copy)]
struct Operands<S, const UNIT: usize> {
    group: Group<LANES>,
    step: Step,
    a: Batch<S>,
    b: Batch<S>,
    marks: Batch<S>,
}

impl<S: Stride, const UNIT: usize> Operands<S, UNIT> {
    /// The operands where a lane has one limb at a time.
    #[inline(always)]
    fn by_limbs(self, width: NonZero<u32>) -> Operands<S, 1> {
        let Operands {
            group, a, b, marks, ..
        } = self;
        Operands {
            group,
            step: Step::new(width),
            a,
            b,
            marks,
        }
    }

    /// The marks of the limbs at `place`, or none where `at` is not below `end`.
    #[inline(always)]
    fn marks(self, place: LimbPlace, at: u32, end: u32) -> Marks {
        let limb = place.limb * UNIT as u32;
        let (words, bit) = (
            limb / LIMB_BITS as u32 * MARKS as u32,
            limb % LIMB_BITS as u32,
        );
        let word = |which| self.marks.limb(place.number, words + which, at, end) >> bit;
        Marks {
            begins: word(0) | u32::from(limb == 0),
            subtracts: word(1),
            absent: word(2),
        }
    }

    /// The limbs of both operands at `place`, or zeros likewise.
    #[inline(always)]
    fn digits(self, marks: Marks, place: LimbPlace, at: u32, end: u32) -> Digits<UNIT> {
        let LimbPlace { number, limb } = place;
        let all = (1 << UNIT) - 1;
        let is_absent = marks.absent & all == all;
        let x = self.a.unit(number, limb, at, end);
        let mut y = self
            .b
            .unit(number, limb, if is_absent { end } else { at }, end);
        for (i, y) in y.iter_mut().enumerate() {
            *y = if marks.absent >> i & 1 != 0 { 0 } else { *y };
        }
        Digits { x, y, marks }
    }

    /// The words of lanes that generate and of lanes that propagate a carry.
    #[inline(always)]
    fn votes(self, digits: Digits<UNIT>) -> (u64, u64) {
        let (limbs, out) = digits.sum(0);
        let begins = digits.marks.begins & ((1 << UNIT) - 1) != 0;
        let are_full = limbs.iter().fold(Limb::MAX, |all, limb| all & limb) == Limb::MAX;
        (
            self.group.ballot(out != 0),
            self.group.ballot(are_full & !begins),
        )
    }
}

/// The sums and differences of the calling warp's stretch.
#[inline(always)]
pub fn carry_lookahead<S: Stride>(batches: Batches<'_, 32, S>) {
    let arguments = batches.arguments;
    let in_fours = arguments.r.in_fours() && arguments.a.in_fours() && arguments.b.in_fours();
    match S::UNIT && in_fours {
        true => stretch::<S, 4>(batches),
        false => stretch::<S, 1>(batches),
    }
}

#[allow(unsafe_code)]
#[inline(always)]
fn stretch<S: Stride, const UNIT: usize>(batches: Batches<'_, 32, S>) {
    let Batches {
        arguments, group, ..
    } = batches;
    let Some(width) = NonZero::new(arguments.r.width as u32) else {
        return;
    };
    let row = arguments.count * u64::from(width.get());
    // As many tiles to a stretch, a power of two, as let the warps cover the row.
    let (mut stretch, mut covered) = (TILE, TILE * arguments.workers);
    while covered < row {
        stretch *= 2;
        covered *= 2;
    }
    let start = thread::index_1d() / u64::from(LANES) * stretch;
    if start >= row {
        return;
    }
    let unit = UNIT as u32;
    let end = (row - start).min(stretch) as u32 / unit;
    let first = start / NonZero::<u64>::from(width);
    let limb = (start % NonZero::<u64>::from(width)) as u32;
    let lane = group.lane();
    let Some(units) = NonZero::new(width.get() / unit) else {
        return;
    };
    // SAFETY: by the contract of `Batches::new`. The numbers that are reached are those
    // of the stretch and, for the carry into it, those just below; all are of the batch.
    // No other warp stores what this one does. (What is branched on is the same in all
    // lanes: widths, the batch, the stretch, and votes.)
    let (operands, r, mut flat) = unsafe {
        (
            Operands::<S, UNIT> {
                group,
                step: Step::new(units),
                a: Batch::new(&arguments.a, first),
                b: Batch::new(&arguments.b, first),
                marks: Batch::new(&arguments.c, first),
            },
            Batch::<S>::new(&arguments.r, first),
            Row::new(&arguments.r, start + u64::from(unit * lane)),
        )
    };
    let step = operands.step;
    let mut place = step.place(limb / unit, lane);
    let mut carry = 0;
    let mut at = 0;
    while at < end {
        // Units from the lane's first here to the stretch's end.
        let left = (end - at).saturating_sub(lane);
        let places = [place, step.up(place)];
        let marks = [0, 1].map(
            #[inline(always)]
            |u| operands.marks(places[u], LANES * u as u32, left),
        );
        let digits = [0, 1].map(
            #[inline(always)]
            |u| operands.digits(marks[u], places[u], LANES * u as u32, left),
        );
        // Only now, so that the limbs from here on are on their way meanwhile.
        if at == 0 && limb > 0 {
            // A limb to a lane: fewer of what lies below are loaded again.
            let below = operands.by_limbs(width);
            carry = carry_into(
                below.step,
                below.step.place(limb, lane),
                start,
                #[inline(always)]
                |place| {
                    let marks = below.marks(place, 0, 1);
                    below.votes(below.digits(marks, place, 0, 1))
                },
            );
        }
        for u in 0..CHUNKS {
            let (digits, LimbPlace { number, limb }) = (digits[u as usize], places[u as usize]);
            let (generate, propagate) = operands.votes(digits);
            let carries = carries(generate, propagate, carry);
            carry = (carries >> LANES) as Limb;
            let (limbs, _) = digits.sum(of_lane(carries, lane));
            if UNIT == 4 {
                flat.set_four_below(LANES * u, left, *limbs.first_chunk().unwrap_or(&[0; 4]));
            } else if S::UNIT {
                flat.set(LANES * u, left, limbs[0]);
            } else {
                r.set(number, limb, LANES * u, left, limbs[0]);
            }
        }
        place = step.up(places[1]);
        flat = flat.up(CHUNKS * LANES * unit);
        at += CHUNKS * LANES;
    }
}
