//! Sums and differences of segments, all limbs at once (CarryLookahead; Langer, Bringgaard).
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
//! Who computes what, and what a stretch that begins inside a segment does for its carry, is as
//! in [`lookahead`](super::lookahead) with the segment in place of the number.
//!
//! Cost: two votes a chunk, 64 bits of marks to 32 limbs, and one chunk in `stretch / 32 + 1`
//! loaded twice. No scratch.

use super::Batches;
use super::lookahead::{Place, Step, carries, carry_into, of_lane};
use crate::gpu::memory::{Batch, Row, Stride};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::kernel::TILE;
use bigint_core::{LIMB_BITS, Limb};
use core::num::NonZero;

/// Lanes of a warp.
const LANES: u32 = 32;

/// Chunks of a tile, which are loaded before any is computed; of limbs that lie apart, as lists
/// have none such, one is, which takes less code.
const CHUNKS: usize = (TILE / LANES as u64) as usize;

/// A limb of the result before it takes a carry.
#[derive(Clone, Copy)]
struct Digit {
    limb: Limb,
    generates: bool,
    begins: bool,
}

impl Digit {
    /// That of the limbs of both operands at `place`, and the marks there.
    #[inline(always)]
    fn new(place: Place, (x, y): (Limb, Limb), (begin, subtracted): (Limb, Limb)) -> Self {
        let bit = place.limb % LIMB_BITS as u32;
        let begins = (begin >> bit & 1 != 0) | (place.limb == 0);
        let subtracts = subtracted >> bit & 1;
        let (sum, first) = x.overflowing_add(y ^ subtracts.wrapping_neg());
        let (limb, second) = sum.overflowing_add(if begins { subtracts } else { 0 });
        Digit {
            limb,
            generates: first | second,
            begins,
        }
    }
}

/// The operands of a stretch.
#[derive(Clone, Copy)]
struct Operands<S> {
    group: Group<LANES>,
    step: Step,
    a: Batch<S>,
    b: Batch<S>,
    marks: Batch<S>,
}

impl<S: Stride> Operands<S> {
    /// The limbs of both operands at `place`, or zeros where `at` is not below `end`.
    #[inline(always)]
    fn limbs(self, place: Place, at: u32, end: u32) -> (Limb, Limb) {
        let Place { number, limb } = place;
        (
            self.a.limb(number, limb, at, end),
            self.b.limb(number, limb, at, end),
        )
    }

    /// The words of marks that `place` is in, or zeros likewise.
    #[inline(always)]
    fn marks(self, place: Place, at: u32, end: u32) -> (Limb, Limb) {
        let Place { number, limb } = place;
        let word = limb / LIMB_BITS as u32 * 2;
        (
            self.marks.limb(number, word, at, end),
            self.marks.limb(number, word + 1, at, end),
        )
    }

    /// The words of lanes that generate and of lanes that propagate a carry.
    #[inline(always)]
    fn votes(self, digit: Digit) -> (u64, u64) {
        (
            self.group.ballot(digit.generates),
            self.group.ballot((digit.limb == Limb::MAX) & !digit.begins),
        )
    }
}

/// The sums and differences of the calling warp's stretch.
#[allow(unsafe_code)]
#[inline(always)]
pub fn carry_lookahead<S: Stride>(batches: Batches<'_, 32, S>) {
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
    let end = (row - start).min(stretch) as u32;
    let first = start / NonZero::<u64>::from(width);
    let limb = (start % NonZero::<u64>::from(width)) as u32;
    let lane = group.lane();
    // SAFETY: by the contract of `Batches::new`. The numbers that are reached are those
    // of the stretch and, for the carry into it, those just below; all are of the batch.
    // No other warp stores what this one does. (What is branched on is the same in all
    // lanes: widths, the batch, the stretch, and votes.)
    let (operands, r, mut flat) = unsafe {
        (
            Operands {
                group,
                step: Step::new(width),
                a: Batch::<S>::new(&arguments.a, first),
                b: Batch::<S>::new(&arguments.b, first),
                marks: Batch::<S>::new(&arguments.c, first),
            },
            Batch::<S>::new(&arguments.r, first),
            Row::new(&arguments.r, start + u64::from(lane)),
        )
    };
    let step = operands.step;
    let mut place = step.place(limb, lane);
    let mut carry = 0;
    let mut at = 0;
    while at < end {
        // Limbs from the lane's first here to the stretch's end.
        let left = (end - at).saturating_sub(lane);
        let mut limbs = [(0, 0); CHUNKS];
        let mut marks = [(0, 0); CHUNKS];
        if S::UNIT {
            let mut ahead = place;
            for (u, limbs) in limbs.iter_mut().enumerate() {
                *limbs = operands.limbs(ahead, LANES * u as u32, left);
                ahead = step.up(ahead);
            }
            ahead = place;
            for (u, marks) in marks.iter_mut().enumerate() {
                *marks = operands.marks(ahead, LANES * u as u32, left);
                ahead = step.up(ahead);
            }
        } else {
            limbs[0] = operands.limbs(place, 0, left);
            marks[0] = operands.marks(place, 0, left);
        }
        // Only now, so that the limbs from here on are on their way meanwhile.
        if at == 0 && limb > 0 {
            carry = carry_into(
                step,
                place,
                start,
                #[inline(always)]
                |place| {
                    let limbs = operands.limbs(place, 0, 1);
                    operands.votes(Digit::new(place, limbs, operands.marks(place, 0, 1)))
                },
            );
        }
        let mut digit = |u: u32, limbs: (Limb, Limb), marks: (Limb, Limb)| {
            let digit = Digit::new(place, limbs, marks);
            let (generate, propagate) = operands.votes(digit);
            let carries = carries(generate, propagate, carry);
            carry = (carries >> LANES) as Limb;
            let own = if digit.begins {
                0
            } else {
                of_lane(carries, lane)
            };
            let value = digit.limb.wrapping_add(own);
            if S::UNIT {
                flat.set(LANES * u, left, value);
            } else {
                r.set(place.number, place.limb, LANES * u, left, value);
            }
            place = step.up(place);
        };
        let [a, b, c, d, e, f, g, h] = limbs;
        let [i, j, k, l, m, n, o, p] = marks;
        digit(0, a, i);
        // One by one: a loop over them would keep them in memory.
        if S::UNIT {
            digit(1, b, j);
            digit(2, c, k);
            digit(3, d, l);
            digit(4, e, m);
            digit(5, f, n);
            digit(6, g, o);
            digit(7, h, p);
        }
        let done = if S::UNIT { TILE as u32 } else { LANES };
        flat = flat.up(done);
        at += done;
    }
}
