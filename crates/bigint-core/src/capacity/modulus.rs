//! How much of a modulus or a divisor workers have in registers, and into which windows
//! exponents are cut.

/// The widest modulus or divisor, in limbs, that a warp has in registers; the powers' may
/// be twice as wide ([`power_digit`]).
pub const WIDEST_MODULUS: usize = 512;

/// Limbs of a modulus, or of a divisor, of `width` limbs that each of `lanes` lanes has in
/// registers: the fewest there is code for; 0 where they do not hold it.
#[inline(always)]
pub const fn montgomery_digit(width: usize, lanes: u32) -> usize {
    // Lanes are a power of two.
    let limbs = (width + lanes as usize - 1) >> lanes.trailing_zeros();
    match (lanes, limbs) {
        (1, 0..=4) => 4,
        (_, 0..=8) => 8,
        (1, 0..=12) => 12,
        (_, 0..=16) => 16,
        _ => 0,
    }
}

/// Limbs of a power's modulus that each of `lanes` lanes has, as of a [modulus](montgomery_digit),
/// for whose widest digits there is code as well.
#[inline(always)]
pub const fn power_digit(width: usize, lanes: u32) -> usize {
    match montgomery_digit(width, lanes) {
        0 if width <= lanes as usize * WIDEST_DIGIT => WIDEST_DIGIT,
        digit => digit,
    }
}

/// Limbs of a divisor that each of `lanes` lanes has, for which there is code for 16 and 32.
#[inline(always)]
pub const fn divisor_digit(width: usize, lanes: u32) -> usize {
    match power_digit(width, lanes) {
        0 => 0,
        digit if digit <= 16 => 16,
        digit => digit,
    }
}

/// The most limbs of a modulus that a lane has in registers.
const WIDEST_DIGIT: usize = 32;

/// Bits of the windows that an exponent of `width` limbs is cut into, by what the table and
/// the products cost; at most `most`.
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

/// Bits of the windows of a base's table that is made once. Even: in constant time, where windows are
/// read whole, lanes and threads read half of one at a time.
pub const TABLE_WINDOW: usize = 6;

/// The widest windows for a modulus of `width` limbs: where the whole table is read for each
/// (`scan`), or there are two (`pair`), the tables of all that a device computes at once must stay
/// near it.
#[inline(always)]
pub const fn widest_window(width: usize, scan: bool, pair: bool) -> usize {
    match (width, scan, pair) {
        (0..=16, _, true) | (17..=32, true, _) => 3,
        (33..=64, true, false) => 5,
        (_, true, _) | (_, _, true) | (13..=16, ..) => 4,
        _ => 7,
    }
}
