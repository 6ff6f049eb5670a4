//! Decimal digits to limbs and back, for numbers of up to a few thousand digits.
//!
//! Reading: `x <- x * 10^16 + (the next sixteen digits)`. Writing: `x` is
//! divided by 10^19 until nothing is left, and the remainders are the digits.
//! Both take half the square of the length in 64-bit limbs, in word operations.
//!
//! A division waits for the remainder of the limb above. Several divisions of
//! the same number do not wait for each other, once each has its first limbs
//! from the one before: [`LANES`] of them go down the limbs together.
//! Divisions by the constant use its reciprocal (Möller and Granlund, "Improved
//! division by invariant integers", algorithm 4).

use bigint_core::Limb;

/// Digits that one division takes off.
const CHUNK: usize = 19;

/// 10^19, the largest power of ten below 2^64. Its top bit is set, as the
/// division by a reciprocal demands.
const DIVISOR: u64 = 10_u64.pow(CHUNK as u32);
const _: () = assert!(DIVISOR.leading_zeros() == 0);

/// floor((2^128 - 1) / DIVISOR) - 2^64.
const RECIPROCAL: u64 = (u128::MAX / DIVISOR as u128 - (1 << 64)) as u64;

/// Divisions that go down the limbs together.
const LANES: usize = 4;

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

/// Quotient and remainder of `high * 2^64 + low` by [`DIVISOR`]; `high` must be
/// below it.
#[inline(always)]
fn divide(high: u64, low: u64) -> (u64, u64) {
    let guess =
        u128::from(RECIPROCAL) * u128::from(high) + (u128::from(high) << 64 | u128::from(low));
    let mut quotient = ((guess >> 64) as u64).wrapping_add(1);
    let mut remainder = low.wrapping_sub(quotient.wrapping_mul(DIVISOR));
    if remainder > guess as u64 {
        quotient = quotient.wrapping_sub(1);
        remainder = remainder.wrapping_add(DIVISOR);
    }
    if remainder >= DIVISOR {
        quotient = quotient.wrapping_add(1);
        remainder -= DIVISOR;
    }
    (quotient, remainder)
}

/// Buffers that [`write`] reuses between numbers.
#[derive(Debug, Default)]
pub struct Scratch {
    number: Vec<u64>,
    chunks: Vec<u64>,
}

/// Appends the digits of a number without leading zero limbs.
pub fn write(limbs: &[Limb], scratch: &mut Scratch, text: &mut Vec<u8>) {
    let Scratch { number, chunks } = scratch;
    number.clear();
    number.extend(
        limbs
            .chunks(2)
            .map(|pair| u64::from(pair[0]) | pair.get(1).map_or(0, |&high| u64::from(high) << 32)),
    );
    chunks.clear();
    while !number.is_empty() {
        let mut remainders = [0; LANES];
        for limb in number.iter_mut().rev() {
            for remainder in &mut remainders {
                (*limb, *remainder) = divide(*remainder, *limb);
            }
        }
        chunks.extend(remainders);
        while number.last() == Some(&0) {
            number.pop();
        }
    }
    while chunks.last() == Some(&0) {
        chunks.pop();
    }
    let Some((&top, rest)) = chunks.split_last() else {
        text.push(b'0');
        return;
    };
    let top = chunk_digits(top);
    let zeros = top.iter().take_while(|&&digit| digit == b'0').count();
    text.extend_from_slice(&top[zeros..]);
    for &chunk in rest.iter().rev() {
        text.extend_from_slice(&chunk_digits(chunk)[24 - CHUNK..]);
    }
}

/// The 24 last digits of a chunk, the first five of them zeros.
fn chunk_digits(chunk: u64) -> [u8; 24] {
    let mut digits = [0; 24];
    let (low, rest) = (chunk % 100_000_000, chunk / 100_000_000);
    let (middle, high) = (rest % 100_000_000, rest / 100_000_000);
    digits[..8].copy_from_slice(&eight_digits(high));
    digits[8..16].copy_from_slice(&eight_digits(middle));
    digits[16..].copy_from_slice(&eight_digits(low));
    digits
}

/// The digits of a value below 10^8.
fn eight_digits(value: u64) -> [u8; 8] {
    // Split into fours, pairs and digits; each field is divided by a multiply
    // and a shift that are exact below its bound.
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    let digits = tens | (pairs - 10 * tens) << 8;
    (digits | 0x3030_3030_3030_3030).to_le_bytes()
}
