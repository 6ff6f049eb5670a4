//! Certificates as PRST and LLR2 have them: refused, or computed as num-bigint computes them.
#![no_main]

use bigint_fuzz::damage::{Damage, damaged};
use mersenne::{Cpu, Number, PrstCertificate, PrstPower, Residue};
use num_bigint::BigUint;

/// `k`, `b`, `n` and `c` of numbers that are quick to compute with.
const NUMBERS: [(u64, u32, u32, i32); 4] = [
    (3, 2, 67, -1),
    (9, 2, 100, 1),
    (2, 5, 30, 1),
    (1, 594, 9, -1625),
];

/// A value of a file.
#[derive(arbitrary::Arbitrary, Debug)]
enum Value<'a> {
    Small(u8),
    /// The number less this.
    Below(u8),
    Words(&'a [u8]),
}

impl Value<'_> {
    /// The number of words, and these.
    fn words(&self, modulus: &BigUint) -> Vec<u32> {
        let words = match self {
            Value::Small(x) => BigUint::from(*x).to_u32_digits(),
            Value::Below(less) => (modulus - *less).to_u32_digits(),
            Value::Words(bytes) => BigUint::from_bytes_le(bytes).to_u32_digits(),
        };
        let length = words.len() as u32;
        [vec![length], words].concat()
    }
}

fn integer(residue: &Residue) -> BigUint {
    BigUint::from_bytes_le(&residue.to_bytes())
}

libfuzzer_sys::fuzz_target!(|input: (u8, bool, u8, Vec<Value<'_>>, Vec<Damage<'_>>)| {
    let (which, is_of_llr2, squarings, values, damages) = input;
    let (k, b, n, c) = NUMBERS[usize::from(which) % NUMBERS.len()];
    let number = Number::of(k, b, n, c).expect("it is one");
    let above = BigUint::from(k) * BigUint::from(b).pow(n);
    let modulus = match c {
        1.. => above + c.unsigned_abs(),
        _ => above - c.unsigned_abs(),
    };
    let second = if is_of_llr2 { 2 } else { 4 << 16 | 4 };
    let fingerprint = number.modulo(3_417_905_339);
    let mut words = vec![0x9f2b_3cd4, second, fingerprint, squarings.into()];
    words.extend(values.iter().flat_map(|value| value.words(&modulus)));
    words.extend(is_of_llr2.then_some(0));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut bytes = damaged(&bytes, &damages);
    if is_of_llr2 && bytes.len() > 8 {
        let (words, _) = bytes[8..].as_chunks();
        let sum = words.iter().fold(0, |sum: u32, word| {
            sum.wrapping_add(u32::from_le_bytes(*word))
        });
        bytes.extend(sum.to_le_bytes());
    }
    let Ok(certificate) = PrstCertificate::from_bytes(number, &bytes) else {
        return;
    };
    let again = PrstCertificate::from_bytes(number, &certificate.to_bytes());
    assert_eq!(again.as_ref(), Ok(&certificate));
    let Some(mut power) = PrstPower::new(certificate.clone()) else {
        return;
    };
    let cpu = Cpu::default();
    let mut machine = power.machine(&cpu).expect("the CPU has memory");
    while !power
        .advance(&mut machine, 1000)
        .expect("the arithmetic is right")
    {}
    let (base, exponent) = certificate.power.expect("it has an exponent");
    let squares = BigUint::from(1u32) << certificate.squarings;
    let start = integer(&certificate.start).modpow(&squares, &modulus);
    let right = start * integer(&base).modpow(&exponent, &modulus) % &modulus;
    assert_eq!(power.residue().map(integer), Some(right));
});
