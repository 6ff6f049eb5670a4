//! Texts of any bytes as integers, against num-bigint's reader and writer.
#![no_main]

use bigint_host::{BigInt, Error, Integers};

/// What a text stands for: decimal digits, or those of another base behind `0x`, `0o` or `0b`, `_`
/// between two of them, and `-` or `+` before them or not.
fn value(text: &[u8]) -> Option<BigInt> {
    let (sign, magnitude) = match text {
        [b'-', magnitude @ ..] => (-1, magnitude),
        [b'+', magnitude @ ..] | magnitude => (1, magnitude),
    };
    let (digits, radix) = match magnitude {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', b'o' | b'O', digits @ ..] => (digits, 8),
        [b'0', b'b' | b'B', digits @ ..] => (digits, 2),
        digits => (digits, 10),
    };
    let ends = [digits.first(), digits.last()];
    if ends.contains(&Some(&b'_')) || digits.windows(2).any(|pair| pair == b"__") {
        return None;
    }
    let digits: Vec<u8> = digits.iter().copied().filter(|&b| b != b'_').collect();
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    Some(BigInt::parse_bytes(&digits, radix)? * sign)
}

libfuzzer_sys::fuzz_target!(|texts: Vec<&[u8]>| {
    let values: Option<Vec<BigInt>> = texts.iter().map(|text| value(text)).collect();
    match (Integers::from_texts(&texts), values) {
        (Ok(integers), Some(values)) => {
            assert_eq!(integers.to_bigints().expect("memory suffices"), values);
            for (i, value) in values.iter().enumerate() {
                let [mut decimal, mut hexadecimal] = [Vec::new(), Vec::new()];
                integers
                    .write_decimal(i, &mut decimal)
                    .expect("memory suffices");
                integers.write_hexadecimal(i, &mut hexadecimal);
                assert_eq!(decimal, value.to_string().into_bytes());
                let sign = if value.sign() == num_bigint::Sign::Minus {
                    "-"
                } else {
                    ""
                };
                assert_eq!(
                    hexadecimal,
                    format!("{sign}0x{:x}", value.magnitude()).into_bytes()
                );
            }
        }
        (Err(Error::NotADigit { index, position }), None) => {
            assert!(value(texts[index]).is_none() && position <= texts[index].len());
            assert!(texts[..index].iter().all(|text| value(text).is_some()));
        }
        (found, wanted) => panic!("{found:?} in place of {wanted:?}"),
    }
});
