//! Masks of lanes, a bit for each lane of a warp, and writes of the lanes of a mask alone.

use crate::ir::{Longs, Words};

/// Every lane of a warp.
pub(crate) const FULL: u32 = u32::MAX;

/// The lanes of a mask, ascending.
#[inline(always)]
pub(crate) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            lane
        })
    })
}

/// A bit per lane, as an array: masks become vector compares.
const BITS: Words = {
    let mut bits = [0; 32];
    let mut i = 0;
    while i < 32 {
        bits[i] = 1 << i;
        i += 1;
    }
    bits
};

/// Writes the lanes of `mask`.
#[inline(always)]
pub(super) fn put(d: &mut Words, value: &Words, mask: u32) {
    if mask == FULL {
        *d = *value;
        return;
    }
    for i in 0..32 {
        d[i] = if mask & BITS[i] != 0 { value[i] } else { d[i] };
    }
}

/// Writes the lanes of `mask`.
#[inline(always)]
pub(super) fn put_long(d: &mut Longs, value: &Longs, mask: u32) {
    if mask == FULL {
        *d = *value;
        return;
    }
    for i in 0..32 {
        d[i] = if mask & BITS[i] != 0 { value[i] } else { d[i] };
    }
}

/// Copies bytes between parameter areas.
pub(super) fn hand_over_bytes(
    from: &[Words],
    offset: u32,
    to: &mut [Words],
    start: u32,
    bytes: u32,
    mask: u32,
) {
    for byte in (0..bytes).step_by(4) {
        let row = from[(offset + byte) as usize / 4];
        let shift = 8 * (offset % 4);
        let take = (bytes - byte).min(4);
        let ones = u32::MAX >> (32 - 8 * take);
        let place = 8 * (start % 4);
        let d = &mut to[(start + byte) as usize / 4];
        for lane in lanes_of(mask) {
            d[lane] = d[lane] & !(ones << place) | (row[lane] >> shift & ones) << place;
        }
    }
}
