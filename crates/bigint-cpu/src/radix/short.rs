//! Numbers of up to a few thousand digits, read and written word by word in quadratic time.
//!
//! Reading: `x <- x * 10^16 + (the next sixteen digits)`. The cost is half the square of the
//! length in 64-bit limbs, in multiplications of words.
//!
//! Writing: let `W = 2^64`, `x < W^n` and `P = 10^(19 k) > x`. The fraction `x / P` is
//! multiplied by `10^19` again and again, and each time the next nineteen digits pass the
//! point. No word is ever divided. The fraction is kept as `F` of `m = n + 2` limbs, and all
//! digits are right as long as
//!
//! ```text
//! x / P <= F / W^m < (x + 1) / P.                                         (1)
//! ```
//!
//! With the constant `R = floor(W^(m+n) / P) + 1` of `m` limbs, `x R / W^n` is above
//! `x W^m / P` by less than 1. Products of limbs whose weight is below `W^(n-1)` are left out,
//! which loses less than `2 n`, and the fraction is cut off, which loses less than 1. `2 n + 1`
//! is added to make up for both. So `F` is too large by less than `2 n + 2`, and (1) holds as
//! long as `P < W^(n+1)`, so that `W^m / P > W`.
//!
//! After each step 19 digits less must be right. So now and then the last limb is cut off, and
//! the rest is rounded up. There always remain enough limbs that `W^limbs` is above `W` times
//! the power of ten that is left. Each cut adds less than `1 / W` of what (1) allows to the
//! error.
//!
//! The cost is half the square of the length for `F`, and the same again for the digits.

use std::sync::OnceLock;

use super::powers::small_power;
use super::{WORD_BASE, word_digits};
use crate::fast::number::division::div_rem;
use crate::fast::number::limbs::{add_assign, increment, multiply_add};
use crate::memory::{or_out_of_memory, reserve};
use crate::{Error, Path};
use bigint_core::Limb;

/// The number of digits from which on the halves of a number are read apart.
pub(super) const LONG_DIGITS: usize = 3000;

/// The widest number that [`write()`] takes, in 64-bit limbs.
pub(super) const MAX_LIMBS: usize = 400;

/// The value of eight digits, most significant first, or `None` if a byte is not a digit.
pub(super) fn eight(digits: [u8; 8]) -> Option<u64> {
    let text = u64::from_le_bytes(digits);
    let above_nine = text.wrapping_add(0x0606_0606_0606_0606);
    let high = 0xf0f0_f0f0_f0f0_f0f0;
    if (text & high) | ((above_nine & high) >> 4) != 0x3333_3333_3333_3333 {
        return None;
    }
    // Neighbouring digits are joined, then pairs, then fours.
    let ones = text & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = (ones.wrapping_mul(10 << 8 | 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100 << 16 | 1) >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000 << 32 | 1) >> 32)
}

/// Sets `value` to the value of `digits`. Its top limbs may be zero. Returns false if a byte is
/// not a digit, and then leaves anything in `value`.
pub(super) fn read(digits: &[u8], value: &mut Vec<u64>) -> Result<bool, Error> {
    value.clear();
    // Sixteen digits are less than a limb, and the first step takes at most seven digits.
    reserve(value, digits.len() / 16 + 2)?;
    let (top, body) = digits.as_rchunks::<8>();
    let mut padded = [b'0'; 8];
    padded[8 - top.len()..].copy_from_slice(top);
    let Some(first) = eight(padded) else {
        return Ok(false);
    };
    value.push(first);
    let (pairs, last) = body.as_chunks::<2>();
    for [high, low] in pairs {
        let (Some(high), Some(low)) = (eight(*high), eight(*low)) else {
            return Ok(false);
        };
        multiply_add(value, 10_u64.pow(16), high * 10_u64.pow(8) + low);
    }
    if let [last] = last {
        let Some(last) = eight(*last) else {
            return Ok(false);
        };
        multiply_add(value, 10_u64.pow(8), last);
    }
    Ok(true)
}

/// The words of 19 digits that hold any number of so many limbs. `64 / log2(10^19)` is a little
/// below `1 + 459 / 2^15`.
const fn words(limbs: usize) -> usize {
    limbs + ((limbs * 459) >> 15) + 1
}

/// The limbs that the fraction needs while so many words are still to be written: a little more
/// than one more than the limbs of `10^(19 words)`. `log2(10^19) / 64 < 1010 / 2^10`.
const fn fraction_limbs(words: usize) -> usize {
    ((words * 1010) >> 10) + 2
}

/// The constant `R` for numbers of `n` limbs. It has `n + 2` limbs, and is computed when it is
/// first needed.
fn reciprocal(n: usize) -> Result<&'static [u64], Error> {
    static RECIPROCALS: [OnceLock<Vec<u64>>; MAX_LIMBS + 1] =
        [const { OnceLock::new() }; MAX_LIMBS + 1];
    if let Some(reciprocal) = RECIPROCALS[n].get() {
        return Ok(reciprocal);
    }
    let made = or_out_of_memory(|| {
        let mut scale = vec![0; 2 * n + 2];
        scale.push(1);
        let (mut reciprocal, _) = div_rem(&scale, &small_power(WORD_BASE, words(n)), Path::best());
        reciprocal.resize(n + 2, 0);
        increment(&mut reciprocal);
        reciprocal
    })?;
    Ok(RECIPROCALS[n].get_or_init(|| made))
}

/// Appends the digits of a number of at most twice [`MAX_LIMBS`] 32-bit limbs, whose top one is
/// not zero. A number of no limbs is `0`. `number` and `fraction` are scratch.
pub(super) fn write(
    limbs: &[Limb],
    [number, fraction]: [&mut Vec<u64>; 2],
    text: &mut Vec<u8>,
) -> Result<(), Error> {
    let n = limbs.len().div_ceil(2);
    let room = 20 * (n + 1);
    let more = text.try_reserve(room);
    more.map_err(|_| Error::OutOfMemory { bytes: room })?;
    let wide = |pair: &[Limb]| {
        let high = pair.get(1).map_or(0, |&high| u64::from(high) << 32);
        pair.first().map_or(0, |&low| u64::from(low)) | high
    };
    if n <= 1 {
        let value = wide(limbs);
        if let Some(rest) = value.checked_sub(WORD_BASE) {
            text.push(b'1');
            text.extend_from_slice(&word_digits(rest));
        } else {
            let digits = word_digits(value);
            let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
            text.extend_from_slice(&digits[zeros.min(digits.len() - 1)..]);
        }
        return Ok(());
    }
    number.clear();
    fraction.clear();
    reserve(number, n + 1)?;
    reserve(fraction, n + 3)?;
    // Rows of the product are computed in pairs, so that two chains of carries run side by
    // side. An odd number of rows gets a row of zeros.
    number.resize(n % 2, 0);
    number.extend(limbs.chunks(2).map(wide));

    // These are columns n - 1 and above of x R. F is all but the first of them.
    let reciprocal = reciprocal(n)?;
    fraction.resize(n + 3, 0);
    for (pair, &rows) in number.as_chunks::<2>().0.iter().enumerate() {
        add_products(fraction, &reciprocal[number.len() - 2 - 2 * pair..], rows);
    }
    add_assign(&mut fraction[1..], &[2 * n as u64 + 1]);

    let (start, mut lowest, mut left) = (text.len(), 1, words(n));
    while left > 0 {
        let odd = left % 2 == 1;
        let mut put = |word| {
            text.extend_from_slice(&word_digits(word));
            left -= 1;
        };
        if odd {
            put(multiply(&mut fraction[lowest..]));
        } else {
            multiply_twice(&mut fraction[lowest..])
                .into_iter()
                .for_each(put);
        }
        while n + 3 - lowest > fraction_limbs(left) {
            lowest += 1;
            increment(&mut fraction[lowest..]);
        }
    }
    let zeros = text[start..]
        .iter()
        .take_while(|&&digit| digit == b'0')
        .count();
    text.drain(start..start + zeros);
    Ok(())
}

/// `sum <- sum + floor(factor / W) * limbs[0] + factor * limbs[1]`. From the last
/// limb of `factor` on, `sum` is zero before.
fn add_products(sum: &mut [u64], factor: &[u64], [low, high]: [u64; 2]) {
    let (mut low_carry, mut high_carry) = (0, 0);
    let Some((last, body)) = factor.split_last() else {
        return;
    };
    for ((sum, &below), &factor) in sum.iter_mut().zip(body).zip(&factor[1..]) {
        let carried;
        (carried, low_carry) = factor.carrying_mul_add(low, *sum, low_carry);
        (*sum, high_carry) = below.carrying_mul_add(high, carried, high_carry);
    }
    let top = body.len();
    (sum[top], sum[top + 1]) = last.carrying_mul_add(high, low_carry, high_carry);
}

/// `x <- x * 10^19`. Returns the limb above.
fn multiply(x: &mut [u64]) -> u64 {
    let mut carry = 0;
    for limb in x {
        (*limb, carry) = limb.carrying_mul_add(WORD_BASE, carry, 0);
    }
    carry
}

/// Does the work of two calls of [`multiply`] in one pass, the second one limb behind the
/// first.
fn multiply_twice(x: &mut [u64]) -> [u64; 2] {
    let mut carries = [0; 2];
    for limb in x {
        for carry in &mut carries {
            (*limb, *carry) = limb.carrying_mul_add(WORD_BASE, *carry, 0);
        }
    }
    carries
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    #[test]
    fn the_bounds_that_make_all_digits_right_hold_for_every_width() {
        let power = |words: usize| BigUint::from(WORD_BASE).pow(words as u32);
        let limbs = |n: usize| BigUint::from(1_u32) << (64 * n);
        for n in 1..=MAX_LIMBS {
            let p = power(words(n));
            assert!(limbs(n) < p && p < limbs(n + 1), "{n}");
            assert!(limbs(fraction_limbs(n)) > limbs(1) * power(n), "{n}");
            if n % 37 < 3 {
                let expected = limbs(2 * n + 2) / &p + 1_u32;
                let digits: Vec<u32> = reciprocal(n).unwrap().iter().flat_map(halves).collect();
                assert_eq!(BigUint::new(digits), expected, "{n}");
            }
        }
    }

    fn halves(limb: &u64) -> [u32; 2] {
        [*limb as u32, (*limb >> 32) as u32]
    }
}
