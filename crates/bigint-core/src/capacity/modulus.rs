//! The part of a modulus or divisor that each worker holds in registers, and the windows into which
//! exponents are cut.

/// The widest modulus, in limbs, of Montgomery products that the lanes of a warp hold in registers.
/// A divisor or the modulus of a power may be twice as wide ([`power_digit`]).
pub const WIDEST_MODULUS: usize = 512;

/// The registers, in limbs, in which each of `lanes` lanes holds its part of a modulus of `width`
/// limbs: the fewest for which kernels have code, or 0 if the modulus is too wide for these lanes.
#[inline(always)]
pub const fn montgomery_digit(width: usize, lanes: u32) -> usize {
    // The number of lanes is a power of two, so this is `width / lanes` rounded up.
    let limbs = (width + lanes as usize - 1) >> lanes.trailing_zeros();
    match (lanes, limbs) {
        (1, 0..=4) => 4,
        (_, 0..=8) => 8,
        (_, 0..=12) => 12,
        (_, 0..=16) => 16,
        _ => 0,
    }
}

/// The registers, in limbs, in which each of `lanes` lanes holds its part of the modulus of a
/// power. It is that of a [Montgomery product](montgomery_digit), except that there is code for 32
/// limbs as well, and that lanes have 24, but not 12.
#[inline(always)]
pub const fn power_digit(width: usize, lanes: u32) -> usize {
    match (lanes, montgomery_digit(width, lanes)) {
        (2.., 12) => 16,
        (2.., 0) if width <= lanes as usize * 24 => 24,
        (_, 0) if width <= lanes as usize * WIDEST_DIGIT => WIDEST_DIGIT,
        (_, digit) => digit,
    }
}

/// The registers, in limbs, in which each of `lanes` lanes holds its part of a divisor: 16 or 32,
/// for which kernels have code, or 0 if the divisor is too wide for these lanes.
#[inline(always)]
pub const fn divisor_digit(width: usize, lanes: u32) -> usize {
    match power_digit(width, lanes) {
        0 => 0,
        digit if digit <= 16 => 16,
        _ => WIDEST_DIGIT,
    }
}

/// The most limbs of a modulus that a lane holds in registers.
const WIDEST_DIGIT: usize = 32;

/// The bits of the windows into which an exponent of `width` limbs is cut, at most `most`: the
/// choice for which the table and the products together cost least.
#[inline(always)]
pub const fn power_window(width: usize, most: usize) -> usize {
    let best = match width {
        0..=3 => 3,
        4..=10 => 4,
        11..=47 => 5,
        48..=191 => 6,
        _ => 7,
    };
    if best < most { best } else { most }
}

/// The bits of a window of [`PowFixed`](crate::Operation::PowFixed), whose table of a base's powers
/// is made once. The number is even: in constant time, where the entries of a window are all read,
/// lanes and threads take a window in two halves.
pub const TABLE_WINDOW: usize = 6;

/// The widest windows for a modulus of `width` limbs. Where the whole table is read for each window
/// (`scan`), or there are two tables (`pair`), windows are narrower, so that the tables of all
/// numbers that a device computes at once stay in its caches.
#[inline(always)]
pub const fn widest_window(width: usize, scan: bool, pair: bool) -> usize {
    match (width, scan, pair) {
        (0..=16, _, true) | (17..=32, true, _) => 3,
        (33..=64, true, false) => 5,
        (_, true, _) | (_, _, true) | (13..=16, ..) => 4,
        _ => 7,
    }
}
