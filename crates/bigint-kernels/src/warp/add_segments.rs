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
//! loaded twice. A word of memory for each stretch of a row wider than a tile.

use super::lookahead::{LimbPlace, Step, carries, of_lane};
use super::stretches::{Chunks, Into, Stretch, all};
use super::{Batches, LANES};
use crate::gpu::flat::Row;
use crate::gpu::memory::{Batch, Stride};
use crate::gpu::warp::Group;
use bigint_core::kernel::{self, MARKS};
use bigint_core::{LIMB_BITS, Limb};
use core::num::NonZero;

/// Chunks that are loaded before any is computed.
const CHUNKS: usize = 2;

/// Units of as many, one to a lane.
const UNITS: u32 = CHUNKS as u32 * LANES;
const _: () = assert!(TILE % (UNITS * 4) == 0);

/// Limbs of a tile.
const TILE: u32 = kernel::TILE as u32;

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
}

impl<S: Stride, const UNIT: usize> Chunks for Operands<S, UNIT> {
    type Digits = Digits<UNIT>;

    #[inline(always)]
    fn load(self, place: LimbPlace, at: u32, end: u32) -> Digits<UNIT> {
        self.digits(self.marks(place, at, end), place, at, end)
    }

    #[inline(always)]
    fn votes(self, _: LimbPlace, digits: Digits<UNIT>) -> (u64, u64) {
        let (limbs, out) = digits.sum(0);
        let begins = digits.marks.begins & ((1 << UNIT) - 1) != 0;
        let are_full = limbs.iter().fold(Limb::MAX, |all, limb| all & limb) == Limb::MAX;
        (
            self.group.ballot(out != 0),
            self.group.ballot(are_full & !begins),
        )
    }
}

/// The sums and differences of the calling warp's stretches.
#[inline(always)]
pub fn carry_lookahead<S: Stride>(batches: Batches<'_, 32, S>) {
    let arguments = batches.arguments;
    let in_fours = arguments.r.in_fours() && arguments.a.in_fours() && arguments.b.in_fours();
    match S::UNIT && in_fours {
        true => stretches::<S, 4>(batches),
        false => stretches::<S, 1>(batches),
    }
}

#[inline(always)]
fn stretches<S: Stride, const UNIT: usize>(batches: Batches<'_, 32, S>) {
    let Batches {
        arguments, group, ..
    } = batches;
    let Some(width) = NonZero::new(arguments.r.width as u32) else {
        return;
    };
    let Some(units) = NonZero::new(width.get() / UNIT as u32) else {
        return;
    };
    Stretch::each(
        arguments,
        group,
        width,
        #[inline(always)]
        |stretch| one::<S, UNIT>(batches, [width, units], stretch),
    );
}

/// Where a stretch's limbs go.
#[derive(Clone, Copy)]
struct Results<S> {
    /// From the lane's first limb in the stretch on.
    flat: Row,
    r: Batch<S>,
}

impl<S: Stride> Results<S> {
    /// Sets the limbs at `place`, which are unit `at` of `flat`, where `at` and the lane are below `left`.
    #[inline(always)]
    fn set<const UNIT: usize>(self, place: LimbPlace, (at, left): (u32, u32), limbs: [Limb; UNIT]) {
        let LimbPlace { number, limb } = place;
        if UNIT == 4 {
            let four = *limbs.first_chunk().unwrap_or(&[0; 4]);
            self.flat.set_four_below(at, left, four);
        } else if S::UNIT {
            self.flat.set(at, left, limbs[0]);
        } else {
            self.r.set(number, limb, at, left, limbs[0]);
        }
    }

    #[inline(always)]
    fn up(self, limbs: u32) -> Self {
        let flat = self.flat.up(limbs);
        Results { flat, ..self }
    }

    #[inline(always)]
    fn down(self, limbs: u32) -> Self {
        let flat = self.flat.down(limbs);
        Results { flat, ..self }
    }
}

/// Computes a stretch of results of so many limbs and units.
#[allow(unsafe_code)]
#[inline(always)]
fn one<S: Stride, const UNIT: usize>(
    batches: Batches<'_, 32, S>,
    [width, units]: [NonZero<u32>; 2],
    stretch: Stretch<'_>,
) {
    let Batches {
        arguments, group, ..
    } = batches;
    let unit = UNIT as u32;
    let start = stretch.start;
    let first = start / NonZero::<u64>::from(width);
    let limb = (start % NonZero::<u64>::from(width)) as u32;
    let lane = group.lane();
    // SAFETY: by the contract of `Batches::new`. The numbers that are reached are those
    // of the stretch and, for the carry into it, those just below; all are of the batch.
    // No other warp stores what this one does. (What is branched on is the same in all
    // lanes: widths, the batch, the stretch, words of it, and votes.)
    let (operands, mut results) = unsafe {
        (
            Operands::<S, UNIT> {
                group,
                step: Step::new(units),
                a: Batch::new(&arguments.a, first),
                b: Batch::new(&arguments.b, first),
                marks: Batch::new(&arguments.c, first),
            },
            Results {
                flat: Row::new(&arguments.r, start + u64::from(unit * lane)),
                r: Batch::<S>::new(&arguments.r, first),
            },
        )
    };
    let step = operands.step;
    // Units, counted from the tile below.
    let tile = TILE / unit;
    let (mut at, mut end, mut carry) = (tile, tile + stretch.limbs / unit, 0);
    let mut place = step.place(limb / unit, lane);
    let (mut asks, mut waits, mut held) = (limb > 0, false, 0);
    if let Some((chunks, into)) = stretch.held() {
        let value = [Limb::MAX.wrapping_add(into); UNIT];
        let behind = tile + LANES * chunks;
        while at < behind {
            results.set(place, (0, 1), value);
            if !S::UNIT {
                place = step.up(place);
            }
            (at, results) = (at + LANES, results.up(LANES * unit));
        }
        place = step.place(limb / unit + LANES * chunks, lane);
        // What is behind is right where nothing comes in.
        end = if into == 0 { at } else { end.min(at + LANES) };
        (carry, asks) = (into, false);
    }
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
        if asks {
            asks = false;
            // A limb to a lane: fewer of what lies below are loaded again.
            let below = operands.by_limbs(width);
            match stretch.into(below.step, below.step.place(limb, lane), below) {
                Into::Known(into) => carry = into,
                Into::FromAfar => (waits, held) = (true, 1),
                Into::FromTile => {
                    for _ in 0..tile / LANES {
                        place = step.down(place);
                    }
                    (at, results) = (0, results.down(TILE));
                    continue;
                }
            }
        }
        let is_own = at >= tile;
        for u in 0..CHUNKS {
            let (generate, propagate) = operands.votes(places[u], digits[u]);
            let carries = carries(generate, propagate, carry);
            carry = (carries >> LANES) as Limb;
            waits &= all(propagate);
            held += u32::from(waits);
            let to = if waits | !is_own { 0 } else { left };
            let (limbs, _) = digits[u].sum(of_lane(carries, lane));
            results.set(places[u], (LANES * u as u32, to), limbs);
        }
        place = step.up(places[1]);
        results = results.up(UNITS * unit);
        at += UNITS;
    }
    stretch.leave(held, waits, carry);
}
