//! Writes limbs as text.

use bigint_core::Limb;
use bigint_cpu::radix::{Decimals, hex};

/// The base in which results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Decimal digits.
    #[default]
    Dec,
    /// `0x` and lower-case hexadecimal digits.
    Hex,
}

impl Format {
    /// About how many bytes of text a number of `width` limbs takes.
    pub fn text_bytes(self, width: usize) -> usize {
        match self {
            Format::Dec => width * 10 + 2,
            Format::Hex => width * 8 + 4,
        }
    }
}

/// Writes numbers as lines of text; holds the scratch memory for it.
#[derive(Debug)]
pub struct Formatter {
    format: Format,
    decimals: Decimals,
}

impl Formatter {
    /// A formatter for one base.
    pub fn new(format: Format) -> Self {
        Formatter {
            format,
            decimals: Decimals::default(),
        }
    }

    /// Appends the number, with `-` in front where it is negative and not zero,
    /// and a line feed.
    ///
    /// # Errors
    /// [`bigint_cpu::Error::OutOfMemory`].
    pub fn line(
        &mut self,
        negative: bool,
        limbs: &[Limb],
        text: &mut Vec<u8>,
    ) -> Result<(), bigint_cpu::Error> {
        let width = limbs
            .iter()
            .rposition(|&limb| limb != 0)
            .map_or(0, |top| top + 1);
        let limbs = &limbs[..width];
        let room = self.format.text_bytes(width);
        let more = text.try_reserve(room);
        more.map_err(|_| bigint_cpu::Error::OutOfMemory { bytes: room })?;
        if negative && width > 0 {
            text.push(b'-');
        }
        match self.format {
            Format::Hex => hex::write(limbs, text),
            Format::Dec => self.decimals.write(limbs, text)?,
        }
        text.push(b'\n');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn check(value: &BigUint) {
        let mut limbs = value.to_u32_digits();
        limbs.push(0);
        let mut text = Vec::new();
        Formatter::new(Format::Dec)
            .line(false, &limbs, &mut text)
            .unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), format!("{value}\n"));
        let mut text = Vec::new();
        Formatter::new(Format::Hex)
            .line(true, &limbs, &mut text)
            .unwrap();
        let sign = if *value == BigUint::ZERO { "" } else { "-" };
        assert_eq!(
            String::from_utf8(text).unwrap(),
            format!("{sign}0x{value:x}\n")
        );
    }

    #[test]
    fn powers_of_two_and_ten_and_their_neighbours_are_written_as_num_bigint_writes_them() {
        let one = BigUint::from(1u32);
        check(&BigUint::ZERO);
        for exponent in (0..700)
            .chain((700..26_000).step_by(131))
            .chain([4095, 4096, 6400, 9999])
        {
            for base in [2u32, 10] {
                let power = BigUint::from(base).pow(exponent);
                check(&(&power - &one));
                check(&power);
                check(&(&power + &one));
            }
        }
    }

    #[test]
    fn limbs_of_every_pattern_are_written_as_num_bigint_writes_them() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for width in (1..80).chain([255, 256, 257, 799, 800, 801, 1500]) {
            let limbs = (0..width).map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                match state >> 61 {
                    0 => 0,
                    1 => u32::MAX,
                    _ => (state >> 24) as u32,
                }
            });
            check(&BigUint::new(limbs.collect()));
        }
    }
}
