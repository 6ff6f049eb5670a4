//! Numbers as the two sides want their digits.

use super::words::{self, Words};
use crate::shared::combination::{Digit, Digits, digit_of};

/// Bits of a window of w-NAF, which leaves eight odd multiples of a point.
const WIDTH: usize = 5;

/// Digits in w-NAF: odd ones from -15 to 15, each followed by at least four zeros, one in six.
pub struct Naf<const TERMS: usize, const LENGTH: usize>([[i8; LENGTH]; TERMS]);

impl<const TERMS: usize, const LENGTH: usize> Naf<TERMS, LENGTH> {
    /// The digits of these magnitudes and signs, which are less than `2^(LENGTH - 1)`.
    pub fn new(terms: [(Words, bool); TERMS]) -> Self {
        Naf(terms.map(|(magnitude, is_negative)| naf(magnitude, is_negative)))
    }
}

/// The digits of a number: from the lowest bit on, wherever what is left is odd, five bits are taken, and those of 16 and more as
/// negative, with a carry.
fn naf<const LENGTH: usize>(magnitude: Words, is_negative: bool) -> [i8; LENGTH] {
    let bits = |from: usize| {
        let word = |at: usize| magnitude.get(at).copied().unwrap_or(0);
        let pair = u128::from(word(from / 64)) | u128::from(word(from / 64 + 1)) << 64;
        (pair >> (from % 64)) as i8 & ((1 << WIDTH) - 1)
    };
    let mut digits = [0; LENGTH];
    let (mut at, mut carry) = (0, 0);
    while at < LENGTH {
        if bits(at) & 1 == carry {
            at += 1;
            continue;
        }
        let digit = bits(at) + carry;
        carry = digit >> (WIDTH - 1);
        let digit = digit - (carry << WIDTH);
        digits[at] = if is_negative { -digit } else { digit };
        at += WIDTH;
    }
    digits
}

impl<const TERMS: usize, const LENGTH: usize> Digits for Naf<TERMS, LENGTH> {
    const TERMS: usize = TERMS;
    const WINDOWS: u32 = LENGTH as u32;
    const BITS: u32 = 1;
    const ARE_ODD: bool = true;

    #[inline(always)]
    fn digit(&self, term: usize, window: u32) -> Option<Digit> {
        let digit = self.0[term][window as usize];
        (digit != 0).then(|| (usize::from(digit.unsigned_abs() / 2), digit < 0))
    }
}

/// A number plus one less than half of a window's range in every window of so many bits, as
/// [`digit_of`] takes it.
pub fn offset(number: Words, bits: u32) -> [u32; 9] {
    let range = (1 << bits) - 1;
    let half = (u64::MAX / range) * ((1 << (bits - 1)) - 1);
    let (sum, carry) = words::add(number, [half; 4]);
    let [a, b, c, d, e, f, g, h] = words::limbs(sum);
    [a, b, c, d, e, f, g, h, half as u32 + carry as u32]
}

/// The digit of a place of a number that was [`offset`].
#[inline(always)]
pub fn place(number: &[u32; 9], bits: u32, place: u32) -> Option<Digit> {
    digit_of(number[(place * bits / 32) as usize], bits, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiples of `2^at` modulo `2^256`.
    fn sum(terms: impl Iterator<Item = (usize, i64)>) -> Words {
        terms.fold([0; 4], |sum, (at, digit)| {
            let mut moved = [0; 5];
            let magnitude = u128::from(digit.unsigned_abs()) << (at % 64);
            moved[at / 64] = magnitude as u64;
            if at / 64 < 4 {
                moved[at / 64 + 1] = (magnitude >> 64) as u64;
            }
            let [moved @ .., _] = moved;
            if digit < 0 {
                words::subtract(sum, moved).0
            } else {
                words::add(sum, moved).0
            }
        })
    }

    #[test]
    fn digits_add_up_to_the_number() {
        let mut numbers = vec![
            [0; 4],
            [1, 0, 0, 0],
            [u64::MAX; 4],
            [0, 0, 0, 1 << 63],
            [u64::MAX, 0, 7, 0],
        ];
        for i in 0..40 {
            numbers.push(std::array::from_fn(|j| {
                0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(4 * i + j as u64 + 1)
            }));
        }
        for number in numbers {
            let digits: [i8; 257] = naf(number, false);
            for at in 0..257 {
                let zeros = digits[at..].iter().skip(1).take(WIDTH - 1);
                assert!(
                    digits[at] == 0
                        || digits[at] % 2 != 0 && zeros.clone().all(|&digit| digit == 0)
                );
            }
            assert_eq!(
                sum(digits.iter().map(|&digit| i64::from(digit)).enumerate()),
                number
            );
            for bits in [4, 8, 16] {
                let with_halves = offset(number, bits);
                let digits = (0..=256 / bits).map(|at| {
                    let digit = place(&with_halves, bits, at);
                    let digit = digit.map_or(0, |(entry, is_negative)| {
                        if is_negative {
                            -1 - entry as i64
                        } else {
                            entry as i64 + 1
                        }
                    });
                    assert!(digit.abs() <= 1 << (bits - 1));
                    ((at * bits) as usize, digit)
                });
                assert_eq!(sum(digits), number);
            }
        }
    }
}
