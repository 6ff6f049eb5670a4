//! Columns as text for people: a few numbers, and how many there are.

use crate::{Batch, BigInt, Error, Integers, SignedBatch};
use std::fmt;

/// How many numbers are shown.
const FEW: usize = 8;

/// How many digits of a number are shown; of longer ones the first and the last.
const MOST_DIGITS: usize = 50;
const DIGITS_OF_END: usize = 15;

/// The length in bits up to which a number is shown in decimal; longer ones would take too long,
/// and are shown in hexadecimal.
const MOST_BITS: u64 = 1 << 17;

/// Writes `[1, 2, 3]`, or of many `[1, 2, 3, ...] (1000 numbers)`.
fn show(
    f: &mut fmt::Formatter<'_>,
    count: usize,
    number: impl Fn(usize) -> Result<Option<BigInt>, Error>,
) -> fmt::Result {
    f.write_str("[")?;
    for index in 0..count.min(FEW) {
        f.write_str(if index == 0 { "" } else { ", " })?;
        match number(index) {
            Ok(Some(number)) => show_number(f, &number)?,
            Ok(None) => {}
            Err(error) => write!(f, "<{error}>")?,
        }
    }
    match count > FEW {
        true => write!(f, ", ...] ({count} numbers)"),
        false => f.write_str("]"),
    }
}

fn show_number(f: &mut fmt::Formatter<'_>, number: &BigInt) -> fmt::Result {
    let (text, unit) = match number.bits() <= MOST_BITS {
        true => (number.to_string(), "digits"),
        false => (format!("{number:#x}"), "hexadecimal digits"),
    };
    if text.len() <= MOST_DIGITS {
        return f.write_str(&text);
    }
    let digits = text.trim_start_matches("-").trim_start_matches("0x").len();
    let (start, end) = (&text[..DIGITS_OF_END], &text[text.len() - DIGITS_OF_END..]);
    write!(f, "{start}...{end} ({digits} {unit})")
}

/// Writes the numbers, or says that they are secret.
fn show_unless_secret(
    f: &mut fmt::Formatter<'_>,
    batch: &Batch,
    number: impl Fn(usize) -> Result<Option<BigInt>, Error>,
) -> fmt::Result {
    match batch.is_secret() {
        true => write!(f, "[secret] ({} numbers)", batch.len()),
        false => show(f, batch.len(), number),
    }
}

/// Writes a few numbers, and how many there are.
impl fmt::Display for Integers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.len(), |index| Ok(self.get(index)))
    }
}

impl fmt::Debug for Integers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Integers{self}")
    }
}

/// Writes a few numbers, and how many there are, but no secrets. Waits for the device.
impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_unless_secret(f, self, |index| Ok(self.get(index)?.map(BigInt::from)))
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, location) = (self.width(), self.location());
        write!(f, "Batch{self} of {width} limbs on {location}")
    }
}

/// Writes a few numbers, and how many there are, but no secrets. Waits for the device.
impl fmt::Display for SignedBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_unless_secret(f, self.magnitude(), |index| self.get(index))
    }
}

impl fmt::Debug for SignedBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, location) = (self.magnitude().width(), self.magnitude().location());
        write!(f, "SignedBatch{self} of {width} limbs on {location}")
    }
}
