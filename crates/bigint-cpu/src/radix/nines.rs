//! Decimal digits as digits to base `10^9`, nine to a limb, the lowest first, and back.
//!
//! This is the part of a conversion that is linear in the length: devices do the other one, as the operations
//! `to_decimal` and `from_decimal`. **Cost**: linear. **Scratch**: none.

use super::print::eight_digits;
use super::short::eight;
use super::{not_a_digit, word_digits};
use crate::Error;
use crate::fast::number::limbs::trimmed;
use bigint_core::Limb;

/// The decimal digits of a limb.
const DIGITS: usize = 9;

/// Appends the decimal digits of a number, without leading zeros. Zero is `0`.
///
/// ```
/// let mut text = Vec::new();
/// bigint_cpu::radix::nines::write(&[294_967_298, 4, 0], &mut text)?;
/// assert_eq!(text, b"4294967298");
/// # Ok::<(), bigint_cpu::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::OutOfMemory`]. Then nothing is appended.
///
/// # Panics
///
/// May panic if a limb is not below `10^9`.
pub fn write(nines: &[Limb], text: &mut Vec<u8>) -> Result<(), Error> {
    let nines = trimmed(nines);
    let room = DIGITS * nines.len() + 1;
    let more = text.try_reserve(room);
    more.map_err(|_| Error::OutOfMemory { bytes: room })?;
    let (&top, below) = nines.split_last().unwrap_or((&0, &[]));
    let digits = word_digits(top.into());
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    text.extend_from_slice(&digits[zeros.min(digits.len() - 1)..]);
    for &nine in below.iter().rev() {
        let mut digits = [b'0' + (nine / 100_000_000) as u8; DIGITS];
        digits[1..].copy_from_slice(&eight_digits(u64::from(nine % 100_000_000)));
        text.extend_from_slice(&digits);
    }
    Ok(())
}

/// Sets `nines` to the value of decimal digits, with zeros above it.
///
/// ```
/// let mut nines = [7; 3];
/// bigint_cpu::radix::nines::read(b"4294967298", &mut nines)?;
/// assert_eq!(nines, [294_967_298, 4, 0]);
/// # Ok::<(), bigint_cpu::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::NotADigit`] for the first byte that is not a digit. Then `nines` may hold anything.
///
/// # Panics
///
/// If there are fewer `nines` than a ninth of the digits, rounded up.
pub fn read(digits: &[u8], nines: &mut [Limb]) -> Result<(), Error> {
    let (top, body) = digits.as_rchunks::<DIGITS>();
    let (low, high) = nines.split_at_mut(body.len());
    let value = |[first, rest @ ..]: [u8; DIGITS]| {
        let first = first.wrapping_sub(b'0');
        let rest = eight(rest).filter(|_| first < 10);
        let rest = rest.ok_or_else(|| not_a_digit(digits))?;
        Ok::<_, Error>(Limb::from(first) * 100_000_000 + rest as Limb)
    };
    for (nine, digits) in low.iter_mut().rev().zip(body) {
        *nine = value(*digits)?;
    }
    high.fill(0);
    if !top.is_empty() {
        let mut padded = [b'0'; DIGITS];
        padded[DIGITS - top.len()..].copy_from_slice(top);
        high[0] = value(padded)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    #[test]
    fn nines_of_every_short_length_go_both_ways() {
        for digits in 1..60_u32 {
            let power = BigUint::from(10_u32).pow(digits);
            for number in [
                &power - 1_u32,
                power.clone(),
                &power + 1_u32,
                &power / 7_u32,
            ] {
                let text = number.to_string();
                let mut nines = [7; 8];
                assert_eq!(read(text.as_bytes(), &mut nines), Ok(()));
                let sum = |sum: BigUint, &nine: &Limb| sum * 1_000_000_000_u32 + nine;
                assert_eq!(nines.iter().rev().fold(BigUint::ZERO, sum), number);
                let mut written = b"-".to_vec();
                assert_eq!(write(&nines, &mut written), Ok(()));
                assert_eq!(written, format!("-{text}").into_bytes());
            }
        }
    }

    #[test]
    fn the_first_byte_that_is_not_a_digit_is_named_and_no_digits_are_zero() {
        for length in [1, 8, 9, 10, 18, 19] {
            for position in 0..length {
                for byte in [b'/', b':', b' ', 0xb5, b'-'] {
                    let mut text = vec![b'1'; length];
                    text[position] = byte;
                    let refused = Err(Error::NotADigit { position });
                    assert_eq!(read(&text, &mut [0; 3]), refused);
                }
            }
        }
        let (mut nines, mut text) = ([7; 2], Vec::new());
        assert_eq!(read(b"", &mut nines), Ok(()));
        assert_eq!(nines, [0; 2]);
        assert_eq!(write(&nines, &mut text), Ok(()));
        assert_eq!(text, b"0");
    }
}
