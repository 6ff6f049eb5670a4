//! Multiplication by columns (Comba; [Honda 2015]), with one column for each lane of a whole
//! warp.
//!
//! Column `k` of `a b` is the sum of `a[i] b[k-i]` over all `i`, in 96 bits. In a chunk of
//! columns that begins at `k`, lane `t` sums column `k + t`. Let a chunk of `a` begin at `i`,
//! and let `j = k - i`. In step `s` every lane multiplies by `a[i+s]`, which the lane that
//! loaded it hands to the others. Lane `t` needs
//!
//! ```text
//! b[j+t-s]:  from lane t-s of the chunk at j           where t >= s
//!            from lane t-s+LANES of the chunk below    where t < s
//! ```
//!
//! So lane `u` gives its limb of the chunk at `j` if `u < LANES - s`, and of the chunk below if
//! not. One rotation by `s` then brings each lane its limb. The next chunk of `a` needs the
//! chunk below and the one below that.
//!
//! When a chunk's columns are summed, the middle and the high limb of each sum are added one
//! and two lanes up. Limbs that pass the top lane begin the lowest columns of the next chunk.
//!
//! Bound: a column has at most 2^28 products below 2^64. With the limbs from the chunk below it
//! is less than 2^93.
//!
//! Cost: two shuffles and one product in each lane for each step, and
//! `ceil(n) (ceil(m) + LANES)` products in all, with widths rounded up to chunks. Each limb of
//! the result is written once, and none is read. No scratch. `r` overlaps no operand.

use crate::gpu::carry::Accumulator;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::warp::Group;
use crate::warp::{LANES, add};
use bigint_core::Limb;

/// `r = a * b`, cut or zero-extended to the width of `r`.
#[inline(always)]
pub fn product(
    group: Group<LANES>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
) {
    let lane = group.lane();
    // The chunks of `b` end at `m`.
    let m = b.width().next_multiple_of(LANES);
    let mut column = Accumulator::default();
    let mut k = 0;
    while k < r.width() {
        // The chunk at `j = m` lies above `b`; the one below it is the top chunk of `b`.
        let mut i = k.saturating_sub(m);
        let end = a.width().min(k + LANES);
        let mut limb_of_b = b.limb(k - i + lane);
        while i < end {
            let limbs_of_a = a.limb(i + lane);
            let below = if i == k {
                0
            } else {
                b.limb(k - i - LANES + lane)
            };
            for s in 0..LANES {
                let limb_of_a = group.shuffle(limbs_of_a, s);
                let given = if lane + s < LANES { limb_of_b } else { below };
                column.add_product(limb_of_a, group.rotate_up(given, s));
            }
            limb_of_b = below;
            i += LANES;
        }
        let limb;
        (limb, column) = carry_up(group, column);
        r.set(k + lane, limb);
        k += LANES;
    }
}

/// Adds up a chunk of columns. Returns the lane's limb, and the value with which the lane
/// begins its column of the next chunk.
#[inline(always)]
fn carry_up(group: Group<LANES>, column: Accumulator) -> (Limb, Accumulator) {
    let lane = group.lane();
    let [low, middle, high] = column.limbs();
    // The values that lane 0, or lanes 0 and 1, receive here come from the top of the chunk and
    // belong to the chunk above.
    let middle = group.rotate_up(middle, 1);
    let high = group.rotate_up(high, 2);
    let (mut x, mut next) = (u64::from(low), 0);
    if lane < 1 {
        next += u64::from(middle);
    } else {
        x += u64::from(middle);
    }
    if lane < 2 {
        next += u64::from(high);
    } else {
        x += u64::from(high);
    }
    // `x` is below 3B: its carries, 0 to 2, go one lane up.
    let carried = group.rotate_up((x >> 32) as Limb, 1);
    let (y, carried) = if lane == 0 {
        (0, carried)
    } else {
        (carried, 0)
    };
    let (limb, carries) = add::chunk(group, x as Limb, y, 0);
    if lane == 0 {
        next += u64::from(carried) + (carries >> LANES & 1);
    }
    let mut begun = Accumulator::default();
    begun.add(next);
    (limb, begun)
}
