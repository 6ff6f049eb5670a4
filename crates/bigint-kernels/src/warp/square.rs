//! Squares by digits of eight limbs, each product of two digits once.
//!
//! With `D` = 2^256 and `L` lanes, lane `l` has digit `d[l]`, and sums columns `l` and
//! `l + L` of the triangle, the products `d[i] d[j]`, `i < j`, with `i + j` the column: as
//! the one gets longer the other gets shorter, so that all lanes have `L / 2` products of
//! digits, those with an even `l` one less. With `L` = 4:
//!
//! ```text
//! lane            0        1        2        3
//! column l                 01       02       03  12
//! column l + L    13       23
//! ```
//!
//! A lane takes one column after the other, each when it comes to it; both digits of a
//! product are handed to it. What is summed is doubled, and the squares of the digits, which
//! the lanes make of their own ([`triangle`]), are handed to the lanes whose columns they
//! are in. A column then is a number of two digits and a limb, for the digit of the lane and
//! those of the two lanes above; what still carries is found as in [`lookahead`].
//!
//! By hand, with `D` = 10 and 1234, whose `d[0]` is 4: columns 1 to 5 are 12, 8, 10, 3 and 2,
//! in all 240920. Twice that and the squares, 01040916, are 1522756.
//!
//! Numbers of more than `8 L` limbs are squared by columns of four limbs (Comba; Honda): the
//! maths is in [`columns`], how lanes share it in [`each_four`].
//!
//! Cost: `n (n + 1) / 2` products, `n` rounded up to eights, in the time of `(L + 1) / L` times
//! that where digits are `L`; two shuffles for eight products. No scratch. `r` is not an
//! operand.

use super::Batches;
use super::columns::each_four;
use super::lookahead;
use crate::columns::{self, Columns};
use crate::gpu::memory::{Number, Stride};
use crate::gpu::triangle;
use crate::gpu::warp::Group;
use crate::gpu::window::{self, Slide, Window};
use crate::montgomery::{load, store};
use bigint_core::kernel::SQUARE_DIGIT;
use bigint_core::{LIMB_BITS, Limb};

/// Limbs in a digit.
const LIMBS: usize = SQUARE_DIGIT;

type Digit = [Limb; LIMBS];

/// The squares that fall to the calling lane's group.
#[inline(always)]
pub fn school<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        let (group, r, a) = (work.group, work.r, work.a);
        if a.width() <= LIMBS as u32 * LANES {
            by_digits(group, r, a);
        } else {
            by_columns(group, r, a);
        }
    }
}

/// `r = a a`, cut or zero-extended to the width of `r`, by columns.
#[inline(always)]
fn by_columns<const LANES: u32>(
    group: Group<LANES>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
) {
    let sum = |k| {
        let mut pairs = Columns::default();
        pairs.add_pairs(k, a);
        pairs.sum().doubled_plus(columns::squares(k, a))
    };
    each_four(group, r.width(), sum, |at, limbs| {
        r.set_limbs(at, limbs);
    });
}

/// The same by digits, of which `a` has no more than there are lanes.
#[inline(always)]
fn by_digits<const LANES: u32>(
    group: Group<LANES>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
) {
    let lane = group.lane();
    let own: Digit = load(a, LIMBS as u32 * lane);
    let [lower, upper] = columns_of_triangle(group, own, a.width().div_ceil(LIMBS as u32));
    let mut squares = [[0; LIMBS]; 2];
    if LIMBS as u32 * lane < a.width() {
        squares = triangle::square(own);
    }
    let (lower, upper) = (lower.doubled(), upper.doubled());

    // What comes to the lowest lanes comes from the top ones, for the column `LANES` above.
    let from = |by: u32, of_lower: Limb, of_upper: Limb| {
        let (x, y) = (group.rotate_up(of_lower, by), group.rotate_up(of_upper, by));
        if lane < by { (0, x) } else { (x, y) }
    };
    let mut below = [[0; LIMBS]; 2];
    for i in 0..LIMBS {
        (below[0][i], below[1][i]) = from(1, lower.high[i], upper.high[i]);
    }
    let tops = from(2, lower.top, upper.top);
    let square = |column: u32| {
        let mut digit = [0; LIMBS];
        for i in 0..LIMBS {
            let [low, high] = squares.map(|half| group.shuffle(half[i], column / 2));
            digit[i] = if column % 2 == 0 { low } else { high };
        }
        digit
    };
    let sum = |low, below, top, square| {
        let (digit, x) = Window::<LIMBS>::add_digits(low, below);
        let (digit, y) = Window::<LIMBS>::add_digits(digit, square);
        let (digit, z) = Window::<LIMBS>::add(digit, top);
        (digit, x + y + z)
    };
    let (low, over) = sum(lower.low, below[0], tops.0, square(lane));
    let (high, over_high) = sum(upper.low, below[1], tops.1, square(LANES + lane));
    let overs = from(1, over, over_high);

    let carried = |digit: Digit, over: Limb, carry: Limb| {
        let (digit, generated) = Window::<LIMBS>::add(digit, over);
        let propagates = Window::<LIMBS>::are_all_ones(digit);
        let carries = lookahead::carries(
            group.ballot(generated != 0),
            group.ballot(propagates),
            carry,
        );
        let (digit, _) = Window::<LIMBS>::add(digit, (carries >> lane) as Limb & 1);
        (digit, (carries >> LANES) as Limb & 1)
    };
    let (low, carry) = carried(low, overs.0, 0);
    let (high, _) = carried(high, overs.1, carry);
    store(r, LIMBS as u32 * lane, low);
    store(r, LIMBS as u32 * (LANES + lane), high);
    let mut at = 2 * LIMBS as u32 * LANES + lane;
    while at < r.width() {
        r.set(at, 0);
        at += LANES;
    }
}

/// The lane's columns of the triangle, of a number of so many `digits`.
#[inline(always)]
fn columns_of_triangle<const LANES: u32>(
    group: Group<LANES>,
    own: Digit,
    digits: u32,
) -> [Column; 2] {
    let lane = group.lane();
    let first = |column: u32| (column + 1).saturating_sub(digits);
    // Of the lower column, where the lane comes to the upper one.
    let end = lane.div_ceil(2).saturating_sub(first(lane));
    let (mut lower, mut column) = (Column::default(), Column::default());
    let mut step = 0;
    loop {
        let is_next = step == end;
        lower = Column::select(is_next, column, lower);
        column = Column::select(is_next, Column::default(), column);
        if step == digits / 2 {
            return [lower, column];
        }
        let sum = if step < end { lane } else { lane + LANES };
        let i = first(sum) + if step < end { step } else { step - end };
        let j = sum.wrapping_sub(i);
        let (x, y) = (
            own.map(|limb| group.shuffle(limb, i)),
            own.map(|limb| group.shuffle(limb, j)),
        );
        if i < j {
            column = column.plus_product(x, y);
        }
        step += 1;
    }
}

/// What is summed of a column.
#[derive(Clone, Copy, Default)]
struct Column {
    low: Digit,
    high: Digit,
    top: Limb,
}

impl Column {
    #[inline(always)]
    fn select(first: bool, a: Self, b: Self) -> Self {
        let mask = Limb::from(first).wrapping_neg();
        Column {
            low: Window::<LIMBS>::select(mask, a.low, b.low),
            high: Window::<LIMBS>::select(mask, a.high, b.high),
            top: if first { a.top } else { b.top },
        }
    }

    #[inline(always)]
    fn plus_product(self, x: Digit, y: Digit) -> Self {
        let mut window = Window::<LIMBS>::new(self.low);
        let mut low = [0; LIMBS];
        for i in 0..LIMBS {
            let carry;
            (low[i], carry) = window.multiply(x[i], y);
            window.slide(window::top(self.high[i], carry));
        }
        let (high, over) = window.sum();
        Column {
            low,
            high,
            top: self.top + over,
        }
    }

    #[inline(always)]
    fn doubled(self) -> Self {
        let up = |limb: Limb, below: Limb| limb << 1 | below >> (LIMB_BITS - 1);
        let mut doubled = self;
        let mut below = 0;
        for i in 0..LIMBS {
            doubled.low[i] = up(self.low[i], below);
            below = self.low[i];
        }
        for i in 0..LIMBS {
            doubled.high[i] = up(self.high[i], below);
            below = self.high[i];
        }
        doubled.top = up(self.top, below);
        doubled
    }
}
