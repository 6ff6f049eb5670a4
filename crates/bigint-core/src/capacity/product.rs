//! The shared memory through which limbs of products and quotients pass between device memory and
//! registers: slots, places, pieces and stages, and how much of it a launch needs for each.

use crate::algorithm::{Algorithm, BLOCK};
use crate::kernel::SHARED_BYTES;

/// The widest divisor, in limbs, that a thread keeps in registers.
pub const DIVISOR_IN_REGISTERS: usize = 32;

/// The size of a slot of shared memory, in groups of four limbs. A thread has one slot if it
/// computes `width` limbs of a product of `n` by `m` limbs by itself; the size is zero if the
/// numbers do not pass through slots. It is odd, so that neighbouring threads meet in no bank.
///
/// A slot holds both operands and then the product. For operands of 32 limbs it also holds half of
/// the first row's product. For operands of 1, 2 or 4 limbs it holds products alone, and for 3
/// limbs those of four numbers.
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

/// The widest operand, in limbs, of a thread's product by rows that passes through places.
pub const WIDEST_PLACED: usize = 48;

/// The width, in limbs, to which a thread that multiplies by rows extends both operands, of `n` and
/// `m` limbs, in its places in shared memory. It is zero if the numbers do not pass through places.
/// `width` is the number of limbs of the product that are wanted. At most half of an extended
/// operand is padding.
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

/// The distance, in limbs, from a thread's place to its neighbour's, for numbers of `width` limbs.
/// It is no multiple of 4, so that at most two threads of a warp meet in a bank.
#[inline]
pub const fn place(width: usize) -> usize {
    if width.is_multiple_of(4) {
        width + 1
    } else {
        width
    }
}

/// The bytes of shared memory for each thread whose numbers pass through places. There is a place
/// for the first operand, one for the second and one for the product; a whole product, of `n + m`
/// limbs, shares its place with the second operand.
#[inline]
pub const fn place_bytes(n: usize, m: usize, width: usize) -> usize {
    let second = if n + m > width { place(m) } else { 0 };
    4 * (place(n) + second + place(width))
}

/// The limbs of each number that a warp moves together between device memory and shared memory.
pub const PIECE: u32 = 8;

/// The bytes of shared memory for each thread that divides in registers: one [`PIECE`] of the
/// dividend, and one of the quotient or the remainder.
#[inline]
pub const fn piece_bytes() -> usize {
    2 * 4 * place(PIECE as usize)
}

/// The limbs of the digit that a thread squares by itself, or that each lane holds of a number
/// which lanes square together.
pub const SQUARE_DIGIT: usize = 32;

/// The shared memory for each digit of [`SQUARE_DIGIT`] limbs, in groups of four limbs. It is odd,
/// so that lanes meet in no bank.
pub const SQUARE_FOURS: usize = SQUARE_DIGIT / 4 + 1;

/// The bytes of shared memory for each number of `n` limbs that `lanes` lanes square by digits;
/// zero if it is too wide for that.
#[inline]
pub const fn square_bytes(n: usize, lanes: u32) -> usize {
    match n <= SQUARE_DIGIT * lanes as usize {
        true => 16 * SQUARE_FOURS * lanes as usize,
        false => 0,
    }
}

/// The size, in groups of four limbs, of the stage in shared memory for each product that lanes of
/// a warp compute by rows. The stage serves contiguous operands of `n` and `m` limbs and a result
/// of `width` limbs that cannot be moved four limbs at a time in device memory. The size is zero if
/// they can, if one of the three is too narrow, or if there is no room. It is odd, so that groups
/// of lanes meet in fewer banks.
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

/// The numbers that a thread with a [slot](slot_fours) takes at a time: as many as fill whole
/// groups of four limbs, which are moved at once.
#[inline]
pub const fn numbers_at_a_time(algorithm: Algorithm, n: usize, m: usize) -> usize {
    match (algorithm, n) {
        _ if n != m => 1,
        // This is 4, 2, 4 and 1 for 1 to 4 limbs. It is computed, as a table would be read from
        // memory.
        (Algorithm::Comba, 1..=4) => 4 >> n.trailing_zeros(),
        _ => 1,
    }
}
