//! Integers as text: decimal, `0x` hex, `0o` octal or `0b` binary, with an optional
//! sign and `_` between digits.
//!
//! Digits go straight into 32-bit limbs and back, eight at a time inside one
//! 64-bit word.

use crate::Error;
use bigint_core::{LIMB_BITS, Limb, MAX_WIDTH};
use bigint_cpu::radix::{self, Decimals};
use std::fmt;

/// The base in which an integer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Binary,
    Octal,
    Decimal,
    Hex,
}

impl Base {
    /// The base that the prefix of a number without its sign names.
    fn of(text: &[u8]) -> Self {
        match text {
            [b'0', b'x' | b'X', ..] => Base::Hex,
            [b'0', b'o' | b'O', ..] => Base::Octal,
            [b'0', b'b' | b'B', ..] => Base::Binary,
            _ => Base::Decimal,
        }
    }

    /// The value of a digit, if it is one.
    fn digit(self, byte: u8) -> Option<u8> {
        let radix = match self {
            Base::Binary => 2,
            Base::Octal => 8,
            Base::Decimal => 10,
            Base::Hex => 16,
        };
        char::from(byte).to_digit(radix).map(|digit| digit as u8)
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Base::Binary => "binary",
            Base::Octal => "octal",
            Base::Decimal => "decimal",
            Base::Hex => "hexadecimal",
        })
    }
}

/// An integer's text, split into its parts. The digits are not yet checked.
#[derive(Clone, Copy, Debug)]
pub struct Number<'a> {
    /// Whether a `-` stands in front, even of a zero.
    pub negative: bool,
    digits: &'a [u8],
    base: Base,
    /// The offset of the first digit in the text.
    offset: usize,
}

/// An error in an integer's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadNumber {
    /// The offset of the wrong byte in the text.
    pub offset: usize,
    what: Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    NotADigit { byte: u8, base: Base },
    NoDigits,
    TooLong,
}

/// Why an integer could not be read.
#[derive(Debug)]
pub enum Unread {
    /// The text is not an integer.
    Bad(BadNumber),
    /// Memory ran out.
    Memory(Error),
}

impl fmt::Display for BadNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            Wrong::NotADigit { byte: b'_', .. } => {
                f.write_str("'_' may stand between two digits only")
            }
            Wrong::NotADigit { byte: b'\r', .. } => f.write_str(
                "a carriage return inside a line: lines end with a line feed \
                 (tr '\\r' '\\n' converts old Mac files)",
            ),
            Wrong::NotADigit { byte, base } => {
                if byte.is_ascii_graphic() || byte == b' ' {
                    write!(f, "{:?} is not a {base} digit", char::from(byte))
                } else {
                    write!(f, "the byte 0x{byte:02x} is not a {base} digit")
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
        let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
        let base = Base::of(&text[sign..]);
        let offset = sign + if base == Base::Decimal { 0 } else { 2 };
        let number = Number {
            negative: text.first() == Some(&b'-'),
            digits: &text[offset..],
            base,
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

    /// Limbs that hold the magnitude: at least one, and at most one too many for
    /// decimal digits without `_`.
    pub fn width(&self) -> usize {
        let digits = self.digits.len() as u64;
        let bits = match self.base {
            Base::Binary => digits,
            Base::Octal => 3 * digits,
            Base::Decimal => return radix::limbs_of_digits(self.digits.len()),
            Base::Hex => 4 * digits,
        };
        usize::try_from(bits.div_ceil(LIMB_BITS as u64)).unwrap_or(usize::MAX)
    }

    /// Checks every digit without computing the value.
    ///
    /// # Errors
    /// The first byte that is neither a digit nor `_` between two of them.
    pub fn check(&self) -> Result<(), BadNumber> {
        let is_digit = |index: usize| {
            let byte = self.digits.get(index).copied();
            byte.is_some_and(|byte| self.base.digit(byte).is_some())
        };
        let is_good = |index: usize| {
            let separates = |index: usize| index > 0 && is_digit(index - 1) && is_digit(index + 1);
            is_digit(index) || (self.digits[index] == b'_' && separates(index))
        };
        match (0..self.digits.len()).find(|&index| !is_good(index)) {
            None => Ok(()),
            Some(index) => Err(BadNumber {
                offset: self.offset + index,
                what: Wrong::NotADigit {
                    byte: self.digits[index],
                    base: self.base,
                },
            }),
        }
    }

    /// Writes the magnitude into `limbs`, little-endian, zeros above it.
    /// `decimals` spares allocations between calls.
    ///
    /// Cost: as [`Decimals::read`]'s for decimal; linear for the other bases.
    ///
    /// # Errors
    /// [`Unread`].
    ///
    /// # Panics
    /// When `limbs` is shorter than [`Number::width`].
    pub fn write(&self, limbs: &mut [Limb], decimals: &mut Decimals) -> Result<(), Unread> {
        assert!(limbs.len() >= self.width());
        let good = match self.base {
            Base::Hex => radix::hex::parse(self.digits, limbs),
            Base::Decimal => parse_decimal(self.digits, limbs, decimals)?,
            Base::Binary | Base::Octal => false,
        };
        if good {
            return Ok(());
        }
        // A digit that is none, or a form that is rare.
        self.check().map_err(Unread::Bad)?;
        match self.base {
            Base::Binary => pack(self.values(), 1, limbs),
            Base::Octal => pack(self.values(), 3, limbs),
            Base::Hex => pack(self.values(), 4, limbs),
            Base::Decimal => {
                let mut digits = bigint_cpu::with_capacity(self.digits.len())?;
                digits.extend(self.values().rev().map(|digit| b'0' + digit));
                parse_decimal(&digits, limbs, decimals)?;
            }
        }
        Ok(())
    }

    /// The values of the digits, the last one first.
    fn values(&self) -> impl DoubleEndedIterator<Item = u8> {
        let digits = self.digits.iter().rev();
        digits.filter_map(|&byte| self.base.digit(byte))
    }
}

impl<E: Into<Error>> From<E> for Unread {
    fn from(error: E) -> Self {
        Unread::Memory(error.into())
    }
}

/// Whether all bytes were digits; `limbs` are unspecified where not.
fn parse_decimal(
    digits: &[u8],
    limbs: &mut [Limb],
    decimals: &mut Decimals,
) -> Result<bool, Unread> {
    match decimals.read(digits, limbs) {
        Ok(()) => Ok(true),
        Err(bigint_cpu::Error::NotADigit { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Joins digits of `bits` bits each, the least significant first.
fn pack(digits: impl Iterator<Item = u8>, bits: usize, limbs: &mut [Limb]) {
    limbs.fill(0);
    for (index, digit) in digits.enumerate() {
        let (limb, shift) = (index * bits / LIMB_BITS, index * bits % LIMB_BITS);
        let wide = u64::from(digit) << shift;
        limbs[limb] |= wide as Limb;
        // Bits above the last limb are zeros in front.
        if let Some(next) = limbs.get_mut(limb + 1) {
            *next |= (wide >> LIMB_BITS) as Limb;
        }
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
        match number.write(&mut limbs, &mut Decimals::default()) {
            Ok(()) => Ok((number.negative, BigUint::new(limbs))),
            Err(Unread::Bad(bad)) => Err(bad),
            Err(Unread::Memory(error)) => panic!("{error}"),
        }
    }

    fn offset(text: &str) -> usize {
        parse(text).unwrap_err().offset
    }

    #[test]
    fn every_length_of_text_reads_as_num_bigint_reads_it() {
        for length in (1..200).chain([1000, 2048, 2999, 3000, 5000]) {
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
            for (prefix, radix, pattern) in [("0o", 8, "17230"), ("0O", 8, "7"), ("0b", 2, "110")] {
                let digits: String = pattern.chars().cycle().take(length).collect();
                let value = BigUint::parse_bytes(digits.as_bytes(), radix).unwrap();
                assert_eq!(parse(&format!("+{prefix}{digits}")), Ok((false, value)));
            }
            for (prefix, radix) in [("", 10), ("0x", 16), ("0o", 8), ("0b", 2)] {
                let digits: String = "10".chars().cycle().take(length).collect();
                let value = BigUint::parse_bytes(digits.as_bytes(), radix).unwrap();
                let groups: Vec<&str> = digits
                    .as_bytes()
                    .chunks(3)
                    .map(|group| std::str::from_utf8(group).unwrap())
                    .collect();
                let text = prefix.to_owned() + &groups.join("_");
                assert_eq!(parse(&text), Ok((false, value)), "{text}");
            }
        }
    }

    /// The number is good, or its fault is told at `position`.
    fn check(number: &Number<'_>, is_good: bool, position: usize) {
        match number.write(&mut [0; 8], &mut Decimals::default()) {
            Ok(()) => assert!(is_good, "{position}"),
            Err(Unread::Bad(bad)) => assert_eq!((is_good, bad.offset), (false, position)),
            Err(Unread::Memory(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn every_byte_that_is_no_digit_is_found_where_it_stands() {
        let mut text = b"0x1234567890abcdefABCDEF".to_vec();
        for position in 2..text.len() {
            for byte in 0..=255u8 {
                let good = std::mem::replace(&mut text[position], byte);
                let number = Number::scan(&text).unwrap();
                let separates = byte == b'_' && position > 2 && position + 1 < text.len();
                check(&number, byte.is_ascii_hexdigit() || separates, position);
                text[position] = good;
            }
        }
        let mut text = b"-92233720368547758079223372036854775807".to_vec();
        for position in 1..text.len() {
            for byte in 0..=255u8 {
                let good = std::mem::replace(&mut text[position], byte);
                let number = Number::scan(&text).unwrap();
                let separates = byte == b'_' && position > 1 && position + 1 < text.len();
                check(&number, byte.is_ascii_digit() || separates, position);
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
        assert_eq!(offset("+"), 1);
        assert_eq!(offset("-+1"), 1);
        assert_eq!(offset("0b12"), 3);
        assert_eq!(offset("0o8"), 2);
        assert_eq!(offset("_1"), 0);
        assert_eq!(offset("1_"), 1);
        assert_eq!(offset("1__0"), 1);
        assert_eq!(offset("0x_1"), 2);
        assert_eq!(parse("+5"), Ok((false, 5u32.into())));
        assert_eq!(offset("1-"), 1);
        assert_eq!(offset("0x-1"), 2);
        assert_eq!(offset("x12"), 0);
        assert_eq!(offset(&format!("{}z", "1".repeat(9000))), 9000);
        assert_eq!(parse("-0"), Ok((true, BigUint::ZERO)));
    }
}
