//! Operations in which each limb of the result depends on a few limbs of the operands and on no carry
//! (Limbwise), computed by warps. The batch is taken as one row of limbs.
//!
//! The row has the order of memory, so neighbouring lanes write, and mostly read, neighbouring words,
//! whatever the width. If numbers are contiguous, limb `q` of the row is limb `q mod width` of number
//! `q div width`; if they are interleaved, it is limb `q div count` of number `q mod count`. For three
//! numbers of two limbs, with `x[i][j]` limb `j` of number `i`, the rows are
//!
//! ```text
//! contiguous   x[0][0] x[0][1] x[1][0] x[1][1] x[2][0] x[2][1]
//! interleaved  x[0][0] x[1][0] x[2][0] x[0][1] x[1][1] x[2][1]
//! ```
//!
//! A warp computes a stretch of the row, 32 limbs at a time. It loads `AHEAD` times as many before it
//! stores any, so that enough bytes are under way to keep the memory busy. If every four limbs of numbers
//! can be moved at once, and the operation can compute four limbs together, the row is made of groups of
//! four limbs: a quarter of the instructions move as many bytes.
//!
//! A guide has a value for each number that applies to all its limbs: the bits of a shift, or which of two
//! numbers is selected. If numbers are contiguous, and so wide that the limbs loaded at once belong to no
//! more numbers than there are lanes, the warp reads each guide once. Lane `k` keeps the value of the
//! `k`th number, and lanes that have a limb of that number ask lane `k`. Even if limbs cannot be moved
//! four at a time, a lane then has four neighbouring limbs of the row, of one number or of two.
//!
//! Cost: that of the operation for each limb. If an operand is a guide, also a shuffle for each limb, or
//! reading the whole guide in each lane. No scratch.

use super::Batches;
use super::lookahead::{self, Step};
use crate::gpu::flat::Row;
use crate::gpu::known::Known;
use crate::gpu::memory::{Batch, Number, Stride};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use crate::thread::limbwise::{Limbwise, plan};
use bigint_core::kernel::TILE;
use bigint_core::specialization::{self, NARROWEST_ONCE, in_fours, reads_guide_once};
use bigint_core::{Arguments, Limb, MatrixArgument};
use core::num::NonZero;

/// The lanes of a warp.
const LANES: u64 = 32;

/// The limbs, or groups of four limbs, that a lane has under way.
const AHEAD: usize = 4;

/// The groups of four limbs that a lane has under way if numbers have a guide.
const FOURS_AHEAD: u64 = 2;

/// The limbs that are moved together, and that a lane reads together from a guide.
const FOUR: usize = 4;

// The limbs loaded at once, and the number above them, belong to no more numbers than there are lanes.
// They begin anywhere in a number; but if numbers have two groups of four limbs, they begin with a number.
const _: () = {
    assert!((LANES * FOUR as u64 - 2) / NARROWEST_ONCE + 3 <= LANES);
    let fours = LANES * FOURS_AHEAD;
    assert!(fours / 2 <= LANES && (fours - 2) / 3 + 2 <= LANES);
};

/// The widest guide, in limbs, that a lane reads by itself.
const WIDEST_OF_LANE: u32 = 16;

/// The place of a limb in the row. `outer` and `inner` count numbers and limbs, in the order in which the
/// layout nests them.
#[derive(Clone, Copy)]
pub(super) struct RowPlace {
    outer: u64,
    inner: u64,
}

impl RowPlace {
    /// The number, and the limb in it.
    #[inline(always)]
    pub(super) fn of<S: Stride>(self) -> (u64, u32) {
        match S::UNIT {
            true => (self.outer, self.inner as u32),
            false => (self.inner, self.outer as u32),
        }
    }
}

/// The row of a batch's limbs in the order of memory.
#[derive(Clone, Copy)]
pub(super) struct Flat {
    /// The limbs of the row for which `outer` is the same.
    period: NonZero<u64>,
    /// The distance to the place of the same lane 32 limbs further on.
    step: RowPlace,
}

impl Flat {
    #[inline(always)]
    pub(super) fn new(period: NonZero<u64>) -> Self {
        let step = RowPlace { outer: 0, inner: 0 };
        let flat = Flat { period, step };
        Flat {
            step: flat.place(LANES),
            ..flat
        }
    }

    #[inline(always)]
    pub(super) fn place(self, at: u64) -> RowPlace {
        RowPlace {
            outer: at / self.period,
            inner: at % self.period,
        }
    }

    #[inline(always)]
    pub(super) fn next(self, place: RowPlace) -> RowPlace {
        let outer = place.outer + self.step.outer;
        let inner = place.inner + self.step.inner;
        if inner < self.period.get() {
            RowPlace { outer, inner }
        } else {
            RowPlace {
                outer: outer + 1,
                inner: inner - self.period.get(),
            }
        }
    }
}

/// Computes limbs `at .. at + UNIT` of a result.
#[inline(always)]
fn unit<O: Limbwise, S: Stride, const UNIT: usize>(
    operands: [Number<S>; 3],
    plan: O::Plan,
    at: u32,
) -> [Limb; UNIT] {
    let mut limbs = [0; UNIT];
    match UNIT {
        FOUR => limbs.copy_from_slice(&O::four(operands, plan, at)),
        _ => limbs[0] = O::limb(operands, plan, at),
    }
    limbs
}

/// One limb or four limbs of a result, and their place in it.
pub(super) struct Computed<S, const UNIT: usize> {
    pub(super) r: Number<S>,
    pub(super) at: u32,
    pub(super) limbs: [Limb; UNIT],
}

impl<S: Stride, const UNIT: usize> Computed<S, UNIT> {
    #[inline(always)]
    pub(super) fn store(self) {
        match UNIT {
            FOUR => self.r.set_fours::<UNIT, true>(self.at, self.limbs),
            _ => self.r.set(self.at, self.limbs[0]),
        }
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
    // A stretch has as many tiles, a power of two, as let the warps cover the row.
    let mut stretch = TILE;
    while stretch * arguments.workers < row {
        stretch *= 2;
    }
    let start = thread::index_1d() / LANES * stretch;
    if start >= row {
        return;
    }
    let end = (start + stretch).min(row);
    // This branch comes before all else, so that the driver's compiler optimises each way as if there were
    // no other.
    match O::IN_FOURS
        && S::UNIT
        && specialization::Limbwise::BY_FOURS.or(in_fours(arguments, O::GUIDE))
    {
        true => stretch_of::<O, S, FOUR>(batches, period, (start, end)),
        false => stretch_of::<O, S, 1>(batches, period, (start, end)),
    }
}

/// Computes limbs `start .. end` of the row, which are multiples of `UNIT`. Numbers, or rows of the same
/// limb of all numbers, have `period` limbs.
#[allow(unsafe_code)]
#[inline(always)]
fn stretch_of<O: Limbwise, S: Stride, const UNIT: usize>(
    batches: Batches<'_, 32, S>,
    period: NonZero<u64>,
    (start, end): (u64, u64),
) {
    let arguments = batches.arguments;
    if let (Some(operand), true) = (O::GUIDE, S::UNIT)
        && specialization::Limbwise::GUIDE_ONCE.or(reads_guide_once(arguments.r.width))
    {
        let guided = Guided::<S>::new(batches, period, (start, end), operand, O::IS_IN_PLACE);
        match UNIT {
            FOUR => guided_stretch::<O, S>(guided, (end - start) as u32),
            _ => guided_row::<O, S>(guided, (end - start) as u32),
        }
        return;
    }
    let Some(period) = NonZero::new(period.get() / UNIT as u64) else {
        return;
    };
    let flat = Flat::new(period);
    let end = end / UNIT as u64;
    let mut at = start / UNIT as u64 + u64::from(thread::lane());
    let mut place = flat.place(at);
    while at < end {
        let mut next = |u: u64| {
            let (on, (number, unit_at)) = (at + LANES * u < end, place.of::<S>());
            place = flat.next(place);
            let of = |batch: &MatrixArgument| {
                // SAFETY: by the contract of `Batches::new`: a number that is not switched off is in the
                // batch, and no other lane stores these limbs of it.
                unsafe { Number::<S>::new(batch, number) }.switched(on)
            };
            let Arguments { r, a, b, c, .. } = arguments;
            let operands = [of(a), of(b), of(c)];
            let at = unit_at * UNIT as u32;
            let limbs = unit::<O, S, UNIT>(operands, plan::<O, S>(operands), at);
            Computed {
                r: of(r),
                at,
                limbs,
            }
        };
        if UNIT == FOUR && O::GUIDE.is_some() {
            // Each lane has one number, whose guide it reads by itself.
            next(0).store();
            at += LANES;
            continue;
        }
        let [w, x, y, z] = [next(0), next(1), next(2), next(3)];
        w.store();
        x.store();
        y.store();
        z.store();
        at += LANES * AHEAD as u64;
    }
}

/// The guide and the numbers of a stretch, seen from one of the warp's lanes. Numbers are counted from the
/// one in which the stretch begins.
#[derive(Clone, Copy)]
struct Guided<S> {
    warp: Group<32>,
    operands: [Batch<S>; 3],
    /// The operand that is the guide.
    guide: Batch<S>,
    /// The result, from the stretch's first limb on.
    r: Row,
    /// The rows of operands 0 and 1, if limbs of the result depend only on those [at the same
    /// place](Limbwise::IS_IN_PLACE), and operands are as wide as the result and have no gaps.
    rows: Option<[Row; 2]>,
    /// The limb of number 0 with which the stretch begins.
    limb: u32,
    width: NonZero<u32>,
    /// The stretch's last number.
    last: u32,
    /// The number whose guide lane 0 has read.
    first: u32,
    /// The guide's value for the lane's number.
    own: Limb,
}

/// Computes a stretch of `end` limbs with a guide, for numbers every four limbs of which can be moved at
/// once.
#[inline(always)]
fn guided_stretch<O: Limbwise, S: Stride>(mut guided: Guided<S>, end: u32) {
    guided.find();
    let lane = thread::lane();
    let limbs = FOUR as u32;
    let Some(width) = NonZero::new(guided.width.get() / limbs) else {
        return;
    };
    let step = Step::new(width);
    let mut place = step.place(guided.limb / limbs, lane);
    let end = end / limbs;
    let mut r = guided.r.up(limbs * lane);
    let mut at = 0;
    while at < end {
        let (first, second) = (place, step.up(place));
        guided.know(first.number as u32, second.number as u32);
        // The groups from the lane's first one to the stretch's end.
        let left = (end - at).saturating_sub(lane);
        let four = |u: u32, place: lookahead::LimbPlace| {
            let on = LANES as u32 * u < left;
            let (operands, plan) = guided.number::<O>(place.number as u32, on);
            O::four(operands, plan, place.limb * limbs)
        };
        let (x, y) = (four(0, first), four(1, second));
        r.set_four_below(0, left, x);
        r.set_four_below(LANES as u32, left, y);
        place = step.up(second);
        r = r.up((LANES * FOURS_AHEAD) as u32 * limbs);
        at += (LANES * FOURS_AHEAD) as u32;
    }
}

/// Computes a stretch of `end` limbs with a guide, for numbers of any width. Each lane has four
/// neighbouring limbs of the row, of one number or of two.
#[inline(always)]
fn guided_row<O: Limbwise, S: Stride>(mut guided: Guided<S>, end: u32) {
    const CHUNK: u32 = LANES as u32 * FOUR as u32;
    guided.find();
    let own = FOUR as u32 * thread::lane();
    let width = guided.width;
    let (mut number, mut limb) = ((guided.limb + own) / width, (guided.limb + own) % width);
    let mut r = guided.r.up(own);
    let rows = guided.rows.map(|rows| rows.map(|row| row.up(own)));
    let mut at = 0;
    while at < end {
        guided.know(number, number + 1);
        // The limbs from the lane's first one to the end of the stretch, and to the end of its number.
        let left = (end - at).saturating_sub(own);
        let below = width.get() - limb;
        let is_of_two = below < left && below < FOUR as u32;
        let (operands, plan) = guided.number::<O>(number, left > 0);
        let (above, plan_above) = guided.number::<O>(number + 1, is_of_two);
        let is_lower = [0, 1, 2, 3].map(|i| i < below);
        let limbs = if let Some([a, b]) = rows {
            let (wants, also) = (O::wants(plan), O::wants(plan_above));
            let four = |row: Row, k: usize| {
                let on = wants[k] || is_of_two && also[k];
                row.up(at).four_of(if on { left } else { 0 })
            };
            let (a, b) = (four(a, 0), four(b, 1));
            [0, 1, 2, 3].map(|i| match is_lower[i] {
                true => O::in_place(plan, limb + i as u32, a[i], b[i]),
                false => O::in_place(plan_above, i as u32 - below, a[i], b[i]),
            })
        } else {
            let lower = O::any_four(operands, plan, limb);
            let upper = O::any_four(above, plan_above, below.wrapping_neg());
            [0, 1, 2, 3].map(|i| if is_lower[i] { lower[i] } else { upper[i] })
        };
        r.set_four_below(0, left / FOUR as u32, limbs);
        let rest = if left < FOUR as u32 { left } else { 0 };
        r.set(0, rest, limbs[0]);
        r.set(1, rest, limbs[1]);
        r.set(2, rest, limbs[2]);
        (number, limb) = (number + CHUNK / width, limb + CHUNK % width);
        if limb >= width.get() {
            (number, limb) = (number + 1, limb - width.get());
        }
        r = r.up(CHUNK);
        at += CHUNK;
    }
}

impl<S: Stride> Guided<S> {
    /// Makes the lane's view of limbs `start .. end` of the row.
    #[allow(unsafe_code)]
    #[inline(always)]
    fn new(
        batches: Batches<'_, 32, S>,
        period: NonZero<u64>,
        (start, end): (u64, u64),
        operand: usize,
        is_in_place: bool,
    ) -> Self {
        let Arguments { r, a, b, c, .. } = batches.arguments;
        let first = start / period;
        let in_row = |batch: &MatrixArgument| {
            batch.width == r.width && batch.number_stride == r.width && batch.limbs % 16 == 0
        };
        let are_rows = is_in_place && in_row(a) && (operand == 1 || in_row(b));
        // SAFETY: by the contract of `Batches::new`: the stretch's numbers are in the batch, and no other
        // warp stores its limbs. (Branches depend on widths, the stretch, votes, and values shuffled from
        // one lane.)
        let (operands, row) = unsafe {
            let operands = [
                Batch::new(a, first),
                Batch::new(b, first),
                Batch::new(c, first),
            ];
            (operands, [r, a, b].map(|batch| Row::new(batch, start)))
        };
        let [r_row, a_row, b_row] = row;
        Guided {
            warp: batches.group,
            operands,
            guide: operands[operand],
            r: r_row,
            rows: are_rows.then_some([a_row, b_row]),
            limb: (start % period) as u32,
            // Numbers have fewer than 2^32 limbs.
            width: NonZero::new(r.width as u32).unwrap_or(NonZero::<u32>::MAX),
            last: ((end - 1) / period - first) as u32,
            first: 0,
            own: 0,
        }
    }

    /// Makes sure that the guide has been read for all numbers from `lowest` of lane 0 to `highest` of the
    /// top lane.
    #[inline(always)]
    fn know(&mut self, lowest: u32, highest: u32) {
        // This is the same in the whole warp.
        let top = self.warp.shuffle(highest, LANES as u32 - 1);
        if top.min(self.last) >= self.first + LANES as u32 {
            self.first = self.warp.shuffle(lowest, 0);
            self.find();
        }
    }

    /// The operands of a number, and its plan, from the guide's value that a lane keeps.
    #[inline(always)]
    fn number<O: Limbwise>(self, number: u32, on: bool) -> ([Number<S>; 3], O::Plan) {
        let known = self.warp.shuffle(self.own, number - self.first);
        let [a, b, c] = self
            .operands
            .map(|batch| batch.number(number as i32).switched(on));
        ([a, b, c], O::plan(known))
    }

    /// Number `first + index` of the guide; the last one if there are fewer.
    #[inline(always)]
    fn telling(self, index: u32) -> Number<S> {
        self.guide
            .number((self.first + index).min(self.last) as i32)
    }

    /// Reads the guide for number `first` and those above. The whole warp does so together: each lane
    /// reads that of its own number; or, if guides are wide, all lanes read four at a time.
    #[inline(always)]
    fn find(&mut self) {
        let lane = thread::lane();
        if self.guide.width() <= WIDEST_OF_LANE {
            let number = self.telling(lane);
            let [lowest, mut above, x, y] = number.limbs(0);
            above |= x | y;
            let mut at = FOUR as u32;
            while at < number.width() {
                let [w, x, y, z] = number.limbs(at);
                above |= w | x | y | z;
                at += FOUR as u32;
            }
            self.own = if above == 0 { lowest } else { Limb::MAX };
            return;
        }
        let mut index = 0;
        while index < LANES as u32 && self.first + index <= self.last {
            let numbers = [0, 1, 2, 3].map(|k| self.telling(index + k));
            let limbs = numbers.map(|number| number.limb(lane));
            let lowest = limbs.map(|limb| self.warp.shuffle(limb, 0));
            let mut above = limbs.map(|limb| if lane == 0 { 0 } else { limb });
            let mut at = LANES as u32;
            while at < self.guide.width() {
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
