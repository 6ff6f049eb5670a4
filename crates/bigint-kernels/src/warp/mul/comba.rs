//! Multiplication by columns (Comba; [Honda 2015]), one column for each lane of a whole warp.
//!
//! Column `k` of `a b` is the sum of `a[i] b[k-i]` over all `i`, in 96 bits. Lane
//! `t` sums column `k + t` of a chunk of columns that begins at `k`. Let a chunk
//! of `a` begin at `i`, and let `j = k - i`. In step `s` every lane multiplies by
//! `a[i+s]`, which the lane that loaded it hands round, and needs
//!
//! ```text
//! b[j+t-s]:  from lane t-s of the chunk at j           where t >= s
//!            from lane t-s+LANES of the chunk below    where t < s
//! ```
//!
//! So lane `u` gives its limb of the chunk at `j` where `u < LANES - s` and of
//! the chunk below where not, and one rotation by `s` brings each lane its limb.
//! The next chunk of `a` needs the chunk below and the one below that.
//!
//! When a chunk's columns are summed, the parts of the sums are added one and two
//! lanes up; what passes the top lane begins the next chunk's lowest columns.
//!
//! Bound: a column has at most 2^28 products below 2^64: less than 2^93, with
//! what comes from the chunk below.
//!
//! Cost: two shuffles and one product a step, for `ceil(n) (ceil(m) + LANES)`
//! products, widths rounded up to chunks; each limb of the result is written
//! once and none is read. No scratch. `r` is not an operand.

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
    // Chunks of `b`, rounded up, end here.
    let m = b.width().next_multiple_of(LANES);
    let mut column = Accumulator::default();
    let mut k = 0;
    while k < r.width() {
        // The chunk at `j = m` lies above `b`; the one below it is the top one.
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

/// Adds up a chunk of columns; returns its limb, and the column of the next
/// chunk that the lane begins with.
#[inline(always)]
fn carry_up(group: Group<LANES>, column: Accumulator) -> (Limb, Accumulator) {
    let lane = group.lane();
    let [low, middle, high] = column.limbs();
    // What lane 0, or lanes 0 and 1, receive here comes from the top of the chunk
    // and belongs to the chunk above.
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
