//! Texts of any bytes as integers, against num-bigint's reader and writer.
#![no_main]

use bigint_host::{BigInt, Error, Integers};

/// What a text stands for: decimal digits, or hexadecimal ones behind `0x`, `-` before them or not.
fn value(text: &[u8]) -> Option<BigInt> {
    let magnitude = text.strip_prefix(b"-").unwrap_or(text);
    let hexadecimal = magnitude
        .strip_prefix(b"0x")
        .or(magnitude.strip_prefix(b"0X"));
    let (digits, radix) = hexadecimal.map_or((magnitude, 10), |digits| (digits, 16));
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let value = BigInt::parse_bytes(digits, radix)?;
    Some(if magnitude.len() < text.len() {
        -value
    } else {
        value
    })
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
