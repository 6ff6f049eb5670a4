//! Where the signed digits of Lehmer's steps stand: a column for each thread.

use crate::algorithm::BLOCK;

/// Signed digits of the longer of two numbers of so many limbs.
#[inline(always)]
pub const fn gcd_digits(n: usize, m: usize) -> usize {
    if n > m { n + 1 } else { m + 1 }
}

/// Bytes of a pair of digits.
pub(crate) const PAIR: usize = 8;

/// Whether the columns of so many pairs of digits of all threads of a block, or of half of
/// one, are in its shared memory.
#[inline(always)]
pub const fn digit_columns_in_shared(digits: usize) -> bool {
    PAIR * digits * BLOCK as usize / 2 <= 48 << 10
}
