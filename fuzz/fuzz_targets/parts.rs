//! Integers of limbs, offsets and signs as another program has them: refused, or in order.
#![no_main]

use bigint_host::{Engine, Integers};

libfuzzer_sys::fuzz_target!(|parts: (Vec<u32>, Vec<i16>, Vec<u8>)| {
    let (limbs, ends, signs) = parts;
    // Offsets that may be right: multiples of four bytes are as likely as others.
    let offsets: Vec<i64> = ends
        .iter()
        .map(|&end| i64::from(end) << (2 * (end & 1)) >> (end & 1))
        .collect();
    let Ok(integers) = Integers::from_parts(limbs.clone(), offsets.clone(), signs.clone()) else {
        return;
    };
    let values = integers.to_bigints().expect("memory suffices");
    assert_eq!(values.len(), integers.len());
    // There is one way to write a list of integers.
    let again = Integers::from_bigints(&values).expect("memory suffices");
    assert_eq!(again.into_parts(), (limbs, offsets, signs));
    let engine = Engine::cpu();
    let doubled = engine.add(&integers, &integers)
        .expect("sums have no bad rows");
    for (double, value) in doubled.iter().zip(&values) {
        assert_eq!(double, value * 2);
    }
});
