//! ECDSA against k256 and p256.

use super::on_cpu;
use super::oracles::{ECDSA, Oracle, Row, bytes, changed};
use bigint_curves::{Curve, Rejection, Signed};
use num_bigint::BigUint;

/// The number of points of a curve.
pub fn order(curve: Curve) -> BigUint {
    let hex = match curve {
        Curve::Secp256k1 => "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
        _ => "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
    };
    BigUint::parse_bytes(hex.as_bytes(), 16).unwrap()
}

fn prime(curve: Curve) -> BigUint {
    let hex = match curve {
        Curve::Secp256k1 => "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f",
        _ => "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
    };
    BigUint::parse_bytes(hex.as_bytes(), 16).unwrap()
}

/// 32 bytes, the highest first.
pub fn big_endian(number: &BigUint) -> [u8; 32] {
    let bytes = number.to_bytes_be();
    let mut all = [0; 32];
    all[32 - bytes.len()..].copy_from_slice(&bytes);
    all
}

/// `x` of `k G`, as the oracle has it.
fn multiple(oracle: &Oracle, k: &BigUint) -> (BigUint, Vec<u8>) {
    let key = (oracle.sign)(&big_endian(k), &[1; 32]).uncompressed;
    (BigUint::from_bytes_be(&key[1..33]), key)
}

/// Signatures, each with one in which a bit is another, at times.
pub fn with_changes(oracle: &Oracle, count: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for i in 0..count {
        let digest = bytes::<64>(3 * i + 1)[..[32, 32, 48, 20, 16, 64][i % 6]].to_vec();
        let made = (oracle.sign)(&bytes(3 * i), &digest);
        let key = if i % 2 == 0 {
            made.compressed
        } else {
            made.uncompressed
        };
        let row = [key, digest, made.signature];
        rows.extend([row.clone(), changed(row, 3 * i + 2)]);
    }
    rows
}

/// Signatures whose sums on the way are of a point with itself or with its opposite, or 0: with the key `d G`, the sum
/// `u G + v d G`.
pub fn with_failing_sums(oracle: &Oracle, d: &[i64], u: &[i64], v: &[i64]) -> Vec<Row> {
    let n = order(oracle.curve);
    let number = |x: &i64| {
        let magnitude = BigUint::from(x.unsigned_abs());
        if *x < 0 { &n - magnitude } else { magnitude }
    };
    let [d, u, v] = [d, u, v].map(|numbers| numbers.iter().map(number).collect::<Vec<_>>());
    of_factors(oracle, &d, &u, &v)
}

/// Signatures with the keys `d G`, whose sums are `u G + v d G`.
pub fn of_factors(oracle: &Oracle, d: &[BigUint], u: &[BigUint], v: &[BigUint]) -> Vec<Row> {
    let n = order(oracle.curve);
    let half = (&n - 1u8) / 2u8;
    let mut rows = Vec::new();
    for (d, u, v) in d
        .iter()
        .flat_map(|d| u.iter().flat_map(move |u| v.iter().map(move |v| (d, u, v))))
    {
        let (_, key) = multiple(oracle, d);
        let sum = (u + v * d) % &n;
        // The signature of (u, v) if the sum is a point, and nobody's if it is 0.
        let point = if sum == BigUint::ZERO {
            BigUint::from(1u8)
        } else {
            sum
        };
        let r = multiple(oracle, &point).0 % &n;
        let (mut u, mut v) = (u.clone(), v.clone());
        let mut s = &r * v.modinv(&n).unwrap() % &n;
        if oracle.low_s && s > half {
            // (-u, -v) gives the opposite sum, with the same x.
            (u, v, s) = ((&n - u) % &n, &n - v, &n - s);
        }
        assert_eq!(&s * v % &n, r);
        let digest = big_endian(&(&s * u % &n));
        rows.push([
            key,
            digest.to_vec(),
            [big_endian(&r), big_endian(&s)].concat(),
        ]);
    }
    rows
}

#[test]
fn signatures_and_what_is_changed_in_them() {
    let count = bigint_testing::sweep(60, 4_000);
    for oracle in ECDSA {
        let outcomes = oracle.check(&with_changes(&oracle, count));
        // A digest's byte beyond the 32nd changes nothing.
        let good = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert!(
            (count..count + count / 3).contains(&good),
            "{good} of {count}"
        );
        assert!(outcomes.iter().step_by(2).all(Result::is_ok));
    }
}

#[test]
fn sums_that_formulas_fail_for() {
    let u = [0, 1, 2, 5, 127, 128, 129, 255, 256, 512, 65536, -1, -256];
    let v = [1, 2, 3, 5, 16, 127, 128, 256, -1, -5, -128];
    for oracle in ECDSA {
        let outcomes = oracle.check(&with_failing_sums(&oracle, &[1, 2, 3, -1, 256], &u, &v));
        let good = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert!(
            good > 600 && good < outcomes.len(),
            "{good} of {}",
            outcomes.len()
        );
    }
}

#[test]
fn each_rejection_says_what_is_wrong() {
    for oracle in ECDSA {
        let curve = oracle.curve;
        let digest: [u8; 32] = bytes(1);
        let made = (oracle.sign)(&bytes(0), &digest);
        let n = order(curve);
        let outcome = |public_key: &[u8], message: &[u8], signature: &[u8]| {
            on_cpu(
                curve,
                true,
                &[Signed {
                    public_key,
                    message,
                    signature,
                }],
            )[0]
        };
        let of_key = |key: &[u8]| outcome(key, &digest, &made.signature);
        let (x, _) = made.uncompressed[1..].split_at(32);
        assert_eq!(of_key(&made.compressed[1..]), Err(Rejection::KeyEncoding));
        assert_eq!(of_key(&[]), Err(Rejection::KeyEncoding));
        for first in [0, 1, 4, 5, 6, 7] {
            assert_eq!(of_key(&[&[first], x].concat()), Err(Rejection::KeyEncoding));
        }
        let mut other = made.uncompressed.clone();
        other[64] ^= 1;
        assert_eq!(of_key(&other), Err(Rejection::NotOnCurve));
        let large = [&[2][..], &big_endian(&prime(curve))].concat();
        assert_eq!(of_key(&large), Err(Rejection::KeyEncoding));
        // Half of all x are those of no point.
        let outcomes: Vec<_> = (1..40)
            .map(|x| of_key(&[&[2][..], &[0; 31], &[x]].concat()))
            .collect();
        for expected in [Rejection::NotOnCurve, Rejection::Mismatch] {
            assert!(
                outcomes
                    .iter()
                    .filter(|outcome| **outcome == Err(expected))
                    .count()
                    > 8
            );
        }
        let of_signature = |signature: &[u8]| outcome(&made.compressed, &digest, signature);
        assert_eq!(
            of_signature(&made.signature[1..]),
            Err(Rejection::SignatureEncoding)
        );
        assert_eq!(
            of_signature(&[&made.signature[..], &[0]].concat()),
            Err(Rejection::SignatureEncoding)
        );
        let (r, s) = made.signature.split_at(32);
        let with_s = |s: &BigUint| of_signature(&[r, &big_endian(s)].concat());
        for number in [BigUint::ZERO, n.clone(), &n + 1u8] {
            assert_eq!(with_s(&number), Err(Rejection::Range));
            assert_eq!(
                of_signature(&[&big_endian(&number), s].concat()),
                Err(Rejection::Range)
            );
        }
        let half = (&n - 1u8) / 2u8;
        assert_eq!(with_s(&half), Err(Rejection::Mismatch));
        assert_eq!(with_s(&(&half + 1u8)), Err(Rejection::HighS));
        let other = &n - BigUint::from_bytes_be(s);
        let both = [&made.signature, &[r, &big_endian(&other)].concat()];
        let both = both.map(|signature| Signed {
            public_key: &made.compressed,
            message: &digest,
            signature,
        });
        // Both are good without the policy, and one of them with it.
        assert_eq!(on_cpu(curve, false, &both), [Ok(()); 2]);
        let strict = on_cpu(curve, true, &both);
        assert!(strict.contains(&Ok(())) && strict.contains(&Err(Rejection::HighS)));
        assert_eq!(
            outcome(&made.compressed, &digest[..15], &made.signature),
            Err(Rejection::ShortDigest)
        );
        let zeros = outcome(&made.compressed, &[0; 32], &made.signature);
        assert!(matches!(zeros, Err(Rejection::Mismatch | Rejection::HighS)));
        assert_eq!(on_cpu(curve, false, &[]), []);
    }
}
