//! Decimal digits to limbs and back, for long numbers: by halves.
//!
//! Reading: `x = high * 10^n + low`, both halves read alike. Writing: one
//! division by `10^n` gives both halves. With `n` a leaf's digits times a power
//! of two, the powers of ten are one chain of squares, shared by all splits of
//! a level. The halves are independent: all cores work on one number.
//!
//! Cost: a product, or a division, of the number's size at every level, so
//! below the logarithm of the length times the first.

use bigint_core::Limb;
use num_bigint::BigUint;
use num_integer::Integer;

use super::decimal;

/// From this many digits on, numbers are read by halves.
pub const PARSE_DIGITS: usize = 6000;

/// From this many limbs on, numbers are written by halves.
pub const WRITE_LIMBS: usize = decimal::MAX_LIMBS;

/// Digits of a leaf, read and written in quadratic time.
const LEAF: usize = 1 << 11;

/// `10^(LEAF * 2^level)` for each level below the one that has all `digits`.
fn powers(digits: usize) -> Vec<BigUint> {
    let mut powers: Vec<BigUint> = Vec::new();
    while LEAF << powers.len() < digits {
        powers.push(match powers.last() {
            None => BigUint::from(10u32).pow(LEAF as u32),
            Some(last) => last * last,
        });
    }
    powers
}

/// Writes the value of `digits`, which must all be decimal digits, into
/// `limbs`, zeros above it.
pub fn parse(digits: &[u8], limbs: &mut [Limb]) {
    let powers = powers(digits.len());
    let value = read(digits, &powers);
    limbs.fill(0);
    for (limb, digit) in limbs.iter_mut().zip(value.iter_u32_digits()) {
        *limb = digit;
    }
}

/// The value of at most `LEAF * 2^powers.len()` digits.
fn read(digits: &[u8], powers: &[BigUint]) -> BigUint {
    let Some((power, smaller)) = powers.split_last() else {
        let mut limbs = vec![0; digits.len() / 9 + 1];
        decimal::parse(digits, &mut limbs, &mut Vec::new());
        return BigUint::new(limbs);
    };
    let Some(split) = digits.len().checked_sub(LEAF << smaller.len()) else {
        return read(digits, smaller);
    };
    let (high, low) = digits.split_at(split);
    let (high, low) = rayon::join(|| read(high, smaller), || read(low, smaller));
    high * power + low
}

/// Appends the digits of a number whose top limb is not zero.
pub fn write(limbs: &[Limb], text: &mut Vec<u8>) {
    let value = BigUint::from_slice(limbs);
    // log10(2) < 78914 / 2^18
    let powers = powers(((value.bits() * 78_914) >> 18) as usize + 1);
    let mut digits = digits(value, &powers);
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    digits.drain(..zeros);
    text.append(&mut digits);
}

/// The `LEAF * 2^powers.len()` last digits, which are all of them.
fn digits(value: BigUint, powers: &[BigUint]) -> Vec<u8> {
    let Some((power, smaller)) = powers.split_last() else {
        let mut text = Vec::with_capacity(LEAF);
        decimal::write(
            &value.to_u32_digits(),
            &mut decimal::Scratch::default(),
            &mut text,
        );
        let mut padded = vec![b'0'; LEAF - text.len()];
        padded.append(&mut text);
        return padded;
    };
    let (high, low) = value.div_rem(power);
    let (mut high, mut low) = rayon::join(|| digits(high, smaller), || digits(low, smaller));
    high.append(&mut low);
    high
}
