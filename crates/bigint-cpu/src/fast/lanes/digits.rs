//! 64-bit words to digits, and columns of digit products back to words.
//!
//! A digit has 52 bits, so that 16 digits are 13 whole words. Within such a period
//! every shift is a constant.

use super::vector::{DIGIT_BITS, Vector};

/// Digits after which digits and words begin at the same bit again.
pub(super) const PERIOD: usize = 16;

/// Words of one period.
pub(super) const PERIOD_WORDS: usize = PERIOD * DIGIT_BITS as usize / 64;

/// The bits of a digit.
const MASK: u64 = (1 << DIGIT_BITS) - 1;

/// Digits that hold `bits` bits.
pub(super) const fn digits_of_bits(bits: usize) -> usize {
    bits.div_ceil(DIGIT_BITS as usize)
}

/// Expands a macro for every digit of a period: every index and shift in it is a
/// constant then.
macro_rules! for_each_digit {
    ($do:ident) => {
        $do!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
}

/// Cuts words into digits, as factors.
///
/// `words` has a whole number of periods, at least as many as `digits` touches.
#[inline(always)]
pub(super) fn from_words<I: Vector>(isa: I, words: &[I::V], digits: &mut [I::V]) {
    let periods = words.chunks_exact(PERIOD_WORDS);
    for (digits, words) in digits.chunks_mut(PERIOD).zip(periods) {
        macro_rules! cut {
            ($($t:literal)*) => {$(
                if $t >= digits.len() {
                    return;
                }
                digits[$t] = cut_digit(isa, words, $t);
            )*};
        }
        for_each_digit!(cut);
    }
}

/// Digit `t` of a number, as a factor; words that it lacks are zero. `t` must be a constant.
#[inline(always)]
pub(super) fn cut_digit<I: Vector>(isa: I, words: &[I::V], t: usize) -> I::V {
    let bit = t * DIGIT_BITS as usize;
    let (word, s) = (bit / 64, (bit % 64) as u32);
    let x = if s == 0 {
        words[word]
    } else if s + DIGIT_BITS <= 64 || word + 1 == words.len() {
        isa.shift_right(words[word], s)
    } else {
        isa.funnel(words[word + 1], words[word], s)
    };
    isa.factor(x)
}

/// Carries columns through and packs the digits into words.
///
/// `sum_k columns[k] 2^(D k) mod 2^(64 n)` for `n = words.len()`. Columns are signed;
/// with a carry added they stay within a signed word (a carry is smaller than a
/// column by `2^D`). `columns` has a whole number of periods, enough for `words`.
#[inline(always)]
pub(super) fn to_words<I: Vector>(isa: I, columns: &[I::V], words: &mut [I::V]) {
    let mut carry = isa.no_carry();
    let words = words.chunks_mut(PERIOD_WORDS);
    for (columns, words) in columns.chunks_exact(PERIOD).zip(words) {
        // The digits, and above them what is not part of them.
        let mut sums = [carry; PERIOD];
        macro_rules! pack {
            ($($t:literal)*) => {$(
                let word = $t * DIGIT_BITS as usize / 64;
                if word >= words.len() {
                    return;
                }
                (sums[$t], carry) = isa.carry(columns[$t], carry);
                if ($t + 1) * DIGIT_BITS as usize >= 64 * (word + 1) {
                    words[word] = pack_word(isa, &sums, word);
                }
            )*};
        }
        for_each_digit!(pack);
    }
}

/// Word `q` of digits with anything above them. `q` must be a constant.
#[inline(always)]
pub(super) fn pack_word<I: Vector>(isa: I, sums: &[I::V], q: usize) -> I::V {
    let digit_bits = DIGIT_BITS as usize;
    let (first, s) = (64 * q / digit_bits, (64 * q % digit_bits) as u32);
    let last = (64 * q + 63) / digit_bits;
    // The top of the last digit falls off.
    let at = (last - first) as u32 * DIGIT_BITS - s;
    let word = isa.shift_left(sums[last], at);
    let mut word = isa.add_digit_above(word, sums[first], s);
    let mut t = first + 1;
    while t < last {
        let at = (t - first) as u32 * DIGIT_BITS - s;
        let digit = isa.and(sums[t], isa.splat(MASK));
        word = isa.or(word, isa.shift_left(digit, at));
        t += 1;
    }
    word
}

/// Carries columns through: each becomes a digit; the carry out is dropped, so that
/// the value is kept modulo `2^(D n)`.
pub(super) fn normalise<I: Vector>(isa: I, columns: &mut [I::V]) {
    isa.vectorize(
        #[inline(always)]
        || {
            let mask = isa.splat(MASK);
            let mut carry = isa.no_carry();
            for column in columns {
                let sum;
                (sum, carry) = isa.carry(*column, carry);
                *column = isa.and(sum, mask);
            }
        },
    );
}
