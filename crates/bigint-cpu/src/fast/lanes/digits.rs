//! The conversion of 64-bit words to digits, and of columns of products back to words.
//!
//! Words are converted in blocks of four. A digit has 52 bits, so 13 blocks are 64 digits, and
//! within such a period each index and each shift is a constant.

use super::vector::{BLOCK_WORDS, DIGIT_BITS, Vector};

/// The number of digits after which digits and blocks begin at the same bit again.
const PERIOD: usize = 64;

/// The bits of a block.
const BLOCK_BITS: usize = 64 * BLOCK_WORDS;

/// The count of bits of a digit.
const BITS: usize = DIGIT_BITS as usize;

/// The mask of a digit's bits.
const MASK: u64 = (1 << DIGIT_BITS) - 1;

/// The number of digits that hold `bits` bits.
pub(super) const fn digits_of_bits(bits: usize) -> usize {
    bits.div_ceil(BITS)
}

/// The number of digits that begin in `blocks` blocks.
pub(super) const fn digits_of_blocks(blocks: usize) -> usize {
    digits_of_bits(BLOCK_BITS * blocks)
}

/// Expands a macro for every block of a period.
macro_rules! for_each_block {
    ($do:ident) => {
        $do!(0 1 2 3 4 5 6 7 8 9 10 11 12)
    };
}

/// Expands a macro for every digit that a block can touch.
macro_rules! for_each_digit {
    ($do:ident) => {
        $do!(0 1 2 3 4 5)
    };
}

/// Cuts words into digits, which are factors. `block(q)` returns the words of block `q`. There
/// are as many digits as [`digits_of_blocks`] says.
#[inline(always)]
pub(super) fn cut<I: Vector>(
    isa: I,
    blocks: usize,
    digits: &mut [I::V],
    mut block: impl FnMut(usize) -> [I::V; BLOCK_WORDS],
) {
    let mut q = 0;
    for digits in digits.chunks_mut(PERIOD) {
        let mut below = isa.splat(0);
        macro_rules! blocks {
            ($($p:literal)*) => {$(
                if q == blocks {
                    return;
                }
                let words = block(q);
                q += 1;
                cut_block::<I, $p>(isa, below, &words, digits);
                below = words[BLOCK_WORDS - 1];
                if q == blocks {
                    return cut_last::<I, $p>(isa, below, digits);
                }
            )*};
        }
        for_each_block!(blocks);
    }
}

/// Computes the digits of a period that end in block `P`.
#[inline(always)]
fn cut_block<I: Vector, const P: usize>(
    isa: I,
    below: I::V,
    words: &[I::V; BLOCK_WORDS],
    digits: &mut [I::V],
) {
    let (first, end) = (BLOCK_BITS * P / BITS, BLOCK_BITS * (P + 1) / BITS);
    macro_rules! cut {
        ($($i:literal)*) => {$(
            if first + $i < end {
                let bit = BITS * (first + $i) + 64 - BLOCK_BITS * P;
                digits[first + $i] = digit(isa, below, words, bit);
            }
        )*};
    }
    for_each_digit!(cut);
}

/// Computes the digit that begins in block `P` and does not end in it, if there is one. `below`
/// is the last word of the block.
#[inline(always)]
fn cut_last<I: Vector, const P: usize>(isa: I, below: I::V, digits: &mut [I::V]) {
    let end = BLOCK_BITS * (P + 1) / BITS;
    if end < PERIOD {
        let s = (BITS * end % 64) as u32;
        digits[end] = isa.factor(isa.shift_right(below, s));
    }
}

/// The digit at `bit`, counted from the start of the word `below`, which the block follows.
#[inline(always)]
fn digit<I: Vector>(isa: I, below: I::V, words: &[I::V; BLOCK_WORDS], bit: usize) -> I::V {
    let word = |q: usize| if q == 0 { below } else { words[q - 1] };
    let (q, s) = (bit / 64, (bit % 64) as u32);
    isa.factor(if s == 0 {
        word(q)
    } else if s + DIGIT_BITS <= 64 {
        isa.shift_right(word(q), s)
    } else {
        isa.funnel(word(q + 1), word(q), s)
    })
}

/// Propagates the carries of columns and packs the digits into words. Calls `store(q, words)`
/// with the words of each of the `blocks` blocks in turn. There are as many columns as
/// [`digits_of_blocks`] says, or more.
///
/// The value is `sum_k columns[k] 2^(52 k) mod 2^(256 n)` for `n` blocks. Columns are signed,
/// and stay within a signed word when a carry is added. (A carry is smaller than a column by
/// `2^52`.)
#[inline(always)]
pub(super) fn pack<I: Vector>(
    isa: I,
    blocks: usize,
    columns: &[I::V],
    mut store: impl FnMut(usize, &[I::V; BLOCK_WORDS]),
) {
    let mut q = 0;
    let mut carry = isa.no_carry();
    for columns in columns.chunks(PERIOD) {
        // A sum: the digit, and above it bits that are not part of it.
        let mut below = carry;
        macro_rules! blocks {
            ($($p:literal)*) => {$(
                if q == blocks {
                    return;
                }
                let words;
                (words, below, carry) = pack_block::<I, $p>(isa, columns, below, carry);
                store(q, &words);
                q += 1;
            )*};
        }
        for_each_block!(blocks);
        // The next period begins with a whole digit.
        let _ = below;
    }
}

/// The words of block `P` of a period, the last digit that they touch, and the carry to the
/// digit above. `below` is the last digit of the block before.
#[inline(always)]
fn pack_block<I: Vector, const P: usize>(
    isa: I,
    columns: &[I::V],
    below: I::V,
    carry: I::V,
) -> ([I::V; BLOCK_WORDS], I::V, I::V) {
    let first = BLOCK_BITS * P / BITS;
    let new = (BLOCK_BITS * P).div_ceil(BITS);
    let last = (BLOCK_BITS * (P + 1) - 1) / BITS;
    let mut carry = carry;
    let (mut raised, mut sums) = ([below; 6], [below; 6]);
    macro_rules! carry {
        ($($i:literal)*) => {$(
            if (new..=last).contains(&(first + $i)) {
                raised[$i] = isa.raise(columns[first + $i]);
                (sums[$i], carry) = isa.carry(raised[$i], carry);
            }
        )*};
    }
    for_each_digit!(carry);
    // The first and the last digit of a word, and the bit of the first digit at which the word
    // begins.
    let word = |q: usize| {
        let bit = BLOCK_BITS * P - BITS * first + 64 * q;
        (bit / BITS, (bit + 63) / BITS, (bit % BITS) as u32)
    };
    macro_rules! words {
        ($($q:literal)*) => {
            [$({
                let (first, last, s) = word($q);
                isa.word(s, &raised[first..=last], &sums[first..=last])
            }),*]
        };
    }
    (words!(0 1 2 3), sums[last - first], carry)
}

/// Propagates the carries of columns, each of which becomes a digit. The carry out is dropped,
/// so the value stays the same modulo `2^(D n)`.
pub(super) fn normalise<I: Vector>(isa: I, columns: &mut [I::V]) {
    isa.vectorize(
        #[inline(always)]
        || {
            let mask = isa.splat(MASK);
            let mut carry = isa.no_carry();
            for column in columns {
                let sum;
                (sum, carry) = isa.carry(isa.raise(*column), carry);
                *column = isa.and(sum, mask);
            }
        },
    );
}
