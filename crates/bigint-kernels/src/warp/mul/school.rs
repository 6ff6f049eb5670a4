//! Multiplication by rows (School; Langer), each row by rotating sums (Honda).
//!
//! `a b` is the sum over `j` of the rows `a b[j..j+LANES] B^j`, `B` = 2^32. Lane
//! `t` holds the limb `b[j+t]` and, while step `i` runs, the sum at weight `i+t`
//! of the row. All lanes multiply their limb of `b` by `a[i]`, which the lane
//! that loaded it hands round. The low half of the product belongs to the lane's
//! own weight; then the sums move one lane down, so that the lane's weight
//! becomes `i+t+1`, and the high half and the carry belong there:
//!
//! ```text
//! v = a[i] b[j+t] + sum              below B^2
//! sum' = (v mod B of lane t+1) + floor(v / B) + carry        sum' + carry' B
//! ```
//!
//! `sum'` is below `2B`, so a carry is 0 or 1. The lowest lane's `v mod B` is the
//! row's limb `i`. A chunk of these is added to what earlier rows left in `r`.
//! Limbs of `a` past its end are zero: the steps push the row's upper limbs out,
//! and what is left in the lanes at the end are the row's top limbs, where no
//! earlier row has been.
//!
//! Each lane reads from `r` what it wrote there itself, as rows and chunks begin
//! at multiples of `LANES`: no barrier is needed.
//!
//! Cost: three shuffles and one product a step, two votes a chunk;
//! `ceil(n) ceil(m)` products, widths rounded up to chunks. No scratch. `r` is
//! not an operand.

use crate::gpu::memory::{Number, Stride};
use crate::gpu::warp::Group;
use crate::warp::add;
use bigint_core::{LIMB_BITS, Limb};

/// `r = a * b`, cut or zero-extended to the width of `r`.
#[inline(always)]
pub fn product<const LANES: u32>(
    group: Group<LANES>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
) {
    let lane = group.lane();
    // Limbs of `r` from here on are zero.
    let width = r.width().min(a.width() + b.width());
    let product = r.part(0, width);
    let mut j = 0;
    while j < width && j < b.width() {
        let digit = b.limb(j + lane);
        let mut sum: Limb = 0;
        let mut sum_carry: u64 = 0;
        let mut carry = 0;
        let mut i = 0;
        while i < a.width() && i + j < width {
            let limbs_of_a = a.limb(i + lane);
            let mut row = 0;
            for step in 0..LANES {
                let limb_of_a = group.shuffle(limbs_of_a, step);
                let v = u64::from(limb_of_a) * u64::from(digit) + u64::from(sum);
                let lowest = group.shuffle(v as Limb, 0);
                if lane == step {
                    row = lowest;
                }
                let above = group.rotate_down(v as Limb);
                let above = if lane + 1 == LANES { 0 } else { above };
                let moved = u64::from(above) + (v >> LIMB_BITS) + sum_carry;
                sum = moved as Limb;
                sum_carry = moved >> LIMB_BITS;
            }
            // The first row finds nothing in `r`.
            let own = i + j + lane;
            let earlier = if j == 0 { 0 } else { product.limb(own) };
            let (limb, carries) = add::chunk(group, row, earlier, carry);
            product.set(own, limb);
            carry = (carries >> LANES) as Limb & 1;
            i += LANES;
        }
        // The carry of the top lane is zero: the row ends there.
        let below = group.rotate_up(sum_carry as Limb, 1);
        let (limb, _) = add::chunk(group, sum, below, carry);
        product.set(i + j + lane, limb);
        j += LANES;
    }
    let mut at = width;
    while at < r.width() {
        r.set(at + lane, 0);
        at += LANES;
    }
}
