//! Ed25519 against ed25519-dalek's strict rule.

use super::on_cpu;
use super::oracles::{Row, bytes, changed, signed};
use bigint_curves::{Curve, Rejection, Signed};
use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};
use curve25519_dalek::{EdwardsPoint, Scalar};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use sha2::{Digest, Sha512};

fn by_dalek(signed: &Signed<'_>) -> bool {
    let key = signed
        .public_key
        .try_into()
        .ok()
        .and_then(|key| VerifyingKey::from_bytes(key).ok());
    let (Some(key), Ok(signature)) = (key, Signature::from_slice(signed.signature)) else {
        return false;
    };
    key.verify_strict(signed.message, &signature).is_ok()
}

fn check(rows: &[Row]) -> Vec<Result<(), Rejection>> {
    let signed = signed(rows);
    let outcomes = on_cpu(Curve::Ed25519, false, &signed);
    for (signed, outcome) in signed.iter().zip(&outcomes) {
        assert_eq!(
            outcome.is_ok(),
            by_dalek(signed),
            "{signed:02x?}: {outcome:?}"
        );
    }
    outcomes
}

/// Signatures, each with one in which a bit is another.
pub fn with_changes(count: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for i in 0..count {
        let key = SigningKey::from_bytes(&bytes(3 * i));
        let message = bytes::<300>(3 * i + 1)[..i % 300].to_vec();
        let signature = key.sign(&message).to_bytes().to_vec();
        let row = [key.verifying_key().to_bytes().to_vec(), message, signature];
        rows.extend([row.clone(), changed(row, 3 * i + 2)]);
    }
    rows
}

#[test]
fn signatures_and_what_is_changed_in_them() {
    let count = bigint_testing::sweep(80, 10_000);
    let outcomes = check(&with_changes(count));
    assert!(outcomes.iter().step_by(2).all(Result::is_ok));
    assert!(
        outcomes
            .iter()
            .skip(3)
            .step_by(2)
            .filter(|outcome| outcome.is_ok())
            .count()
            * 100
            < count
    );
}

/// The order of the generator.
fn order() -> [u8; 32] {
    let mut order = [0; 32];
    order[..16].copy_from_slice(&0x14de_f9de_a2f7_9cd6_5812_631a_5cf5_d3ed_u128.to_le_bytes());
    order[31] = 0x10;
    order
}

fn good(message: &[u8]) -> Row {
    let secret = SigningKey::from_bytes(&bytes(7));
    let signature = secret.sign(message).to_bytes();
    [
        secret.verifying_key().to_bytes().to_vec(),
        message.to_vec(),
        signature.to_vec(),
    ]
}

/// Encodings around all that is special: points of small order, `y` from the prime on, -0, with `S` that is 0, small, `L` and
/// more; as keys and as `R`.
pub fn with_special_points() -> Vec<Row> {
    let number = |low: u8, middle: u8, high: u8| {
        let mut bytes = [middle; 32];
        (bytes[0], bytes[31]) = (low, high);
        bytes
    };
    let mut encodings: Vec<_> = EIGHT_TORSION
        .map(|point| point.compress().to_bytes())
        .into();
    // y from 0 to 4, and from p - 2 to 2^255 - 1.
    encodings.extend((0..5).map(|low| number(low, 0, 0)));
    encodings.extend((0xeb..=0xff).map(|low| number(low, 0xff, 0x7f)));
    let minus = |mut y: [u8; 32]| {
        y[31] ^= 0x80;
        y
    };
    let both: Vec<_> = encodings.iter().flat_map(|&y| [y, minus(y)]).collect();
    let [key, ..] = good(&[]);
    let mut rows = Vec::new();
    for encoding in &both {
        for s in [
            [0; 32],
            number(1, 0, 0),
            order(),
            bytes::<32>(9).map(|byte| byte & 0xf),
        ] {
            // R = 0 and S = 0 fit any key of order 1, without the strict rule.
            for r in [&number(1, 0, 0)[..], encoding, &key] {
                rows.push([encoding.to_vec(), vec![5], [r, &s].concat()]);
            }
            rows.push([key.clone(), vec![5], [*encoding, s].concat()]);
        }
    }
    rows
}

/// Signatures by keys that have a part of order 8, `A = a B + T`: `S B - k A` is `R - k T`, so that one in eight fits
/// without the cofactor, and all with it.
pub fn with_mixed_keys() -> Vec<Row> {
    let [a, r] = [1, 2].map(|seed| Scalar::from_bytes_mod_order_wide(&bytes::<64>(seed)));
    let commitment = ED25519_BASEPOINT_POINT * r;
    let key = ED25519_BASEPOINT_POINT * a + EIGHT_TORSION[1];
    let [commitment, key] = [commitment, key].map(|point| point.compress().to_bytes());
    let row = |i: u8| {
        let hash = Sha512::digest([&commitment[..], &key, &[i]].concat());
        let k = Scalar::from_bytes_mod_order_wide(&hash.into());
        let s = r + k * a;
        [key.to_vec(), vec![i], [commitment, s.to_bytes()].concat()]
    };
    (0..40).map(row).collect()
}

/// Signatures for which the equation holds, by keys of each small order, and with an `R` of each.
fn of_small_orders() -> Vec<Row> {
    let secret = Scalar::from_bytes_mod_order_wide(&bytes::<64>(1));
    let of_secret = ED25519_BASEPOINT_POINT * secret;
    let encoded = |point: EdwardsPoint| point.compress().to_bytes();
    // The first of the messages with which it holds.
    let row = |r: EdwardsPoint, key: EdwardsPoint, s: &dyn Fn(Scalar) -> Scalar| {
        let rows = (0..=u8::MAX).map(|message| {
            let hash = Sha512::digest([&encoded(r)[..], &encoded(key), &[message]].concat());
            let k = Scalar::from_bytes_mod_order_wide(&hash.into());
            let holds = ED25519_BASEPOINT_POINT * s(k) - key * k == r;
            let signature = [encoded(r), s(k).to_bytes()].concat();
            holds.then(|| [encoded(key).to_vec(), vec![message], signature])
        });
        rows.flatten().next().expect("one message in eight fits")
    };
    let keys = EIGHT_TORSION.map(|small| row(of_secret, small, &|_| secret));
    let mixed = of_secret + EIGHT_TORSION[1];
    let commitments = EIGHT_TORSION.map(|small| row(small, mixed, &|k| k * secret));
    [keys, commitments].concat()
}

#[test]
fn no_key_and_no_commitment_of_small_order_signs() {
    assert_eq!(check(&of_small_orders()), [Err(Rejection::SmallOrder); 16]);
}

#[test]
fn points_of_small_order_and_other_encodings() {
    let outcomes = check(&with_special_points());
    for rejection in [
        Rejection::SmallOrder,
        Rejection::Range,
        Rejection::Mismatch,
        Rejection::NotOnCurve,
    ] {
        assert!(outcomes.contains(&Err(rejection)), "{rejection}");
    }
    // S + L is the same modulo L, and rejected.
    let mut malleable = good(b"malleable");
    let mut carry = 0;
    for (byte, of_order) in malleable[2][32..].iter_mut().zip(order()) {
        let sum = u16::from(*byte) + u16::from(of_order) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
    assert_eq!(
        check(&[good(b"malleable"), malleable]),
        [Ok(()), Err(Rejection::Range)]
    );
    let key = |length: usize| [vec![1; length], vec![], vec![0; 64]];
    assert_eq!(check(&[key(31), key(33)]), [Err(Rejection::KeyEncoding); 2]);
}

#[test]
fn the_equation_is_the_one_without_the_cofactor() {
    let outcomes = check(&with_mixed_keys());
    assert!(outcomes.contains(&Ok(())) && outcomes.contains(&Err(Rejection::Mismatch)));
}
