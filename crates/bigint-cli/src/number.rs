//! Integers as text: decimal or `0x` hex, with an optional `-`.
//!
//! Digits go straight into 32-bit limbs and back, eight at a time inside one
//! 64-bit word.

mod decimal;
mod format;
mod hex;

use std::fmt;

pub use format::{Format, Formatter};

use bigint_core::{LIMB_BITS, Limb, MAX_WIDTH};
use bigint_cpu::radix;

/// The longest line that is read as one number, in bytes: any number of
/// [`MAX_WIDTH`] limbs fits, with room for leading zeros.
pub const MAX_TEXT: usize = 1 << 30;

/// From this many digits on, decimal numbers are read in less than quadratic
/// time; below, that takes longer.
const LONG_DIGITS: usize = 3000;

const _: () = assert!(MAX_TEXT > MAX_WIDTH * LIMB_BITS * 31 / 100 && MAX_TEXT > MAX_WIDTH * 8 + 3);

/// An integer's text, split into its parts. The digits are not yet checked.
#[derive(Clone, Copy, Debug)]
pub struct Number<'a> {
    /// Whether a `-` stood in front. True for `-0` as well.
    pub negative: bool,
    digits: &'a [u8],
    hex: bool,
    /// Where in the text the first digit stood.
    offset: usize,
}

/// What is wrong with an integer's text, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadNumber {
    /// The offending byte's offset in the text.
    pub offset: usize,
    what: Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    NotADigit { byte: u8, hex: bool },
    NoDigits,
    TooLong,
}

impl fmt::Display for BadNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            Wrong::NotADigit { byte, hex } => {
                let kind = if hex { "hexadecimal" } else { "decimal" };
                if byte.is_ascii_graphic() || byte == b' ' {
                    write!(f, "{:?} is not a {kind} digit", char::from(byte))
                } else {
                    write!(f, "the byte 0x{byte:02x} is not a {kind} digit")
                }
            }
            Wrong::NoDigits => f.write_str("a number without digits"),
            Wrong::TooLong => write!(f, "a number of more than {} bits", MAX_WIDTH * LIMB_BITS),
        }
    }
}

impl<'a> Number<'a> {
    /// Splits `text` into sign, base and digits. White space around the number
    /// must be gone already.
    ///
    /// # Errors
    /// No digits, or more of them than the widest number has.
    pub fn scan(text: &'a [u8]) -> Result<Self, BadNumber> {
        let negative = text.first() == Some(&b'-');
        let sign = usize::from(negative);
        let hex = matches!(text[sign..], [b'0', b'x' | b'X', ..]);
        let offset = sign + if hex { 2 } else { 0 };
        let number = Number {
            negative,
            digits: &text[offset..],
            hex,
            offset,
        };
        if number.digits.is_empty() {
            return Err(BadNumber {
                offset,
                what: Wrong::NoDigits,
            });
        }
        if number.width() > MAX_WIDTH {
            return Err(BadNumber {
                offset,
                what: Wrong::TooLong,
            });
        }
        Ok(number)
    }

    /// Limbs that hold the magnitude: at least one, and at most one too many.
    pub fn width(&self) -> usize {
        if self.hex {
            return self.digits.len().div_ceil(8);
        }
        // log2(10) < 217706 / 2^16
        let bits = ((self.digits.len() as u64 * 217_706) >> 16) + 1;
        usize::try_from(bits.div_ceil(LIMB_BITS as u64)).unwrap_or(usize::MAX)
    }

    /// Checks every digit without computing the value.
    ///
    /// # Errors
    /// The first byte that is no digit.
    pub fn check(&self) -> Result<(), BadNumber> {
        let is_digit: fn(&u8) -> bool = if self.hex {
            u8::is_ascii_hexdigit
        } else {
            u8::is_ascii_digit
        };
        match self.digits.iter().position(|byte| !is_digit(byte)) {
            None => Ok(()),
            Some(index) => Err(BadNumber {
                offset: self.offset + index,
                what: Wrong::NotADigit {
                    byte: self.digits[index],
                    hex: self.hex,
                },
            }),
        }
    }

    /// Writes the magnitude into `limbs`, little-endian, zeros above it.
    /// `scratch` is reused between calls to spare allocations.
    ///
    /// Cost: linear for hex; for decimal quadratic up to a few thousand digits,
    /// then as [`radix::parse_decimal`].
    ///
    /// # Errors
    /// The first byte that is no digit.
    ///
    /// # Panics
    /// When `limbs` is shorter than [`Number::width`].
    pub fn write(&self, limbs: &mut [Limb], scratch: &mut Vec<u64>) -> Result<(), BadNumber> {
        assert!(limbs.len() >= self.width());
        let good = if self.hex {
            hex::parse(self.digits, limbs)
        } else if self.digits.len() < LONG_DIGITS {
            decimal::parse(self.digits, limbs, scratch)
        } else if let Ok(value) = radix::parse_decimal(self.digits) {
            let (low, high) = limbs.split_at_mut(value.len());
            low.copy_from_slice(&value);
            high.fill(0);
            true
        } else {
            false
        };
        if good { Ok(()) } else { self.check() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn parse(text: &str) -> Result<(bool, BigUint), BadNumber> {
        let number = Number::scan(text.as_bytes())?;
        // Stale limbs and room above the number must not show.
        let mut limbs = vec![0xdead_beef; number.width() + 2];
        number.write(&mut limbs, &mut Vec::new())?;
        Ok((number.negative, BigUint::new(limbs)))
    }

    fn offset(text: &str) -> usize {
        parse(text).unwrap_err().offset
    }

    #[test]
    fn every_length_of_text_reads_as_num_bigint_reads_it() {
        for length in (1..200).chain([1000, 2048, LONG_DIGITS - 1, LONG_DIGITS, 5000]) {
            for pattern in ["9", "1", "10", "0123456789", "907"] {
                let digits: String = pattern.chars().cycle().take(length).collect();
                let value = BigUint::parse_bytes(digits.as_bytes(), 10).unwrap();
                assert_eq!(parse(&digits), Ok((false, value)), "{digits}");
            }
            for pattern in ["f", "1", "F0", "0123456789abcdefABCDEF", "80000000"] {
                let digits: String = pattern.chars().cycle().take(length).collect();
                let value = BigUint::parse_bytes(digits.as_bytes(), 16).unwrap();
                assert_eq!(
                    parse(&format!("-0x{digits}")),
                    Ok((true, value)),
                    "{digits}"
                );
            }
        }
    }

    #[test]
    fn every_byte_that_is_no_digit_is_found_where_it_stands() {
        let mut text = b"0x1234567890abcdefABCDEF".to_vec();
        for position in 2..text.len() {
            for byte in 0..=255u8 {
                let good = std::mem::replace(&mut text[position], byte);
                let number = Number::scan(&text).unwrap();
                let result = number.write(&mut [0; 8], &mut Vec::new());
                if byte.is_ascii_hexdigit() {
                    assert_eq!(result, Ok(()));
                } else {
                    assert_eq!(result.unwrap_err().offset, position, "{byte:#x}");
                }
                text[position] = good;
            }
        }
        let mut text = b"-92233720368547758079223372036854775807".to_vec();
        for position in 1..text.len() {
            for byte in 0..=255u8 {
                if position == 2 && matches!(byte, b'x' | b'X') {
                    continue;
                }
                let good = std::mem::replace(&mut text[position], byte);
                let number = Number::scan(&text).unwrap();
                let result = number.write(&mut [0; 8], &mut Vec::new());
                if byte.is_ascii_digit() {
                    assert_eq!(result, Ok(()));
                } else {
                    assert_eq!(result.unwrap_err().offset, position, "{byte:#x}");
                }
                text[position] = good;
            }
        }
    }

    #[test]
    fn signs_and_prefixes_alone_are_no_numbers() {
        assert_eq!(offset(""), 0);
        assert_eq!(offset("-"), 1);
        assert_eq!(offset("0x"), 2);
        assert_eq!(offset("-0X"), 3);
        assert_eq!(offset("--1"), 1);
        assert_eq!(offset("+1"), 0);
        assert_eq!(offset("1-"), 1);
        assert_eq!(offset("0x-1"), 2);
        assert_eq!(offset("x12"), 0);
        assert_eq!(offset(&format!("{}z", "1".repeat(9000))), 9000);
        assert_eq!(parse("-0"), Ok((true, BigUint::ZERO)));
    }
}
