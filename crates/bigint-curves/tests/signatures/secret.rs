//! Multiples by secrets against k256, p256 and curve25519-dalek. `tests/constant_time` looks at their time.

use super::ecdsa::{big_endian, order};
use super::oracles::{ECDSA, bytes};
use bigint_curves::{Curve, Rejection};
use curve25519_dalek::Scalar;
use curve25519_dalek::edwards::CompressedEdwardsY;
use num_bigint::BigUint;

/// Numbers of 256 bits: small ones, and around multiples of the number of points.
fn numbers(order: &BigUint) -> Vec<BigUint> {
    let all: BigUint = (BigUint::from(1u8) << 256) - 1u8;
    let mut numbers: Vec<_> = (0..19u8).map(BigUint::from).collect();
    for k in 0..3u8 {
        numbers.extend([
            order - k,
            order + k,
            order * 2u8 + k,
            order * 2u8 - k,
            &all - k,
            &all / 2u8 - k,
        ]);
    }
    numbers.retain(|number| *number <= all);
    numbers.extend((0..8).map(|seed| BigUint::from_bytes_be(&bytes::<32>(seed))));
    numbers
}

#[test]
fn multiples_on_short_curves() {
    for oracle in ECDSA {
        let (curve, n) = (oracle.curve, order(oracle.curve));
        let key = |number: &BigUint| match number % &n {
            zero if zero == BigUint::ZERO => vec![0; 65],
            rest => (oracle.sign)(&big_endian(&rest), &[1; 32]).uncompressed,
        };
        // d G times k is d k G.
        for d in [1, 2, 0xffff_ffffu32].map(BigUint::from) {
            let point = (oracle.sign)(&big_endian(&d), &[1; 32]);
            for k in numbers(&n) {
                for point in [&point.compressed, &point.uncompressed] {
                    let made = curve.multiply_secret(point, &big_endian(&k)).unwrap();
                    assert_eq!(made, key(&(&d * &k)), "{curve:?} {d} {k:x}");
                }
            }
        }
        assert_eq!(curve.generator(), key(&BigUint::from(1u8)));
        let mut none = curve.generator();
        none[64] ^= 1;
        assert_eq!(
            curve.multiply_secret(&none, &[1; 32]),
            Err(Rejection::NotOnCurve)
        );
        assert_eq!(
            curve.multiply_secret(&[4; 64], &[1; 32]),
            Err(Rejection::KeyEncoding)
        );
    }
}

#[test]
fn multiples_on_edwards25519() {
    let order =
        BigUint::from(0x14de_f9de_a2f7_9cd6_5812_631a_5cf5_d3ed_u128) + (BigUint::from(1u8) << 252);
    let generator = Curve::Ed25519.generator();
    for seed in 0..3 {
        // Any points: most have a part of small order, for which numbers count modulo eight times the order.
        let candidates = (0..).map(|i| {
            if seed == 0 {
                generator.clone()
            } else {
                bytes::<32>(100 * seed + i).to_vec()
            }
        });
        let mut candidates = candidates.filter_map(|bytes| {
            Some((
                CompressedEdwardsY::from_slice(&bytes)
                    .unwrap()
                    .decompress()?,
                bytes,
            ))
        });
        let (point, bytes) = candidates.next().unwrap();
        for k in numbers(&order) {
            let mut number = big_endian(&k);
            number.reverse();
            let [low, high] = [&k % 16u8, &k / 16u8].map(|part| {
                let mut part = big_endian(&part);
                part.reverse();
                Scalar::from_canonical_bytes(part).unwrap()
            });
            let sixteen = (0..4).fold(point, |sum, _| sum + sum);
            let expected = point * low + sixteen * high;
            let made = Curve::Ed25519.multiply_secret(&bytes, &number).unwrap();
            assert_eq!(made, expected.compress().as_bytes(), "{k:x}");
        }
    }
    let none = Curve::Ed25519.multiply_secret(&[2; 32], &[1; 32]);
    assert_eq!(
        none.is_err(),
        CompressedEdwardsY([2; 32]).decompress().is_none()
    );
    assert_eq!(
        Curve::Ed25519.multiply_secret(&[2; 31], &[1; 32]),
        Err(Rejection::KeyEncoding)
    );
}
