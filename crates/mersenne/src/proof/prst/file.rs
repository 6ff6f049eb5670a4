//! Files of PRST and LLR2.
//!
//! ```text
//! d4 3c 2b 9f     magic number
//! 04 00 kind 00   PRST; the kind is 1 for a point, 3 for a product, 4 for a certificate
//! fingerprint     of what it belongs to
//! iteration       of a point; the level of a product; the squarings of a certificate
//! values          each its number of words of 32 bits, and these
//! ```
//!
//! All words are little-endian, and a value has no zero words at its top. LLR2's have `02 00 00 00` in place
//! of the second line, and behind the values a zero and the sum of all words from the fingerprint on.
//! Beside each file stands another one, with `.md5` behind its name: the MD5 in hexadecimal digits.

use md5::{Digest, Md5};

use crate::{Number, Residue};

const MAGIC: u32 = 0x9f2b_3cd4;

/// The kinds of files.
pub(super) const POINT: u8 = 1;
pub(super) const PRODUCT: u8 = 3;
pub(super) const CERTIFICATE: u8 = 4;

/// What a file holds, behind its head.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) iteration: u32,
    /// Little-endian bytes.
    pub(super) values: Vec<Vec<u8>>,
}

impl Record {
    pub(super) fn to_bytes(&self, kind: u8, fingerprint: u32) -> Vec<u8> {
        let second = u32::from_le_bytes([4, 0, kind, 0]);
        let mut bytes: Vec<u8> = [MAGIC, second, fingerprint, self.iteration]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        for value in &self.values {
            let length = value.iter().rposition(|&byte| byte != 0);
            let words = length.map_or(0, |top| top / 4 + 1);
            let padded = value.iter().copied().chain([0; 3]);
            bytes.extend((words as u32).to_le_bytes());
            bytes.extend(padded.take(4 * words));
        }
        bytes
    }

    /// The contents of a file of PRST of this kind; of LLR2 too, which has no kinds.
    pub(super) fn from_bytes(bytes: &[u8], kind: u8, fingerprint: u32) -> Result<Self, String> {
        let short = || "it is cut short".to_owned();
        let (words, left) = bytes.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let [magic, second, of, iteration, rest @ ..] = &words[..] else {
            return Err(short());
        };
        let of_llr2 = *second == 2;
        if *magic != MAGIC || !(of_llr2 || *second == u32::from_le_bytes([4, 0, kind, 0])) {
            return Err("it is no such file of PRST or LLR2".to_owned());
        }
        if *of != fingerprint {
            return Err(format!(
                "it is of another test: {of:08X} in place of {fingerprint:08X}"
            ));
        }
        let (mut rest, mut values) = (rest, Vec::new());
        while let [length, others @ ..] = rest {
            if of_llr2 && !values.is_empty() && *length == 0 {
                break;
            }
            let value = others.get(..*length as usize).ok_or_else(short)?;
            values.push(value.iter().flat_map(|word| word.to_le_bytes()).collect());
            rest = &others[value.len()..];
        }
        let is_whole = if of_llr2 {
            // PRST writes two empty values before LLR2's zero.
            let sum = |from: &[u32]| from.iter().fold(0u32, |sum, &word| sum.wrapping_add(word));
            let [_, _, read @ ..] = &words[..words.len() - rest.len()] else {
                return Err(short());
            };
            let zeros = rest.iter().take_while(|&&word| word == 0).count();
            rest.get(zeros) == Some(&sum(read)) && matches!(zeros, 1 | 3)
        } else {
            left.is_empty()
        };
        match is_whole {
            true => Ok(Record {
                iteration: *iteration,
                values,
            }),
            false => Err("it is damaged: its sum is wrong".to_owned()),
        }
    }
}

/// The bytes of a residue's value.
pub(super) fn value(residue: &Residue) -> Vec<u8> {
    let mut bytes = residue.to_bytes();
    let top = bytes.iter().rposition(|&byte| byte != 0);
    bytes.truncate(top.map_or(0, |top| (top / 4 + 1) * 4));
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The residue with this value, if it is not 0, and below the number.
pub(super) fn unit(number: Number, value: &[u8]) -> Result<Residue, String> {
    let top = value.iter().rposition(|&byte| byte != 0);
    let mut bytes = value[..top.map_or(0, |top| top + 1)].to_vec();
    let is_longer = bytes.len() > number.bytes();
    bytes.resize(number.bytes(), 0);
    Residue::unit_from_bytes(number, &bytes)
        .filter(|_| !is_longer)
        .ok_or_else(|| {
            format!("it has a residue that is 0, or not below {number}: nothing is proved")
        })
}

/// The MD5 of bytes in hexadecimal digits.
pub(crate) fn md5(bytes: &[u8]) -> String {
    let sum = Md5::digest(bytes);
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_words_of_prst_and_of_llr2() {
        // 5^16 has 38 bits, two words.
        let value = 5u64.pow(16).to_le_bytes().to_vec();
        let record = Record {
            iteration: 9,
            values: vec![value.clone(), Vec::new()],
        };
        let bytes = record.to_bytes(CERTIFICATE, 0x0102_0304);
        let text: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            text.concat(),
            "d43c2b9f0400040004030201090000000200000\
             0c16ff28623000000"
                .replace(' ', "")
                .to_owned()
                + "00000000"
        );
        assert_eq!(
            Record::from_bytes(&bytes, CERTIFICATE, 0x0102_0304),
            Ok(record)
        );
        // The same as LLR2 has it, and as PRST writes that: fingerprint, 9, 2 and the value's words are summed.
        let sum = 0x0102_0304u32 + 9 + 2 + 0x86f2_6fc1 + 0x23;
        for zeros in [1, 3] {
            let words = [MAGIC, 2, 0x0102_0304, 9, 2, 0x86f2_6fc1, 0x23];
            let behind = [vec![0; zeros], vec![sum], vec![0; 20]].concat();
            let bytes = |behind: &[u32]| -> Vec<u8> {
                let words = words.iter().chain(behind);
                words.flat_map(|word| word.to_le_bytes()).collect()
            };
            let read = Record::from_bytes(&bytes(&behind), CERTIFICATE, 0x0102_0304).unwrap();
            assert_eq!(
                (read.iteration, &read.values[..]),
                (9, &[value.clone()][..])
            );
            for at in 0..4 * (words.len() + zeros + 1) {
                let mut wrong = bytes(&behind);
                wrong[at] ^= 1;
                let read = Record::from_bytes(&wrong, CERTIFICATE, 0x0102_0304);
                assert!(read.is_err(), "{zeros} {at}");
            }
            assert!(Record::from_bytes(&bytes(&[]), CERTIFICATE, 0x0102_0304).is_err());
        }
    }
}
