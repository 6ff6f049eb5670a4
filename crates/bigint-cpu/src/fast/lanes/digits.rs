//! 64-bit words to digits, and columns of digit products back to words.
//!
//! A digit has `D` bits (52 or 28), so that 16 digits are `D / 4` whole words.
//! Within such a period every shift is a constant.

use super::vector::Vector;

/// Digits after which digits and words begin at the same bit again.
pub(super) const PERIOD: usize = 16;

/// Words of one period.
pub(super) const fn period_words<I: Vector>() -> usize {
    PERIOD * I::DIGIT_BITS as usize / 64
}

/// Digits that hold `bits` bits.
pub(super) const fn digits_of_bits<I: Vector>(bits: usize) -> usize {
    bits.div_ceil(I::DIGIT_BITS as usize)
}

/// Cuts words into digits.
///
/// `words` has a whole number of periods, at least as many as `digits` touches.
#[inline(always)]
pub(super) fn from_words<I: Vector>(isa: I, words: &[I::V], digits: &mut [I::V]) {
    let mask = isa.splat((1 << I::DIGIT_BITS) - 1);
    let periods = words.chunks_exact(period_words::<I>());
    for (digits, words) in digits.chunks_mut(PERIOD).zip(periods) {
        for t in 0..PERIOD {
            if t >= digits.len() {
                return;
            }
            let bit = t as u32 * I::DIGIT_BITS;
            let (word, s) = ((bit / 64) as usize, bit % 64);
            let x = if s == 0 {
                words[word]
            } else if s + I::DIGIT_BITS <= 64 {
                isa.shift_right(words[word], s)
            } else {
                isa.funnel(words[word + 1], words[word], s)
            };
            digits[t] = isa.and(x, mask);
        }
    }
}

/// Carries columns through and packs the digits into words.
///
/// `sum_k columns[k] 2^(D k) mod 2^(64 n)` for `n = words.len()`. Columns are signed;
/// with a carry added they stay within a signed word (a carry is smaller than a
/// column by `2^D`). `columns` has a whole number of periods, enough for `words`.
#[inline(always)]
pub(super) fn to_words<I: Vector>(isa: I, columns: &[I::V], words: &mut [I::V]) {
    let mask = isa.splat((1 << I::DIGIT_BITS) - 1);
    let mut carry = isa.splat(0);
    let words = words.chunks_mut(period_words::<I>());
    for (columns, words) in columns.chunks_exact(PERIOD).zip(words) {
        let mut word = isa.splat(0);
        for (t, &column) in columns.iter().enumerate() {
            let sum = isa.add(column, carry);
            carry = isa.carry_of(sum);
            let digit = isa.and(sum, mask);
            let bit = t as u32 * I::DIGIT_BITS;
            let (at, s) = ((bit / 64) as usize, bit % 64);
            if at >= words.len() {
                return;
            }
            word = isa.or(word, isa.shift_left(digit, s));
            if s + I::DIGIT_BITS >= 64 {
                words[at] = word;
                word = if s + I::DIGIT_BITS > 64 {
                    isa.shift_right(digit, 64 - s)
                } else {
                    isa.splat(0)
                };
            }
        }
    }
}

/// Carries columns through: each becomes a digit; the carry out is dropped, so that
/// the value is kept modulo `2^(D n)`.
pub(super) fn normalise<I: Vector>(isa: I, columns: &mut [I::V]) {
    isa.vectorize(
        #[inline(always)]
        || {
            let mask = isa.splat((1 << I::DIGIT_BITS) - 1);
            let mut carry = isa.splat(0);
            for column in columns {
                let sum = isa.add(*column, carry);
                carry = isa.carry_of(sum);
                *column = isa.and(sum, mask);
            }
        },
    );
}
