//! Cutting limbs into two digits of 16 bits each, and turning coefficients back into limbs.

use crate::gpu::float::{self, NEAREST_OFFSET};
use bigint_core::Limb;

/// The lower and the upper digit of a limb, from 0 to 2^16 - 1.
#[inline(always)]
pub fn plain(limb: Limb) -> [f64; 2] {
    [float::whole(limb & 0xffff), float::whole(limb >> 16)]
}

/// The two balanced digits of a limb, from -2^15 to 2^15. A digit whose top bit is set counts 2^16
/// less, and the digit above it 1 more. `below` is the limb below. If the limb `is_top`, there is
/// no digit above its upper one, which is then not balanced.
#[inline(always)]
pub fn balanced(limb: Limb, below: Limb, is_top: bool) -> [f64; 2] {
    let lower = i32::from(limb as i16) + (below >> 31) as i32;
    let upper = match is_top {
        true => (limb >> 16) as i32,
        false => limb as i32 >> 16,
    };
    [
        float::signed(lower),
        float::signed(upper + (limb >> 15 & 1) as i32),
    ]
}

/// The number that [`lower`] adds to a limb's sum, so that no sum is negative. `2^61 - 2^29` in
/// each limb telescopes: `2^61` in a limb is `2^29` in the limb above. All together they are
/// `-2^29` in the lowest limb, and `2^29` above the highest.
pub const OFFSET: u64 = (1 << 61) - TELESCOPED;

/// The amount that is missing in the lowest limb's sum, and that is too much above the highest
/// limb.
pub const TELESCOPED: u64 = 1 << 29;

/// The part of a limb's sum that comes from its lower coefficient, `x scale`, with an offset. The
/// coefficient is below 2^45 in size.
#[inline(always)]
pub fn lower(x: f64, scale: f64) -> u64 {
    float::nearest(x, scale)
        .wrapping_sub(NEAREST_OFFSET)
        .wrapping_add(OFFSET)
}

/// The part of a limb's sum that comes from its upper coefficient: 2^16 times `x scale`. The sum
/// is below 2^62.
#[inline(always)]
pub fn upper(x: f64, scale: f64) -> u64 {
    // The offset of `nearest` is shifted out.
    float::nearest(x, scale) << 16
}
