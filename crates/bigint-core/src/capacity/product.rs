//! Where limbs of products and quotients are on their way between device memory and registers: in
//! slots, in places and on stages of shared memory, and how much of it a launch needs for them.

use crate::algorithm::{Algorithm, BLOCK};
use crate::kernel::SHARED_BYTES;

/// Limbs of the widest divisor that a thread keeps in registers.
pub const DIVISOR_IN_REGISTERS: usize = 32;

/// Fours of limbs in a slot of shared memory, for each thread that has a product of `n` by
/// `m` limbs to itself, of which `width` are wanted; zero where numbers do not go by way of
/// slots. The number is odd, so that neighbouring threads meet in no bank.
///
/// A slot takes both operands and then the product, for 32 limbs also half of the first
/// row's; of operands of 1, 2 or 4 limbs only products come here, of 3 limbs four numbers.
pub const fn slot_fours(algorithm: Algorithm, n: usize, m: usize, width: usize) -> usize {
    match (algorithm, n) {
        _ if n != m || width != n + m => 0,
        (Algorithm::School, 8) => 5,
        (Algorithm::School, 16) => 9,
        (Algorithm::School, 32) => 21,
        (Algorithm::Comba, 1 | 2 | 4) => 3,
        (Algorithm::Comba, 3) => 7,
        (Algorithm::Comba, 8) => 5,
        _ => 0,
    }
}

/// The widest operand, in limbs, of a product by rows of a thread that goes by way of places.
pub const WIDEST_PLACED: usize = 48;

/// Limbs that a thread which multiplies by rows extends operands of `n` and `m` limbs to,
/// of whose product `width` are wanted, where they go by way of places in shared memory;
/// zero where they do not. Not more than half of an operand is zeros.
#[inline]
pub const fn placed_width(n: usize, m: usize, width: usize) -> usize {
    let (narrower, wider) = if n < m { (n, m) } else { (m, n) };
    if wider < 5 || wider > WIDEST_PLACED {
        return 0;
    }
    let placed = wider.next_power_of_two();
    if 2 * narrower > placed && width <= 2 * placed {
        placed
    } else {
        0
    }
}

/// Limbs from a thread's place to its neighbour's, for numbers of `width` limbs: not a
/// multiple of 4, so that no more than two threads of a warp meet in a bank.
#[inline]
pub const fn place(width: usize) -> usize {
    if width.is_multiple_of(4) {
        width + 1
    } else {
        width
    }
}

/// Bytes of shared memory for each thread whose numbers go by way of places: one for the
/// first operand, one for the second, and one for the product, which is the second's if the
/// product is whole.
#[inline]
pub const fn place_bytes(n: usize, m: usize, width: usize) -> usize {
    let second = if n + m > width { place(m) } else { 0 };
    4 * (place(n) + second + place(width))
}

/// Limbs of each of a warp's numbers that are on their way between device and shared memory
/// together.
pub const PIECE: u32 = 8;

/// Bytes of shared memory for each thread that divides in registers: a piece of the dividend, and
/// one of the quotient or the remainder.
#[inline]
pub const fn piece_bytes() -> usize {
    2 * 4 * place(PIECE as usize)
}

/// Limbs of a number that a thread squares, and each of the lanes has which square it together.
pub const SQUARE_DIGIT: usize = 32;

/// Fours of limbs of shared memory for each such digit: an odd number, so that lanes meet in no bank.
pub const SQUARE_FOURS: usize = SQUARE_DIGIT / 4 + 1;

/// Bytes of shared memory for each number of `n` limbs that so many lanes square by digits; zero
/// where they do not.
#[inline]
pub const fn square_bytes(n: usize, lanes: u32) -> usize {
    match n <= SQUARE_DIGIT * lanes as usize {
        true => 16 * SQUARE_FOURS * lanes as usize,
        false => 0,
    }
}

/// Fours of limbs of shared memory for each number that lanes of a warp multiply by rows, where
/// limbs of contiguous operands and result, of these widths in this order, cannot be moved four
/// at a time in device memory; zero where they can, and where a number is too narrow or there
/// is no room. The number is odd, so that groups of lanes meet in fewer banks.
#[inline]
pub const fn staged_fours([n, m, width]: [u64; 3], lanes: u32) -> usize {
    let fours = (n.div_ceil(4) + m.div_ceil(4) + width.div_ceil(4)) | 1;
    let is_narrow = n < 32 || m < 32 || width < 32;
    let has_room = fours * 16 * (BLOCK / 2 / lanes) as u64 <= SHARED_BYTES as u64;
    match (n | m | width).is_multiple_of(4) || is_narrow || width > n + m || !has_room {
        true => 0,
        false => fours as usize,
    }
}

/// Numbers that a thread of such a kernel takes at a time: as many as fill fours of limbs, which
/// are moved at once.
#[inline]
pub const fn numbers_at_a_time(algorithm: Algorithm, n: usize, m: usize) -> usize {
    match (algorithm, n) {
        _ if n != m => 1,
        // Reckoned: a table of the four would stand in memory.
        (Algorithm::Comba, 1..=4) => 4 >> n.trailing_zeros(),
        _ => 1,
    }
}
