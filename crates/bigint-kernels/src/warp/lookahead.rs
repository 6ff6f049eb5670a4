//! Sums and differences by all limbs at once (CarryLookahead; [Langer 2015], [Bringgaard 2024]):
//! what addition and subtraction share.
//!
//! # The carries of a chunk
//!
//! Lane `t` has limb `t` of both operands and computes its digit, the sum or the
//! difference of the two. It generates a carry (a borrow) where that leaves the
//! limb's range, and propagates one where a carry into it would; never both. Let the
//! bits of `g` and `p` say so for every lane, and let `c` be the chunk's carry in. The
//! bits of
//!
//! ```text
//! w = ((2 g + c) + p) xor p
//! ```
//!
//! are the carries *into* the lanes: in the addition, a bit of `2g + c` that meets
//! a run of ones in `p` ripples to the run's end and leaves zeros behind, which
//! the xor turns into ones; elsewhere the bits just pass, as `2g` and `p` have no
//! one in common that a carry reaches. Bit `k` of `w` is therefore the carry out
//! of the `k` lowest limbs, whatever the lanes above hold.
//!
//! # A batch as one flat row of limbs
//!
//! Clear the bits of `g` and `p` of the lane that holds a number's top limb, and no
//! carry leaves the number: what stands above may be another number. So the limbs of
//! all results are one row of `count * width` limbs, limb `q` being limb `q mod width`
//! of number `q div width`, and the row is cut into chunks without regard to where a
//! number begins. Whatever the width, every lane has a limb, neighbouring lanes have
//! neighbouring limbs, and every chunk of a contiguous result is one whole line of
//! memory.
//!
//! A warp computes a stretch of the row. It loads a tile of `CHUNKS` chunks before
//! it computes any, so that enough bytes are under way to keep the memory busy.
//!
//! The stretch may begin inside a number: `stretches.rs` has what it does about its
//! carry.
//!
//! Cost: two votes a chunk, and one chunk in `stretch / 32 + 1` loaded twice. A word of memory for
//! each stretch of results wider than a tile.

use super::stretches::{Chunks, Into, Stretch, all};
use super::{Batches, LANES};
use crate::gpu::flat::Row;
use crate::gpu::memory::{Batch, CarryOut, Number, Stride};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::kernel;
use bigint_core::{Arguments, Limb};
use core::marker::PhantomData;
use core::num::NonZero;

/// One limb of a sum or a difference: what lookahead must know of it.
pub trait Digit: Copy {
    /// The limb that propagates a carry.
    const THROUGH: Limb;

    /// The limb where no carry comes in.
    fn limb(x: Limb, y: Limb) -> Limb;

    /// Whether a limb sends a carry up by itself: `limb`, of `x` and `y`.
    fn generates(x: Limb, y: Limb, limb: Limb) -> bool;

    /// Whether a limb sends a carry up if, and only if, one comes in.
    #[inline(always)]
    fn propagates(limb: Limb) -> bool {
        limb == Self::THROUGH
    }

    /// The limb after the carry in, which is 0 or 1.
    fn carried(limb: Limb, carry: Limb) -> Limb;
}

/// The word of carries into the lanes, from the words that say which of them generate
/// one and which propagate one; bit `LANES` is the carry out.
#[inline(always)]
pub fn carries(generate: u64, propagate: u64, carry: Limb) -> u64 {
    // In this order one instruction doubles and adds.
    ((generate << 1) + propagate + u64::from(carry)) ^ propagate
}

/// Bit `place` of a word of carries.
#[inline(always)]
pub fn bit(carries: u64, place: u32) -> Limb {
    (carries >> place) as Limb & 1
}

/// The carry out of `LANES` lanes.
#[inline(always)]
pub fn out<const LANES: u32>(carries: u64) -> Limb {
    (carries >> LANES) as Limb & 1
}

/// The carry into a lane.
#[inline(always)]
pub(super) fn of_lane(carries: u64, lane: u32) -> Limb {
    Limb::from(carries as u32 & 1 << lane != 0)
}

/// The digits of one chunk of a number, and the word of carries into its lanes; bit
/// `LANES` is the carry out. `carry` is 0 or 1.
#[inline(always)]
pub fn chunk<D: Digit, const LANES: u32>(
    group: Group<LANES>,
    x: Limb,
    y: Limb,
    carry: Limb,
) -> (Limb, u64) {
    let limb = D::limb(x, y);
    let generate = group.ballot(D::generates(x, y, limb));
    let propagate = group.ballot(D::propagates(limb));
    let carries = carries(generate, propagate, carry);
    (D::carried(limb, of_lane(carries, group.lane())), carries)
}

/// `r` from `a` and `b`, cut to the width of `r`, a chunk at a time; returns the carry
/// out of its top limb, in every lane. `r` may be an operand.
#[inline(always)]
pub fn number<D: Digit, const LANES: u32>(
    group: Group<LANES>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
) -> Limb {
    let mut carry = 0;
    let mut at = 0;
    while at < r.width() {
        let own = at + group.lane();
        let (limb, carries) = chunk::<D, LANES>(group, a.limb(own), b.limb(own), carry);
        r.set(own, limb);
        carry = (carries >> LANES.min(r.width() - at)) as Limb & 1;
        at += LANES;
    }
    carry
}

/// Adds numbers [in fours](Number::in_fours), four of whose limbs a lane has: what comes into them
/// goes through where each propagates.
#[inline(always)]
pub fn number_in_fours<D: Digit, const LANES: u32>(
    group: Group<LANES>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
) -> Limb {
    let mut carry = 0;
    let mut at = 0;
    while at < r.width() {
        let own = at + 4 * group.lane();
        let (x, y) = (a.fours::<4, true>(own), b.fours::<4, true>(own));
        let four = |mut carry: Limb| {
            let (mut limbs, mut propagates) = ([0; 4], true);
            for i in 0..4 {
                let limb = D::limb(x[i], y[i]);
                limbs[i] = D::carried(limb, carry);
                let is_out = D::generates(x[i], y[i], limb) | (D::propagates(limb) & (carry != 0));
                carry = Limb::from(is_out);
                propagates &= D::propagates(limb);
            }
            (limbs, carry != 0, propagates)
        };
        let (_, generates, propagates) = four(0);
        let carries = carries(group.ballot(generates), group.ballot(propagates), carry);
        let (limbs, ..) = four(of_lane(carries, group.lane()));
        r.set_fours::<4, true>(own, limbs);
        carry = (carries >> LANES.min((r.width() - at) / 4)) as Limb & 1;
        at += 4 * LANES;
    }
    carry
}

/// Chunks of a tile.
const CHUNKS: usize = (TILE / LANES) as usize;

/// Its limbs.
const TILE: u32 = kernel::TILE as u32;

/// A limb of the row: limb `limb` of number `number`, where numbers are counted from
/// the one that the stretch begins in.
#[derive(Clone, Copy)]
pub(super) struct LimbPlace {
    pub(super) number: i32,
    pub(super) limb: u32,
}

/// The way from a place to that of the same lane in the next chunk.
#[derive(Clone, Copy)]
pub(super) struct Step {
    width: NonZero<u32>,
    numbers: i32,
    limbs: u32,
}

impl Step {
    #[inline(always)]
    pub(super) fn new(width: NonZero<u32>) -> Self {
        Step {
            width,
            numbers: (LANES / width) as i32,
            limbs: LANES % width,
        }
    }

    /// The lane's place in a chunk whose first limb is limb `limb` of number 0.
    #[inline(always)]
    pub(super) fn place(self, limb: u32, lane: u32) -> LimbPlace {
        LimbPlace {
            number: ((limb + lane) / self.width) as i32,
            limb: (limb + lane) % self.width,
        }
    }

    #[inline(always)]
    pub(super) fn up(self, place: LimbPlace) -> LimbPlace {
        let LimbPlace { number, limb } = place;
        let (number, limb) = (number + self.numbers, limb + self.limbs);
        if limb < self.width.get() {
            LimbPlace { number, limb }
        } else {
            LimbPlace {
                number: number + 1,
                limb: limb - self.width.get(),
            }
        }
    }

    #[inline(always)]
    pub(super) fn down(self, place: LimbPlace) -> LimbPlace {
        let LimbPlace { number, limb } = place;
        if limb >= self.limbs {
            LimbPlace {
                number: number - self.numbers,
                limb: limb - self.limbs,
            }
        } else {
            LimbPlace {
                number: number - self.numbers - 1,
                limb: limb + self.width.get() - self.limbs,
            }
        }
    }

    /// Whether a carry out of the limb there would leave the number.
    #[inline(always)]
    fn is_top(self, place: LimbPlace) -> bool {
        place.limb == self.width.get() - 1
    }
}

/// The two operands of a sum or a difference, number by number.
pub trait Terms: Copy {
    /// Limb `limb` of both operands of number `number` if `at < end`, else zeros.
    fn limbs(self, number: i32, limb: u32, at: u32, end: u32) -> (Limb, Limb);
}

impl<S: Stride> Terms for (Batch<S>, Batch<S>) {
    #[inline(always)]
    fn limbs(self, number: i32, limb: u32, at: u32, end: u32) -> (Limb, Limb) {
        (
            self.0.limb(number, limb, at, end),
            self.1.limb(number, limb, at, end),
        )
    }
}

/// The operands of a stretch.
#[derive(Clone, Copy)]
struct Operands<D, P> {
    group: Group<LANES>,
    step: Step,
    terms: P,
    digit: PhantomData<D>,
}

impl<D: Digit, P: Terms> Chunks for Operands<D, P> {
    type Digits = (Limb, Limb);

    #[inline(always)]
    fn load(self, place: LimbPlace, at: u32, end: u32) -> (Limb, Limb) {
        self.terms.limbs(place.number, place.limb, at, end)
    }

    #[inline(always)]
    fn votes(self, place: LimbPlace, (x, y): (Limb, Limb)) -> (u64, u64) {
        let (limb, stays) = (D::limb(x, y), !self.step.is_top(place));
        (
            self.group.ballot(D::generates(x, y, limb) & stays),
            self.group.ballot(D::propagates(limb) & stays),
        )
    }
}

/// Where a stretch's limbs and carries go.
#[derive(Clone, Copy)]
struct Results<'a, S> {
    arguments: &'a Arguments,
    /// The limbs of the stretch, from the lane's first on.
    flat: Row,
    /// The results number by number.
    r: Batch<S>,
    /// The number that the stretch begins in.
    first: u64,
}

/// Computes the calling warp's stretches of the batch.
#[allow(unsafe_code)]
#[inline(always)]
pub fn batch<D: Digit, S: Stride>(batches: Batches<'_, LANES, S>) {
    let Arguments { a, b, .. } = batches.arguments;
    // SAFETY: by the contract of `Batches::new`. The numbers that are reached are those
    // of the stretch and, for the carry into it, those just below; all are of the batch.
    let terms = |first| unsafe { (Batch::<S>::new(a, first), Batch::<S>::new(b, first)) };
    batch_of::<D, S, _>(batches, terms);
}

/// The same of other operands, which are told from a number on.
#[inline(always)]
pub fn batch_of<D: Digit, S: Stride, P: Terms>(
    batches: Batches<'_, LANES, S>,
    terms: impl Fn(u64) -> P,
) {
    let Batches {
        arguments, group, ..
    } = batches;
    let Some(width) = NonZero::new(arguments.r.width as u32) else {
        return;
    };
    Stretch::each(
        arguments,
        group,
        width,
        #[inline(always)]
        |stretch| one::<D, S, P>(batches, width, stretch, &terms),
    );
}

/// Computes a stretch.
#[allow(unsafe_code)]
#[inline(always)]
fn one<D: Digit, S: Stride, P: Terms>(
    batches: Batches<'_, LANES, S>,
    width: NonZero<u32>,
    stretch: Stretch<'_>,
    terms: impl Fn(u64) -> P,
) {
    let Batches {
        arguments, group, ..
    } = batches;
    let start = stretch.start;
    let first = start / NonZero::<u64>::from(width);
    let limb = (start % NonZero::<u64>::from(width)) as u32;

    let operands = Operands::<D, P> {
        group,
        step: Step::new(width),
        terms: terms(first),
        digit: PhantomData,
    };
    // SAFETY: by the contract of `Batches::new`. The numbers are those of the stretch.
    // No other warp stores what this one does. (What is branched on is the same in all
    // lanes: widths, the batch, the stretch, words of it, and votes.)
    let results = unsafe {
        Results {
            flat: Row::new(&arguments.r, start + u64::from(thread::lane())),
            r: Batch::<S>::new(&arguments.r, first),
            arguments,
            first,
        }
    };
    if CarryOut::is_wanted(arguments) {
        compute::<D, S, P, true>(operands, results, stretch, limb);
    } else {
        compute::<D, S, P, false>(operands, results, stretch, limb);
    }
}

/// Computes a stretch, which begins at limb `limb` of a number, and reports carries where that is
/// asked for.
#[inline(always)]
fn compute<D: Digit, S: Stride, P: Terms, const REPORTS: bool>(
    operands: Operands<D, P>,
    results: Results<'_, S>,
    stretch: Stretch<'_>,
    limb: u32,
) {
    let Operands { group, step, .. } = operands;
    let lane = group.lane();
    // Counted from the tile below.
    let (mut at, mut end, mut carry) = (TILE, TILE + stretch.limbs, 0);
    let mut place = step.place(limb, lane);
    let mut flat = results.flat;
    let (mut asks, mut waits, mut held) = (limb > 0, false, 0);
    if let Some((chunks, into)) = stretch.held() {
        let value = D::carried(D::THROUGH, into);
        let behind = TILE + LANES * chunks;
        while at < behind {
            results.set(place, flat, (0, 1), value);
            if !S::UNIT {
                place = step.up(place);
            }
            (at, flat) = (at + LANES, flat.up(LANES));
        }
        place = step.place(limb + LANES * chunks, lane);
        // What is behind is right where nothing comes in.
        end = if into == 0 { at } else { end.min(at + LANES) };
        (carry, asks) = (into, false);
    }
    while at < end {
        // Limbs from the lane's first in this tile to the stretch's end.
        let left = (end - at).saturating_sub(lane);
        let mut ahead = place;
        let mut load = |u: u32| {
            let limbs = operands.load(ahead, LANES * u, left);
            ahead = step.up(ahead);
            limbs
        };
        // One by one, here and below: a loop over them would keep them in memory.
        let [a, b, c, d, e, f, g, h]: [_; CHUNKS] = [
            load(0),
            load(1),
            load(2),
            load(3),
            load(4),
            load(5),
            load(6),
            load(7),
        ];
        // Only now, so that the tile's own limbs are on their way meanwhile.
        if asks {
            asks = false;
            match stretch.into(step, place, operands) {
                Into::Known(into) => carry = into,
                Into::FromAfar => (waits, held) = (true, 1),
                Into::FromTile => {
                    for _ in 0..CHUNKS {
                        place = step.down(place);
                    }
                    (at, flat) = (0, flat.down(TILE));
                    continue;
                }
            }
        }
        let is_own = at >= TILE;
        let mut digit = |u: u32, (x, y): (Limb, Limb)| {
            let digit = D::limb(x, y);
            let (generate, propagate) = operands.votes(place, (x, y));
            let carries = carries(generate, propagate, carry);
            let own = of_lane(carries, lane);
            carry = (carries >> LANES) as Limb;
            waits &= all(propagate);
            held += u32::from(waits);
            let to = if waits | !is_own { 0 } else { left };
            let value = D::carried(digit, own);
            results.set(place, flat.up(LANES * u), (LANES * u, to), value);
            if REPORTS && step.is_top(place) && LANES * u < to {
                let out = D::generates(x, y, digit) | (D::propagates(digit) & (own != 0));
                // Where the first is asked for alone, the lanes rarely come in here.
                if out | (results.arguments.carry != 0) {
                    results.report(place.number, out);
                }
            }
            place = step.up(place);
        };
        digit(0, a);
        digit(1, b);
        digit(2, c);
        digit(3, d);
        digit(4, e);
        digit(5, f);
        digit(6, g);
        digit(7, h);
        flat = flat.up(TILE);
        at += TILE;
    }
    stretch.leave(held, waits, carry);
}

impl<S: Stride> Results<'_, S> {
    /// Sets the limb at `place`, which is the first of `flat`, where `at < end`.
    #[inline(always)]
    fn set(self, place: LimbPlace, flat: Row, (at, end): (u32, u32), limb: Limb) {
        if S::UNIT {
            flat.set_first_below(at, end, limb);
        } else {
            self.r.set(place.number, place.limb, at, end, limb);
        }
    }

    /// Reports the carry out of a number, counted from that of the stretch's begin.
    #[allow(unsafe_code)]
    #[inline(always)]
    fn report(self, number: i32, out: bool) {
        let number = self.first.wrapping_add_signed(i64::from(number));
        // SAFETY: the word is allocated by the contract of `Batches::new`; the number is of the
        // batch, and the lane that reports has its top limb.
        unsafe { CarryOut::new(self.arguments, number) }.set(Limb::from(out));
    }
}
