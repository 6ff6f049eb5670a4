//! Decimal digits to limbs and back, for numbers of up to a few thousand digits.
//!
//! Reading: `x <- x * 10^16 + (the next sixteen digits)`. Half the square of the
//! length in 64-bit limbs, in multiplications of words.
//!
//! Writing: with `W = 2^64` and `P = 10^(19 k)` above `x < W^n`, the fraction
//! `x / P` is multiplied by `10^19` over and over; what passes the point is the
//! next nineteen digits. No word is ever divided. The fraction is kept as `F` of
//! `m = n + 2` limbs, and all digits are right as long as
//!
//! ```text
//! x / P <= F / W^m < (x + 1) / P.                                         (1)
//! ```
//!
//! With the constant `R = floor(W^(m+n) / P) + 1` of `m` limbs, `x R / W^n` is
//! above `x W^m / P` by less than 1. Leaving out the products of limbs whose
//! weight is below `W^(n-1)` takes off less than `2 n`, cutting the fraction off
//! less than 1; adding `2 n + 1` makes up for both. So `F` is too large by less
//! than `2 n + 2`, and (1) holds as long as `P < W^(n+1)`, so that `W^m / P > W`.
//!
//! Each step leaves 19 digits less to be right, so the last limb is cut off now
//! and then, and the rest rounded up: never below the limbs that keep
//! `W^limbs` above `W` times the power of ten that is left. Each cut adds less
//! than `1 / W` to the error, in units of what (1) allows.
//!
//! Half the square of the length for `F`, the same again for the digits.

use std::io::Write;
use std::sync::OnceLock;

use bigint_core::Limb;
use bigint_cpu::radix;
use num_bigint::BigUint;

/// Digits that one multiplication brings out.
const CHUNK: u32 = 19;

/// `10^19`, the largest power of ten that is a limb.
const FACTOR: u64 = 10_u64.pow(CHUNK);

/// The widest number that [`write()`] takes, in limbs.
pub const MAX_LIMBS: usize = 800;

/// The value of eight digits, the first one the most significant, or `None`
/// where a byte is no digit.
fn eight(digits: [u8; 8]) -> Option<u64> {
    let text = u64::from_le_bytes(digits);
    let above_nine = text.wrapping_add(0x0606_0606_0606_0606);
    let high = 0xf0f0_f0f0_f0f0_f0f0;
    if (text & high) | ((above_nine & high) >> 4) != 0x3333_3333_3333_3333 {
        return None;
    }
    // Neighbouring digits, then pairs, then fours are joined.
    let ones = text & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = (ones.wrapping_mul(10 << 8 | 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100 << 16 | 1) >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000 << 32 | 1) >> 32)
}

/// Writes the value of `digits` into `limbs`, zeros above it. Answers false,
/// and leaves `limbs` unspecified, where a byte is no digit.
///
/// `limbs` must be wide enough for as many nines.
pub fn parse(digits: &[u8], limbs: &mut [Limb], scratch: &mut Vec<u64>) -> bool {
    scratch.clear();
    let (top, body) = digits.as_rchunks::<8>();
    let mut padded = [b'0'; 8];
    padded[8 - top.len()..].copy_from_slice(top);
    let Some(first) = eight(padded) else {
        return false;
    };
    scratch.push(first);
    let (pairs, last) = body.as_chunks::<2>();
    for [high, low] in pairs {
        let (Some(high), Some(low)) = (eight(*high), eight(*low)) else {
            return false;
        };
        multiply_add(scratch, 10_u64.pow(16), high * 10_u64.pow(8) + low);
    }
    if let [last] = last {
        let Some(last) = eight(*last) else {
            return false;
        };
        multiply_add(scratch, 10_u64.pow(8), last);
    }
    limbs.fill(0);
    // What does not fit is zero: the caller gave room for the value.
    for (pair, wide) in limbs.chunks_mut(2).zip(scratch.iter()) {
        pair[0] = *wide as Limb;
        if let [_, high] = pair {
            *high = (*wide >> 32) as Limb;
        }
    }
    true
}

/// `x <- x * factor + addend`.
fn multiply_add(x: &mut Vec<u64>, factor: u64, addend: u64) {
    let mut carry = addend;
    for limb in x.iter_mut() {
        let sum = u128::from(*limb) * u128::from(factor) + u128::from(carry);
        *limb = sum as u64;
        carry = (sum >> 64) as u64;
    }
    if carry != 0 {
        x.push(carry);
    }
}

/// Chunks of [`CHUNK`] digits that hold any number of `limbs` 64-bit limbs:
/// `64 / log2(10^19)` is below `1 + 459 / 2^15`, and by little.
const fn chunks(limbs: usize) -> usize {
    limbs + ((limbs * 459) >> 15) + 1
}

/// Limbs that the fraction needs while `chunks` are to come: one and a bit more
/// than those of `10^(19 chunks)`; `log2(10^19) / 64 < 1010 / 2^10`.
const fn fraction_limbs(chunks: usize) -> usize {
    ((chunks * 1010) >> 10) + 2
}

/// `R` of numbers of `limbs` limbs, `limbs + 2` of them, made when first asked
/// for.
fn reciprocal(limbs: usize) -> &'static [u64] {
    static RECIPROCALS: [OnceLock<Vec<u64>>; MAX_LIMBS / 2 + 1] =
        [const { OnceLock::new() }; MAX_LIMBS / 2 + 1];
    RECIPROCALS[limbs].get_or_init(|| {
        let power = BigUint::from(FACTOR).pow(chunks(limbs) as u32);
        let scale = BigUint::from(1_u32) << (64 * (2 * limbs + 2));
        let mut reciprocal = (scale / power + 1_u32).to_u64_digits();
        reciprocal.resize(limbs + 2, 0);
        reciprocal
    })
}

/// Buffers that [`write()`] reuses between numbers.
#[derive(Debug, Default)]
pub struct Scratch {
    number: Vec<u64>,
    fraction: Vec<u64>,
}

/// Appends the digits of a number of at most [`MAX_LIMBS`] limbs, the top one not
/// zero.
pub fn write(limbs: &[Limb], scratch: &mut Scratch, text: &mut Vec<u8>) {
    let Scratch { number, fraction } = scratch;
    let n = limbs.len().div_ceil(2);
    if n <= 1 {
        let value = limbs
            .iter()
            .rev()
            .fold(0, |value, &limb| value << 32 | u64::from(limb));
        write!(text, "{value}").expect("memory takes any text");
        return;
    }
    number.clear();
    // Rows of the product go in pairs, so that two chains of carries run side by
    // side: an odd number gets a row of zeros.
    number.resize(n % 2, 0);
    number.extend(
        limbs
            .chunks(2)
            .map(|pair| u64::from(pair[0]) | pair.get(1).map_or(0, |&high| u64::from(high) << 32)),
    );

    // Columns n - 1 and above of x R; F stands above the first of them.
    let reciprocal = reciprocal(n);
    fraction.clear();
    fraction.resize(n + 3, 0);
    for (pair, &rows) in number.as_chunks::<2>().0.iter().enumerate() {
        add_products(fraction, &reciprocal[number.len() - 2 - 2 * pair..], rows);
    }
    add(&mut fraction[1..], 2 * n as u64 + 1);

    let (start, mut lowest, mut left) = (text.len(), 1, chunks(n));
    while left > 0 {
        let odd = left % 2 == 1;
        let mut put = |chunk| {
            text.extend_from_slice(&radix::word_digits(chunk));
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
            add(&mut fraction[lowest..], 1);
        }
    }
    let zeros = text[start..]
        .iter()
        .take_while(|&&digit| digit == b'0')
        .count();
    text.drain(start..start + zeros);
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
        (carried, low_carry) = carrying_mul_add(factor, low, *sum, low_carry);
        (*sum, high_carry) = carrying_mul_add(below, high, carried, high_carry);
    }
    let top = body.len();
    (sum[top], sum[top + 1]) = carrying_mul_add(*last, high, low_carry, high_carry);
}

/// Low and high limb of `a b + c + d`, which is always below `W^2`.
fn carrying_mul_add(a: u64, b: u64, c: u64, d: u64) -> (u64, u64) {
    let wide = u128::from(a) * u128::from(b) + u128::from(c) + u128::from(d);
    (wide as u64, (wide >> 64) as u64)
}

/// `x <- x * 10^19`; answers the limb above.
fn multiply(x: &mut [u64]) -> u64 {
    let mut carry = 0;
    for limb in x {
        (*limb, carry) = carrying_mul_add(*limb, FACTOR, carry, 0);
    }
    carry
}

/// Two times [`multiply`], the second in the wake of the first.
fn multiply_twice(x: &mut [u64]) -> [u64; 2] {
    let mut carries = [0; 2];
    for limb in x {
        for carry in &mut carries {
            (*limb, *carry) = carrying_mul_add(*limb, FACTOR, *carry, 0);
        }
    }
    carries
}

/// `x <- x + addend`; a carry out of it is lost.
fn add(x: &mut [u64], addend: u64) {
    let mut carry = addend;
    for limb in x {
        let (sum, overflow) = limb.overflowing_add(carry);
        *limb = sum;
        if !overflow {
            return;
        }
        carry = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_that_make_all_digits_right_hold_for_every_width() {
        let power = |chunks: usize| BigUint::from(FACTOR).pow(chunks as u32);
        let limbs = |n: usize| BigUint::from(1_u32) << (64 * n);
        for n in 1..=MAX_LIMBS / 2 {
            let p = power(chunks(n));
            assert!(limbs(n) < p && p < limbs(n + 1), "{n}");
            assert!(limbs(fraction_limbs(n)) > limbs(1) * power(n), "{n}");
        }
    }
}
