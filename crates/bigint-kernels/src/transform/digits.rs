//! Limbs to digits of 16 bits, two each, and coefficients back to limbs.

use crate::gpu::float::{self, NEAREST_OFFSET};
use bigint_core::Limb;

/// The lower and the upper digit of a limb, from 0 to 2^16 - 1.
#[inline(always)]
pub fn plain(limb: Limb) -> [f64; 2] {
    [float::whole(limb & 0xffff), float::whole(limb >> 16)]
}

/// Balanced digits, from -2^15 to 2^15: a digit of which the top bit is set counts 2^16
/// less, and the digit above it 1 more. `below` is the limb below; the digit above the
/// upper one is that of another limb, or there is none where `is_top`.
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

/// What [`lower`] adds to a limb's sum, so that none is negative. With the limbs counted as
/// they weigh, `2^61` in each is `2^29` in each but the lowest, and 2^29 above the highest.
const OFFSET: u64 = (1 << 61) - TELESCOPED;

/// What is missing in the lowest limb's sum, and too much above the highest limb.
pub const TELESCOPED: u64 = 1 << 29;

/// A limb's lower coefficient, which is `x scale` and below 2^45 in size, with an offset.
#[inline(always)]
pub fn lower(x: f64, scale: f64) -> u64 {
    float::nearest(x, scale)
        .wrapping_sub(NEAREST_OFFSET)
        .wrapping_add(OFFSET)
}

/// The part of a limb's sum that its upper coefficient adds: 2^16 times it. The sum is below 2^62.
#[inline(always)]
pub fn upper(x: f64, scale: f64) -> u64 {
    // What `nearest` has too much is shifted out.
    float::nearest(x, scale) << 16
}
