//! Decimal digits to limbs and back, in less than quadratic time.
//!
//! Numbers may have any length. Ten million digits take well under a second each way. Both
//! directions split numbers into halves at powers `10^(19 e)` (19 digits fit a 64-bit word).
//! `e` is halved at each level, so all products are balanced:
//!
//! ```text
//! parsing   value(digits) = value(high) 10^(19 e) + value(low)
//! printing  digits(x) = digits(q) digits(r),   x = q 10^(19 e) + r
//! ```
//!
//! Short numbers are read and written word by word (`short.rs`), which needs less preparation.
//!
//! **Cost**: with `M(n)` the cost of one product of `n` limbs, `M(n/2)` for each of `log2 n`
//! levels, and `O(M(n))` once for the powers. `print.rs` shows why no level needs a division.
//! Pieces and products use all threads.

pub mod hex;
pub mod nines;
mod powers;
mod print;
mod short;

use self::powers::Powers;
pub use self::print::word_digits;
use crate::Error;
use crate::fast::number::limbs::{add_assign, pack, trim, trimmed};
use crate::fast::number::reciprocal::product;
use crate::memory::{or_out_of_memory, or_unwind, reserve_scratch, scratch, zeroed};
use crate::threads;

/// The decimal digits of a 64-bit word: `10^19 < 2^64`.
const WORD_DIGITS: usize = 19;

/// `10^19`, at least `2^63`.
const WORD_BASE: u64 = 10_000_000_000_000_000_000;

/// The number of words of 19 digits up to which the schoolbook method is faster.
const LEAF_WORDS: usize = 40;

/// The number of words from which on two halves are worth two threads.
const PARALLEL_WORDS: usize = 512;

/// A reader and writer of decimal digits, which keeps its scratch memory from one number to the
/// next.
///
/// ```
/// use bigint_cpu::radix::Decimals;
/// let (mut decimals, mut text) = (Decimals::default(), Vec::new());
/// decimals.write(&[2, 1], &mut text)?;
/// assert_eq!(text, b"4294967298");
/// let mut limbs = [7; 3];
/// decimals.read(&text, &mut limbs)?;
/// assert_eq!(limbs, [2, 1, 0]);
/// # Ok::<(), bigint_cpu::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Decimals {
    number: Vec<u64>,
    fraction: Vec<u64>,
}

impl Decimals {
    /// Writes the value of decimal digits into `limbs`. Limbs are least significant first, and
    /// digits most significant first. Digits are `b'0'` to `b'9'` and nothing else. The value
    /// of no digits is zero.
    ///
    /// # Errors
    ///
    /// [`Error::NotADigit`] for the first byte that is not a digit, and [`Error::OutOfMemory`].
    /// Then `limbs` may hold anything.
    ///
    /// # Panics
    ///
    /// If there are fewer `limbs` than [`limbs_of_digits`] says, and the value does not fit
    /// them.
    pub fn read(&mut self, digits: &[u8], limbs: &mut [u32]) -> Result<(), Error> {
        let value = &mut self.number;
        if digits.len() < short::LONG_DIGITS {
            if !short::read(digits, value)? {
                return Err(not_a_digit(digits));
            }
        } else {
            if !digits.iter().all(u8::is_ascii_digit) {
                return Err(not_a_digit(digits));
            }
            *value = or_out_of_memory(|| parse_digits(digits))?;
        }
        limbs.fill(0);
        let mut places = limbs.chunks_mut(2);
        for &wide in value.iter() {
            let (low, high) = (wide as u32, (wide >> 32) as u32);
            match places.next() {
                Some([first, second]) => (*first, *second) = (low, high),
                Some([last]) if high == 0 => *last = low,
                _ => assert_eq!(wide, 0, "the value is wider than its limbs"),
            }
        }
        // The memory of a long number is not kept for short ones.
        if value.len() > short::MAX_LIMBS {
            *value = Vec::new();
        }
        Ok(())
    }

    /// Appends the decimal digits of a number, without leading zeros. Zero is `0`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if scratch or room for the digits cannot be allocated. Then
    /// anything may have been appended.
    pub fn write(&mut self, limbs: &[u32], text: &mut Vec<u8>) -> Result<(), Error> {
        let limbs = trimmed(limbs);
        if limbs.len() > 2 * short::MAX_LIMBS {
            return or_out_of_memory(|| write_digits(limbs, text));
        }
        short::write(limbs, [&mut self.number, &mut self.fraction], text)
    }
}

/// The error that names the first byte that is not a digit.
fn not_a_digit(digits: &[u8]) -> Error {
    let position = digits.iter().position(|byte| !byte.is_ascii_digit());
    Error::NotADigit {
        position: position.unwrap_or(digits.len()),
    }
}

/// The limbs that hold any number of so many decimal digits. They may be one more than needed.
pub fn limbs_of_digits(digits: usize) -> usize {
    // log2(10) < 217706 / 2^16
    let bits = ((digits as u64 * 217_706) >> 16) + 1;
    bits.div_ceil(32) as usize
}

/// The limbs, least significant first and without zeros at the end, of a number in decimal
/// digits, as [`Decimals::read`] takes them.
///
/// ```
/// use bigint_cpu::radix::parse_decimal;
/// assert_eq!(parse_decimal(b"4294967298")?, [2, 1]);
/// # Ok::<(), bigint_cpu::Error>(())
/// ```
///
/// # Errors
///
/// As [`Decimals::read`].
pub fn parse_decimal(digits: &[u8]) -> Result<Vec<u32>, Error> {
    let mut limbs = zeroed(limbs_of_digits(digits.len()))?;
    Decimals::default().read(digits, &mut limbs)?;
    limbs.truncate(trimmed(&limbs).len());
    Ok(limbs)
}

fn parse_digits(digits: &[u8]) -> Vec<u64> {
    let zeros = digits.iter().take_while(|&&b| b == b'0').count();
    let digits = &digits[zeros..];
    let powers = Powers::new(digits.len().div_ceil(WORD_DIGITS));
    parse(digits, 0, &powers)
}

/// The value of at most `2 powers[level].words` words of digits, without zeros at its end.
fn parse(digits: &[u8], level: usize, powers: &Powers) -> Vec<u64> {
    let words = digits.len().div_ceil(WORD_DIGITS);
    let Some(power) = powers.level(level) else {
        return parse_leaf(digits);
    };
    if words <= power.words {
        return parse(digits, level + 1, powers);
    }
    let (high, low) = digits.split_at(digits.len() - power.words * WORD_DIGITS);
    let (high, low) = both(
        words,
        || parse(high, level + 1, powers),
        || parse(low, level + 1, powers),
    );
    let mut value = product(&high, &power.value);
    let more = low.len().saturating_sub(value.len()) + 1;
    reserve_scratch(&mut value, more);
    value.resize(value.len() + more, 0);
    add_assign(&mut value, &low);
    trim(value)
}

fn parse_leaf(digits: &[u8]) -> Vec<u64> {
    let mut value = Vec::new();
    let is_good = or_unwind(short::read(digits, &mut value));
    debug_assert!(is_good, "digits have been looked at");
    trim(value)
}

/// Appends the decimal digits of a number, as [`Decimals::write`] does.
///
/// ```
/// use bigint_cpu::radix::write_decimal;
/// let mut text = b"2^32 + 2 = ".to_vec();
/// write_decimal(&[2, 1], &mut text)?;
/// assert_eq!(text, b"2^32 + 2 = 4294967298");
/// # Ok::<(), bigint_cpu::Error>(())
/// ```
///
/// # Errors
///
/// As [`Decimals::write`].
pub fn write_decimal(limbs: &[u32], text: &mut Vec<u8>) -> Result<(), Error> {
    Decimals::default().write(limbs, text)
}

fn write_digits(limbs: &[u32], text: &mut Vec<u8>) {
    let mut x = scratch(limbs.len().div_ceil(2));
    pack(&mut x, limbs);
    let digits = print::print(trim(x), text);
    let start = text.len() - digits;
    let is_zero = |digit: &&u8| **digit == b'0';
    let zeros = text[start..].iter().take_while(is_zero).count();
    text.drain(start..start + zeros.min(digits - 1));
}

/// Computes both results, on two threads if the work is worth it.
fn both<A: Send, B: Send>(
    words: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if words >= PARALLEL_WORDS {
        threads::join(a, b)
    } else {
        (a(), b())
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::{parse_decimal, write_decimal};
    use crate::Error;

    fn to_decimal(limbs: &[u32]) -> String {
        let mut text = b"-".to_vec();
        write_decimal(limbs, &mut text).unwrap();
        String::from_utf8(text).unwrap().split_off(1)
    }

    fn oracle(limbs: &[u32]) -> String {
        BigUint::from_slice(limbs).to_string()
    }

    #[track_caller]
    fn check(limbs: &[u32]) {
        let text = to_decimal(limbs);
        assert!(text == oracle(limbs), "{} limbs", limbs.len());
        let mut trimmed = limbs.to_vec();
        while trimmed.last() == Some(&0) {
            trimmed.pop();
        }
        assert_eq!(parse_decimal(text.as_bytes()), Ok(trimmed));
    }

    #[test]
    fn every_short_length_goes_both_ways() {
        let mut state = 1u32;
        for n in 0..200 {
            let random: Vec<u32> = (0..n)
                .map(|_| {
                    state = state.wrapping_mul(0x915f_77f5).wrapping_add(0x3243_f6a9);
                    state.rotate_right(11)
                })
                .collect();
            check(&random);
            check(&vec![u32::MAX; n]);
            check(&[vec![0; n], vec![1]].concat());
        }
    }

    #[test]
    fn lengths_around_every_halving_go_both_ways() {
        for words in [
            39, 40, 41, 79, 80, 81, 159, 160, 161, 320, 321, 1000, 1281, 5000,
        ] {
            for digits in [19 * words - 1, 19 * words, 19 * words + 1] {
                // 10^k - 1, 10^k and 10^k + 1 have quotients and remainders at the ends of
                // their ranges.
                let nines = "9".repeat(digits);
                let power = format!("1{}", "0".repeat(digits - 1));
                let next = format!("1{}1", "0".repeat(digits - 2));
                for text in [nines, power, next] {
                    let limbs = parse_decimal(text.as_bytes()).unwrap();
                    assert!(
                        BigUint::from_slice(&limbs) == text.parse().unwrap(),
                        "{digits} digits"
                    );
                    assert!(to_decimal(&limbs) == text, "{digits} digits");
                }
            }
        }
    }

    #[test]
    fn digits_are_the_same_on_any_number_of_threads() {
        let ones = vec![u32::MAX; 12_000];
        let power = BigUint::from(10u32).pow(115_600);
        let below = &power - 1u32;
        let numbers = [ones, power.to_u32_digits(), below.to_u32_digits()];
        let texts = numbers.each_ref().map(|limbs| oracle(limbs));
        for threads in [1, 2, 3, 16] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| {
                for (limbs, text) in numbers.iter().zip(&texts) {
                    assert!(to_decimal(limbs) == *text, "{threads} threads");
                }
            });
        }
    }

    #[test]
    fn leading_zeros_count_for_nothing() {
        assert_eq!(parse_decimal(b""), Ok(vec![]));
        assert_eq!(parse_decimal(b"000"), Ok(vec![]));
        let digits = [vec![b'0'; 100_000], b"18446744073709551616".to_vec()].concat();
        assert_eq!(parse_decimal(&digits), Ok(vec![0, 0, 1]));
        assert_eq!(to_decimal(&[7, 0, 0]), "7");
    }

    #[test]
    fn anything_but_a_digit_is_refused() {
        assert_eq!(parse_decimal(b"-1"), Err(Error::NotADigit { position: 0 }));
        assert_eq!(parse_decimal(b"1 "), Err(Error::NotADigit { position: 1 }));
        assert_eq!(
            parse_decimal("1\u{663}".as_bytes()),
            Err(Error::NotADigit { position: 1 })
        );
    }
}
