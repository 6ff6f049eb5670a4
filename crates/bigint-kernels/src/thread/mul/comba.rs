//! Multiplication by columns (Comba; [Honda 2015]).
//!
//! Column `k` of `a b` is the sum of `a[i] b[k-i]` over all `i`. It is summed in 96 bits; then its
//! low limb is limb `k` of the result, and the rest is carried to column `k+1`.
//!
//! Columns are taken four at a time, so that four limbs of `a` and four of `b` are loaded for
//! sixteen products. Group `I` of four limbs of `a` and group `J` of `b` have products in columns
//! `4(I+J)` to `4(I+J) + 6`. When all pairs of groups with `I + J = K` are summed, columns `4K` to
//! `4K+3` are complete, and columns `4K+4` to `4K+6` are begun.
//!
//! Bound: a column has at most 2^28 products below 2^64, and gets at most 2^64 - 1 from the column
//! below, so it is less than 2^93.
//!
//! Two operands of the same width, of 1 to 4 or of 8 limbs, are moved by the whole warp (see
//! [`tile`](crate::thread::tile)) and multiplied in registers.
//!
//! Cost: `ceil4(n) ceil4(m)` products, with an addition for each. Each limb of the result is
//! written once, and none is read. No scratch. `r` overlaps no operand.

use crate::columns::{Columns, STEP};
use crate::gpu::carry::Accumulator;
use crate::gpu::memory::{Number, Stride, Unit};
use crate::gpu::shared::Fours;
use crate::thread::own::Own;
use crate::thread::tile::{Tile, bring_in, bring_out};
use bigint_core::{LIMB_BITS, Limb};

/// The threads of a warp.
const WARP: u32 = 32;

/// Computes the products of a tile.
#[inline(always)]
pub fn products<S: Stride>(tile: Tile<S>) {
    match tile.dense_width {
        1 if tile.numbers() % 4 == 0 => short::<S, 1, true>(tile),
        1 => short::<S, 1, false>(tile),
        2 if tile.numbers() % 2 == 0 => short::<S, 2, true>(tile),
        2 => short::<S, 2, false>(tile),
        3 => four_threes(tile),
        4 => short::<S, 4, true>(tile),
        8 => eight(tile),
        _ => {
            let work = tile.work();
            product(work.r, work.a, work.b);
        }
    }
}

/// `r = a * b`, cut or zero-extended to the width of `r`.
#[inline(always)]
pub fn product(r: Number<impl Stride>, a: Number<impl Stride>, b: Number<impl Stride>) {
    let widths = [a.width(), b.width()];
    product_of(r, widths, |i| a.limbs(i), |i| b.limbs(i));
}

/// Sets `r` to the product of operands of these widths. `a` and `b` return the four limbs of an
/// operand from a place on, with zeros above its width.
#[inline(always)]
pub fn product_of(
    r: impl Own,
    widths: [u32; 2],
    a: impl Fn(u32) -> [Limb; STEP],
    b: impl Fn(u32) -> [Limb; STEP],
) {
    const FOUR: u32 = STEP as u32;
    let [n, m] = widths.map(|width| width.div_ceil(FOUR));
    let mut columns = Columns::default();
    let mut k = 0;
    while FOUR * k < r.width() {
        let mut i = (k + 1).saturating_sub(m);
        while i <= k && i < n {
            columns.add(a(FOUR * i), b(FOUR * (k - i)));
            i += 1;
        }
        r.set_four(FOUR * k, columns.next());
        k += 1;
    }
}

/// Multiplies operands of `N` limbs, where `N` is 1, 2 or 4: four limbs of an operand are one
/// number, or several. Only results pass through the slots. `WHOLE` says that the tile's length is
/// a multiple of four limbs.
#[inline(always)]
fn short<S: Stride, const N: usize, const WHOLE: bool>(tile: Tile<S>) {
    let lane = tile.lane();
    let slots = tile.slots::<3>();
    let a = tile.a().fours::<4, WHOLE>(4 * lane);
    let b = tile.b().fours::<4, WHOLE>(4 * lane);
    let (low, high) = match N {
        1 => {
            let ([r0, r1], [r2, r3]) = (one(a[0], b[0]), one(a[1], b[1]));
            let ([r4, r5], [r6, r7]) = (one(a[2], b[2]), one(a[3], b[3]));
            ([r0, r1, r2, r3], [r4, r5, r6, r7])
        }
        2 => (
            two([a[0], a[1]], [b[0], b[1]]),
            two([a[2], a[3]], [b[2], b[3]]),
        ),
        _ => {
            let mut columns = Columns::default();
            columns.add(a, b);
            (columns.next(), columns.next())
        }
    };
    slots.set_four(lane, 0, low);
    slots.set_four(lane, 1, high);
    tile.sync();
    bring_out::<2, WHOLE, 3>(tile.r(), slots, lane);
    // The next tile uses the same slots.
    tile.sync();
}

#[inline(always)]
fn one(a: Limb, b: Limb) -> [Limb; 2] {
    let product = u64::from(a) * u64::from(b);
    [product as Limb, (product >> LIMB_BITS) as Limb]
}

#[inline(always)]
fn two([a0, a1]: [Limb; 2], [b0, b1]: [Limb; 2]) -> [Limb; 4] {
    let mut column = Accumulator::default();
    column.add_product(a0, b0);
    let r0 = column.shift();
    column.add_product(a0, b1);
    column.add_product(a1, b0);
    let r1 = column.shift();
    column.add_product(a1, b1);
    let [r2, r3, _] = column.limbs();
    [r0, r1, r2, r3]
}

#[inline(always)]
fn three(a: [Limb; 3], b: [Limb; 3]) -> [Limb; 6] {
    let mut column = Accumulator::default();
    let mut limbs = [0; 6];
    for k in 0..5 {
        for i in 0..3 {
            if k >= i && k < i + 3 {
                column.add_product(a[i], b[k - i]);
            }
        }
        limbs[k] = column.shift();
    }
    [limbs[5], ..] = column.limbs();
    limbs
}

/// Multiplies operands of three limbs, four numbers at a time. A slot holds twelve limbs of `a` and
/// twelve of `b`, and then 24 limbs of products.
#[inline(always)]
fn four_threes<S: Stride>(tile: Tile<S>) {
    let lane = tile.lane();
    let slots = tile.slots::<7>();
    let is_whole = tile.numbers() % 4 == 0;
    let (a, b) = if is_whole {
        (
            threes::<true>(tile.a(), lane),
            threes::<true>(tile.b(), lane),
        )
    } else {
        (
            threes::<false>(tile.a(), lane),
            threes::<false>(tile.b(), lane),
        )
    };
    let set = |k: u32, from: u32, four: [Limb; 4]| {
        let at = lane + WARP * k;
        slots.set_four(at / 3, from + at % 3, four);
    };
    set(0, 0, a[0]);
    set(1, 0, a[1]);
    set(2, 0, a[2]);
    set(0, 3, b[0]);
    set(1, 3, b[1]);
    set(2, 3, b[2]);
    tile.sync();
    let slot = slots.of_lane(lane);
    let (a, b): ([Limb; 12], [Limb; 12]) = (slot.limbs(0), slot.limbs(12));
    let product = |k: usize| {
        let limbs = |x: [Limb; 12]| [x[3 * k], x[3 * k + 1], x[3 * k + 2]];
        three(limbs(a), limbs(b))
    };
    let [a0, a1, a2, a3, a4, a5] = product(0);
    let [b0, b1, b2, b3, b4, b5] = product(1);
    slot.set_limbs(0, [a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5]);
    let [a0, a1, a2, a3, a4, a5] = product(2);
    let [b0, b1, b2, b3, b4, b5] = product(3);
    slot.set_limbs(12, [a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5]);
    tile.sync();
    let four = |k: u32| {
        let at = lane + WARP * k;
        slots.four(at / 6, at % 6)
    };
    let fours = [four(0), four(1), four(2), four(3), four(4), four(5)];
    if is_whole {
        set_sixes::<true>(tile.r(), lane, fours);
    } else {
        set_sixes::<false>(tile.r(), lane, fours);
    }
    // The next tile uses the same slots.
    tile.sync();
}

/// The lane's three groups of four limbs of a run, which are 32 groups apart.
#[inline(always)]
fn threes<const WHOLE: bool>(run: Number<Unit>, lane: u32) -> [[Limb; 4]; 3] {
    let four = |k: u32| run.fours::<4, WHOLE>(4 * (lane + WARP * k));
    [four(0), four(1), four(2)]
}

/// Sets the lane's six groups of four limbs of a run, which are 32 groups apart.
#[inline(always)]
fn set_sixes<const WHOLE: bool>(run: Number<Unit>, lane: u32, fours: [[Limb; 4]; 6]) {
    let set = |k: u32, four| run.set_fours::<4, WHOLE>(4 * (lane + WARP * k), four);
    let [u, v, w, x, y, z] = fours;
    set(0, u);
    set(1, v);
    set(2, w);
    set(3, x);
    set(4, y);
    set(5, z);
}

/// Multiplies operands of eight limbs. A slot holds `a` and `b`, and then the product.
#[inline(always)]
fn eight<S: Stride>(tile: Tile<S>) {
    let lane = tile.lane();
    let slots = tile.slots::<5>();
    bring_in::<2, 0, 5>(tile.a(), slots, lane, 0);
    bring_in::<2, 0, 5>(tile.b(), slots, lane, 2);
    tile.sync();
    let (a0, a1) = (slots.four(lane, 0), slots.four(lane, 1));
    let (b0, b1) = (slots.four(lane, 2), slots.four(lane, 3));
    let mut columns = Columns::default();
    columns.add(a0, b0);
    slots.set_four(lane, 0, columns.next());
    columns.add(a0, b1);
    columns.add(a1, b0);
    slots.set_four(lane, 1, columns.next());
    columns.add(a1, b1);
    slots.set_four(lane, 2, columns.next());
    slots.set_four(lane, 3, columns.next());
    tile.sync();
    bring_out::<4, true, 5>(tile.r(), slots, lane);
    tile.sync();
}
