//! The columns of Lehmer's algorithm: each thread has a column of pairs of signed digits.

/// The pairs of digits that a pass takes at a time.
const STEP: usize = 4;

/// The zeros below the lowest digits of both numbers. They are read as top digits of numbers that
/// have fewer digits.
pub const ZEROS_BELOW: usize = 3;

/// The pairs of a column for two numbers of `n` and `m` limbs: the zeros below, one digit more than
/// the wider number has limbs, and the pairs above that a pass by fours reads.
#[inline(always)]
pub const fn gcd_digits(n: usize, m: usize) -> usize {
    ZEROS_BELOW + (wider(n, m) + STEP).next_multiple_of(STEP)
}

/// The pairs of a column that also has cofactors, which begin at its other end.
///
/// In every round the longest number times the longest cofactor is below `2^20` times the wider
/// operand. (A quotient is off by less than `2^-18` of itself. Doubles are off by `2^-53`, which
/// entries of `2^30` turn into `2^-22` of a number of which `2^-29` should be left.) So number and
/// cofactor together have two digits more than the wider operand has limbs, and six pairs are left
/// between them. While a quotient is taken in several rounds they are longer by the part of it that
/// is left, which has up to 97 bits, or three digits. The rest is room for the three digits that a
/// round two places up adds, and for the zeros that a pass by fours reads: three above the numbers,
/// and four above the cofactors if at most a digit of a quotient is left.
#[inline(always)]
pub const fn inverse_digits(n: usize, m: usize) -> usize {
    ZEROS_BELOW + (wider(n, m) + 2 * STEP).next_multiple_of(STEP)
}

const fn wider(n: usize, m: usize) -> usize {
    if n > m { n } else { m }
}

/// The bytes of a pair of digits.
pub(crate) const PAIR: usize = 8;

/// The most bytes of shared memory of a block of columns, on a device that has as many.
pub(crate) const COLUMN_BYTES: u32 = 96 << 10;

/// The bytes of a warp's columns of `digits` pairs.
#[inline(always)]
pub(crate) const fn columns_of_warp(digits: usize) -> usize {
    32 * PAIR * digits
}
