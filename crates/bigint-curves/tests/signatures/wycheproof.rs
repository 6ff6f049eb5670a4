//! Wycheproof's vectors, all that are of these curves and these hashes.

use super::on_cpu;
use bigint_curves::{Curve, Rejection, Signed, signature_of_der};
use sha2::{Digest, Sha256, Sha512};
use wycheproof::{HashFunction, ecdsa, eddsa};

fn ecdsa_vectors(name: ecdsa::TestName, curve: Curve, low_s: bool, is_der: bool) {
    let set = ecdsa::TestSet::load(name).unwrap();
    let mut count = 0;
    for group in set.test_groups {
        let tests = group.tests.iter().map(|test| {
            let digest = match group.hash {
                HashFunction::Sha2_256 => Sha256::digest(&test.msg).to_vec(),
                HashFunction::Sha2_512 => Sha512::digest(&test.msg).to_vec(),
                other => panic!("{other:?}"),
            };
            let signature = match is_der {
                true => signature_of_der(&test.sig).map(Vec::from),
                false => Ok(test.sig.to_vec()),
            };
            (digest, signature.unwrap_or_default())
        });
        let tests: Vec<_> = tests.collect();
        let signed = tests.iter().map(|(digest, signature)| Signed {
            public_key: &group.key.key,
            message: digest,
            signature,
        });
        let signed: Vec<_> = signed.collect();
        let outcomes = on_cpu(curve, low_s, &signed);
        for (test, outcome) in group.tests.iter().zip(outcomes) {
            assert_eq!(
                outcome.is_err(),
                test.result.must_fail(),
                "{name:?} {test:?}: {outcome:?}"
            );
            count += 1;
        }
    }
    assert!(count > 100, "{name:?}: {count}");
}

#[test]
fn ecdsa_on_both_curves() {
    use ecdsa::TestName::*;
    for (name, curve, low_s, is_der) in [
        (EcdsaSecp256k1Sha256P1363, Curve::Secp256k1, false, false),
        (EcdsaSecp256k1Sha512P1363, Curve::Secp256k1, false, false),
        (EcdsaSecp256k1Sha256, Curve::Secp256k1, false, true),
        (EcdsaSecp256k1Sha256Bitcoin, Curve::Secp256k1, true, true),
        (EcdsaSecp256k1Sha512, Curve::Secp256k1, false, true),
        (EcdsaSecp256r1Sha256P1363, Curve::P256, false, false),
        (EcdsaSecp256r1Sha512P1363, Curve::P256, false, false),
        (EcdsaSecp256r1Sha256, Curve::P256, false, true),
        (EcdsaSecp256r1Sha512, Curve::P256, false, true),
    ] {
        ecdsa_vectors(name, curve, low_s, is_der);
    }
}

#[test]
fn ed25519() {
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap();
    let mut seen = [0; 2];
    for group in set.test_groups {
        for test in group.tests {
            let signed = Signed {
                public_key: &group.key.pk,
                message: &test.msg,
                signature: &test.sig,
            };
            let [outcome] = on_cpu(Curve::Ed25519, false, &[signed])[..] else {
                panic!("one outcome");
            };
            assert_eq!(
                outcome.is_err(),
                test.result.must_fail(),
                "{test:?}: {outcome:?}"
            );
            assert!(test.sig.len() == 64 || outcome == Err(Rejection::SignatureEncoding));
            seen[usize::from(outcome.is_ok())] += 1;
        }
    }
    assert!(seen[0] > 50 && seen[1] > 50, "{seen:?}");
}
