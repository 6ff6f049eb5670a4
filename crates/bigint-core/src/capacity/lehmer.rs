//! Where the signed digits of Lehmer's steps stand: a column of pairs for each thread.

/// Pairs of digits that a pass takes at a time.
const STEP: usize = 4;

/// Zeros below the lowest digits of both numbers, for who looks at their top digits where they have
/// few.
pub const ZEROS_BELOW: usize = 3;

/// Pairs in a column for two numbers of `n` and `m` limbs: zeros below, a digit more than the wider
/// has limbs, and what a pass by fours reads above.
#[inline(always)]
pub const fn gcd_digits(n: usize, m: usize) -> usize {
    ZEROS_BELOW + (wider(n, m) + STEP).next_multiple_of(STEP)
}

/// Pairs in a column that has cofactors too, from its other end.
///
/// In every round the longest number times the longest cofactor is below `2^20` times the wider
/// operand (a quotient is off by less than `2^-18` of itself, and doubles by `2^-53`, which entries
/// of `2^30` make `2^-22` of a number of which `2^-29` was to be left), so that both together have
/// two digits more than that has limbs, and six are left between them. While a quotient is taken in
/// several rounds they have what is left of it more, of 97 bits three digits. Behind that there is
/// room for the three digits that a round of two places up adds, and for the zeros that a pass
/// by fours takes: three above the numbers, and four above the cofactors, these where a quotient has
/// a digit left at most.
#[inline(always)]
pub const fn inverse_digits(n: usize, m: usize) -> usize {
    ZEROS_BELOW + (wider(n, m) + 2 * STEP).next_multiple_of(STEP)
}

const fn wider(n: usize, m: usize) -> usize {
    if n > m { n } else { m }
}

/// Bytes of a pair of digits.
pub(crate) const PAIR: usize = 8;

/// Shared memory that a block of columns may have where the device has it, in bytes.
pub(crate) const COLUMN_BYTES: u32 = 96 << 10;

/// Bytes of so many pairs of digits for each thread of a warp.
#[inline(always)]
pub(crate) const fn columns_of_warp(digits: usize) -> usize {
    32 * PAIR * digits
}
