//! Digits to base `10^9` of the numbers of a batch, by way of their decimal text ([`radix`](crate::radix)): from text to digits is
//! linear, and from numbers to text less than quadratic.

use bigint_core::Limb;

use super::Cpu;
use super::number::limbs::{pack, unpack};
use super::wordwise::Words;
use crate::Numbers;
use crate::memory::{or_unwind, scratch};
use crate::radix::{Decimals, nines};
use crate::reference::{from_decimal, to_decimal::BASE};
use crate::share::LIMB_WORK;

/// Decimal digits of a digit.
const DIGITS: usize = 9;

/// The digits of a number, the lowest first, as many as there is room for.
pub(super) fn to_decimal(_: &Cpu, words: Words<'_>) -> Limb {
    let (limbs, mut text) = (limbs(words.operands[0]), Vec::new());
    or_unwind(Decimals::default().write(&limbs, &mut text));
    let mut digits = scratch(2 * words.r.len());
    let kept = text.len().min(DIGITS * digits.len());
    or_unwind(nines::read(&text[text.len() - kept..], &mut digits));
    pack(words.r, &digits);
    0
}

/// The number with given digits, any limbs.
pub(super) fn from_decimal(_: &Cpu, words: Words<'_>) -> Limb {
    let digits = limbs(words.operands[0]);
    let mut limbs = scratch(2 * words.r.len());
    if digits.len() > limbs.len() || digits.iter().any(|&digit| u64::from(digit) >= BASE) {
        from_decimal::school(&mut limbs, &digits);
    } else {
        let mut text = Vec::new();
        or_unwind(nines::write(&digits, &mut text));
        or_unwind(Decimals::default().read(&text, &mut limbs));
    }
    pack(words.r, &limbs);
    0
}

/// The limbs of words.
fn limbs(words: &[u64]) -> Vec<Limb> {
    let mut limbs = scratch(2 * words.len());
    unpack(&mut limbs, words);
    limbs
}

/// The cost of a conversion, in the unit of [`Sharing`](crate::Sharing).
pub(super) fn work(operands: &[Numbers<'_>]) -> usize {
    let width = operands[0].shape().width;
    LIMB_WORK
        .saturating_mul(width)
        .saturating_mul(16)
        .saturating_add(width.saturating_mul(width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    #[test]
    fn long_numbers_have_the_digits_that_num_bigint_writes() {
        let cpu = Cpu::detect();
        for bits in [1, 63, 64, 65, 4800, 25_600, 25_601, 200_000] {
            let one = &BigUint::from(1_u32);
            let numbers: [BigUint; 3] = [
                one << (bits - 1),
                (one << bits) - 1_u32,
                (one << bits) / 7_u32,
            ];
            for number in numbers {
                let words = number.to_u64_digits();
                let text = number.to_string();
                let parts = text.as_bytes().rchunks(DIGITS);
                let value = |part: &[u8]| std::str::from_utf8(part).unwrap().parse().unwrap();
                let mut expected: Vec<Limb> = parts.map(value).collect();
                expected.resize(expected.len().next_multiple_of(2), 0);
                let computed = |leaf: fn(&Cpu, Words<'_>) -> Limb, operand: &[u64], length| {
                    let mut r = vec![0; length];
                    let (s, operands) = (&mut [][..], [operand, &[], &[]]);
                    leaf(
                        &cpu,
                        Words {
                            r: &mut r,
                            s,
                            operands,
                        },
                    );
                    r
                };
                let digits = computed(to_decimal, &words, expected.len() / 2);
                assert_eq!(limbs(&digits), expected, "{bits}");
                assert_eq!(
                    computed(from_decimal, &digits, words.len().max(digits.len()))[..words.len()],
                    words
                );
                // The lowest digits alone.
                if expected.len() > 2 {
                    assert_eq!(limbs(&computed(to_decimal, &words, 1)), expected[..2]);
                }
            }
        }
    }
}
