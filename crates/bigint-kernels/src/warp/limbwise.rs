//! What operations share whose every limb comes from few limbs of the operands, and
//! from no carry (Limbwise): the batch as one flat row of limbs.
//!
//! The row has the order of memory, so that neighbouring lanes write, and mostly read,
//! neighbouring words whatever the width: of contiguous numbers limb `q mod width` of
//! number `q div width` is limb `q` of the row, of interleaved ones limb `q div count` of
//! number `q mod count`. With three numbers of two limbs, `x[i][j]` being limb `j` of
//! number `i`, the rows are
//!
//! ```text
//! contiguous   x[0][0] x[0][1] x[1][0] x[1][1] x[2][0] x[2][1]
//! interleaved  x[0][0] x[1][0] x[2][0] x[0][1] x[1][1] x[2][1]
//! ```
//!
//! A warp computes a stretch of the row, 32 limbs at a time, and loads [`AHEAD`] times as
//! many before it stores any, so that enough bytes are under way to keep the memory busy.
//!
//! What an operand tells all limbs of a number, by how much it is shifted or which of two is
//! selected, the warp finds out once for the numbers of its stretch, where they are contiguous
//! and wide enough that there are fewer of them than lanes in what is loaded at once: lane `k`
//! keeps it of the `k`th number, and those that have a limb of it ask lane `k`.
//!
//! Cost: an operation's own, a limb; where an operand tells something, a shuffle a limb, or all
//! of that operand's limbs in each lane. No scratch.

use super::Batches;
use super::lookahead::{self, Step};
use crate::gpu::facts;
use crate::gpu::memory::{Batch, Number, Row, Stride};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use crate::thread::limbwise::{Limbwise, plan};
use bigint_core::facts::{NARROWEST_ONCE, ONCE, once};
use bigint_core::kernel::TILE;
use bigint_core::{Arguments, Limb, MatrixArgument};
use core::num::NonZero;

/// Lanes of a warp.
const LANES: u64 = 32;

/// Limbs that a lane has under way.
const AHEAD: u64 = 4;

const _: () = assert!((LANES * AHEAD - 2) / NARROWEST_ONCE + 2 <= LANES);

/// Limbs that a lane looks at together.
const FOUR: u32 = 4;

/// Limbs of the widest numbers that a lane looks at by itself to know what they tell.
const WIDEST_OF_LANE: u32 = 16;

/// Where a limb of the row is: `outer` and `inner` count numbers and limbs, whichever
/// way they are nested.
#[derive(Clone, Copy)]
struct Place {
    outer: u64,
    inner: u64,
}

/// The limbs of a batch in the order of memory.
#[derive(Clone, Copy)]
struct Flat<'a> {
    arguments: &'a Arguments,
    /// Limbs of the row for which `outer` is the same.
    period: NonZero<u64>,
    /// The way to the place of the same lane, 32 limbs on.
    step: Place,
}

impl Flat<'_> {
    #[inline(always)]
    fn place(self, at: u64) -> Place {
        Place {
            outer: at / self.period,
            inner: at % self.period,
        }
    }

    #[inline(always)]
    fn next(self, place: Place) -> Place {
        let outer = place.outer + self.step.outer;
        let inner = place.inner + self.step.inner;
        if inner < self.period.get() {
            Place { outer, inner }
        } else {
            Place {
                outer: outer + 1,
                inner: inner - self.period.get(),
            }
        }
    }

    /// The limb of the row at `place`, computed where it is `on`, and how to store it.
    #[allow(unsafe_code)]
    #[inline(always)]
    fn limb<O: Limbwise, S: Stride>(self, place: Place, on: bool) -> Computed<S> {
        let (number, at) = if S::UNIT {
            (place.outer, place.inner)
        } else {
            (place.inner, place.outer)
        };
        let at = at as u32;
        let of = |batch: &MatrixArgument| {
            // SAFETY: by the contract of `Batches::new`: a number that is not switched off
            // is of the batch, and no other lane stores this limb of it.
            unsafe { Number::<S>::new(batch, number) }.switched(on)
        };
        let Arguments { r, a, b, c, .. } = self.arguments;
        let operands = [of(a), of(b), of(c)];
        let limb = O::limb(operands, plan::<O, S>(operands), at);
        Computed { r: of(r), at, limb }
    }
}

/// A limb, and where it goes.
struct Computed<S> {
    r: Number<S>,
    at: u32,
    limb: Limb,
}

impl<S: Stride> Computed<S> {
    #[inline(always)]
    fn store(self) {
        self.r.set(self.at, self.limb);
    }
}

/// Computes the calling warp's stretch of the batch.
#[inline(always)]
pub fn batch<O: Limbwise, S: Stride>(batches: Batches<'_, 32, S>) {
    let arguments = batches.arguments;
    let row = arguments.count * arguments.r.width;
    let Some(period) = NonZero::new(if S::UNIT {
        arguments.r.width
    } else {
        arguments.count
    }) else {
        return;
    };
    // As many tiles to a stretch, a power of two, as let the warps cover the row.
    let mut stretch = TILE;
    while stretch * arguments.workers < row {
        stretch *= 2;
    }
    let start = thread::index_1d() / LANES * stretch;
    if start >= row {
        return;
    }
    let end = (start + stretch).min(row);
    let told = match O::TELLS {
        Some(operand) if S::UNIT && facts::told_or(ONCE, once(arguments.r.width)) == 1 => {
            Told::<S>::new(batches, period, (start, end), operand)
        }
        _ => None,
    };
    if let Some(told) = told {
        told_stretch::<O, S>(told, (end - start) as u32);
        return;
    }
    let mut flat = Flat {
        arguments,
        period,
        step: Place { outer: 0, inner: 0 },
    };
    flat.step = flat.place(LANES);
    let mut at = start + u64::from(thread::lane());
    let mut place = flat.place(at);
    while at < end {
        let mut next = |u: u64| {
            let computed = flat.limb::<O, S>(place, at + LANES * u < end);
            place = flat.next(place);
            computed
        };
        let [w, x, y, z] = [next(0), next(1), next(2), next(3)];
        w.store();
        x.store();
        y.store();
        z.store();
        at += LANES * AHEAD;
    }
}

/// What an operand tells of the numbers of a stretch, seen from one of the warp's lanes.
/// Numbers are counted from the one that the stretch begins in.
#[derive(Clone, Copy)]
struct Told<S> {
    warp: Group<32>,
    operands: [Batch<S>; 3],
    /// The operand that tells.
    tells: Batch<S>,
    /// The result from the lane's first limb on.
    r: Row,
    /// The limb of number 0 that the stretch begins with.
    limb: u32,
    width: NonZero<u32>,
    /// The stretch's last number.
    last: u32,
    /// The number that lane 0 knows of.
    first: u32,
    /// What is told of the lane's number.
    own: Limb,
}

/// Computes a stretch of so many limbs, where an operand tells those of each number something.
#[inline(always)]
fn told_stretch<O: Limbwise, S: Stride>(mut told: Told<S>, end: u32) {
    let lane = thread::lane();
    let step = Step::new(told.width);
    let mut place = step.place(told.limb, lane);
    told.find();
    let mut at = 0;
    while at < end {
        let first = place;
        let second = step.up(first);
        let third = step.up(second);
        let fourth = step.up(third);
        // The same in the whole warp.
        let top = told.warp.shuffle(fourth.number as u32, LANES as u32 - 1);
        if top.min(told.last) >= told.first + LANES as u32 {
            told.first = told.warp.shuffle(first.number as u32, 0);
            told.find();
        }
        // Limbs from the lane's first to the stretch's end.
        let left = (end - at).saturating_sub(lane);
        let limb = |u: u32, place: lookahead::Place| {
            let known = told
                .warp
                .shuffle(told.own, place.number as u32 - told.first);
            let on = LANES as u32 * u < left;
            let number = |batch: Batch<S>| batch.number(place.number).switched(on);
            let [a, b, c] = told.operands;
            O::limb(
                [number(a), number(b), number(c)],
                O::plan(known),
                place.limb,
            )
        };
        let limbs = [
            limb(0, first),
            limb(1, second),
            limb(2, third),
            limb(3, fourth),
        ];
        let [w, x, y, z] = limbs;
        told.r.set(0, left, w);
        told.r.set(LANES as u32, left, x);
        told.r.set(2 * LANES as u32, left, y);
        told.r.set(3 * LANES as u32, left, z);
        told.r = told.r.up((LANES * AHEAD) as u32);
        place = step.up(fourth);
        at += (LANES * AHEAD) as u32;
    }
}

impl<S: Stride> Told<S> {
    /// Of limbs `start .. end` of the row.
    #[allow(unsafe_code)]
    #[inline(always)]
    fn new(
        batches: Batches<'_, 32, S>,
        period: NonZero<u64>,
        (start, end): (u64, u64),
        operand: usize,
    ) -> Option<Self> {
        let Arguments { r, a, b, c, .. } = batches.arguments;
        let first = start / period;
        // SAFETY: by the contract of `Batches::new`: the stretch's numbers are of the batch, and
        // no other warp stores its limbs. (Branches depend on widths, the stretch, and what
        // lanes vote or ask of one lane.)
        let (operands, row) = unsafe {
            let operands = [
                Batch::new(a, first),
                Batch::new(b, first),
                Batch::new(c, first),
            ];
            (operands, Row::new(r, start + u64::from(thread::lane())))
        };
        Some(Told {
            warp: batches.group,
            operands,
            tells: operands[operand],
            r: row,
            limb: (start % period) as u32,
            width: NonZero::new(r.width as u32)?,
            last: ((end - 1) / period - first) as u32,
            first: 0,
            own: 0,
        })
    }

    /// Number `first + index` of the operand that tells, or the last one.
    #[inline(always)]
    fn number(self, index: u32) -> Number<S> {
        self.tells
            .number((self.first + index).min(self.last) as i32)
    }

    /// Finds out what is told of numbers `first` and those above. The whole warp does so
    /// together: each lane for its own number or, where these are wide, all for one after
    /// the other, by fours.
    #[inline(always)]
    fn find(&mut self) {
        let lane = thread::lane();
        if self.tells.width() <= WIDEST_OF_LANE {
            let number = self.number(lane);
            let [lowest, mut above, x, y] = number.limbs(0);
            above |= x | y;
            let mut at = FOUR;
            while at < number.width() {
                let [w, x, y, z] = number.limbs(at);
                above |= w | x | y | z;
                at += FOUR;
            }
            self.own = if above == 0 { lowest } else { Limb::MAX };
            return;
        }
        let mut index = 0;
        while index < LANES as u32 && self.first + index <= self.last {
            let numbers = [0, 1, 2, 3].map(|k| self.number(index + k));
            let limbs = numbers.map(|number| number.limb(lane));
            let lowest = limbs.map(|limb| self.warp.shuffle(limb, 0));
            let mut above = limbs.map(|limb| if lane == 0 { 0 } else { limb });
            let mut at = LANES as u32;
            while at < self.tells.width() {
                let [w, x, y, z] = numbers.map(|number| number.limb(at + lane));
                let [a, b, c, d] = above;
                above = [a | w, b | x, c | y, d | z];
                at += LANES as u32;
            }
            for k in 0..4 {
                let is_limb = self.warp.all(above[k] == 0);
                if lane == index + k as u32 {
                    self.own = if is_limb { lowest[k] } else { Limb::MAX };
                }
            }
            index += 4;
        }
    }
}
