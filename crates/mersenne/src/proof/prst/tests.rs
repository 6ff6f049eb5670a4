//! Against PRST's answers, and a model over num-bigint written from the formulas.

use num_bigint::BigUint;

use super::*;
use crate::proof::tests::value;
use crate::{Certification, Cpu, Proof, Save, Saved, Step};

/// The modulus, and the proof of residues by num-bigint.
fn proof(number: Number, power: u32) -> (BigUint, PrstProof) {
    let c = number.c();
    let of = BigUint::from(number.k()) * BigUint::from(number.base()).pow(number.n());
    let less = if c > 0 {
        of + (c - 1).unsigned_abs()
    } else {
        of - (c - 1).unsigned_abs()
    };
    let modulus = &less + 1u32;
    let plan = Plan::of(number).unwrap();
    let residue = |iteration: u32| {
        // The first bits of the exponent of our own test: 2^p, Proth's half, or N - 1.
        let exponent = match (
            number.exponent(),
            plan.a,
            plan.is_other || plan.has_exponent,
        ) {
            (Some(_), ..) => BigUint::from(1u32) << iteration,
            (_, _, true) => &less >> (plan.own - iteration),
            (_, _, false) => &less >> (1 + plan.own - iteration),
        };
        let x = BigUint::from(plan.a).modpow(&exponent, &modulus);
        Ok(Residue::from_bytes(number, &x.to_bytes_le()))
    };
    let cpu = Cpu::default();
    let proof = PrstProof::go_on(number, power, &cpu, Vec::new(), residue, |_| {});
    (modulus, proof.unwrap())
}

fn number(k: u64, b: u32, n: u32, c: i32) -> Number {
    Number::of(k, b, n, c).unwrap()
}

/// The low 64 bits that PRST's `test.data` has for 16 points: of the test's residue (1 of a probable prime; of Proth's
/// power and 1), and of the raw certificate.
const KNOWN: [(u64, u32, u32, i32, u64, u64); 21] = [
    (3, 2, 306, -1, 1, 0xA0EE_C435_2FEE_E7E6),
    (3, 2, 319, -1, 0x8B72_2043_82F3_84E5, 0xD491_C1A7_B980_C3E7),
    (3, 2, 391, -1, 1, 0x3E16_169F_7FEB_54BC),
    (3, 2, 444, -1, 0x7C0D_014C_4727_EBBA, 0x3742_49EF_A1A7_4BA9),
    (4713, 2, 4713, 1, 1, 0x11A0_BACE_1A5B_A225),
    (5312, 2, 5312, -1, 1, 0xC2CE_E8F0_8BD0_23B2),
    (2, 5, 277, 1, 0xCA90_129E_142C_3553, 0xB489_D35C_D9FC_8B01),
    (2, 5, 297, 1, 1, 0xDB24_3B74_5B1F_9CC7),
    (2, 5, 685, 1, 0x31F7_7A3B_1957_2F0B, 0xE861_1EDA_5E56_2897),
    (2, 5, 220, -1, 0x0DD0_CC0F_DE5D_A353, 0x3742_A46F_E2D1_0708),
    (2, 5, 274, -1, 1, 0xEF2F_E0CF_6E65_3689),
    (2, 5, 502, -1, 0x7FD7_F3C9_96B2_4B0C, 0xD0CA_F95F_0C58_69E1),
    (2, 5, 516, -1, 0x991B_AE1E_18AC_CAE5, 0x3D8A_4607_7283_3884),
    // By PRST's sources, with GMP in place of GWNUM.
    (1, 2, 521, -1, 1, 0xC6F2_5A0B_1E86_1A08),
    (7, 2, 401, -1, 0xB238_B96F_628C_DAC3, 0x5CEB_9197_6B29_3196),
    (7, 2, 301, 33, 0xB0EA_D270_14FC_F399, 0x07C0_5732_9935_B039),
    (
        1,
        2,
        300,
        1_000_000_009,
        0xD838_E1E2_BE31_4C16,
        0x2B2D_4D83_1D08_610B,
    ),
    (2, 3, 700, 1, 0x65AF_C362_29B6_1F3E, 0xC56C_0100_21B6_A4E2),
    (
        1,
        10,
        199,
        289,
        0xEA5C_D66B_8076_CA88,
        0xE2F0_536C_AA2F_FDCF,
    ),
    (2, 5, 213, -3, 0x04C5_8DB0_EEBB_2681, 0x8380_26A7_2613_9125),
    (4, 7, 200, 3, 0x0270_5110_1A4E_CB75, 0x749E_0B55_DA49_F169),
];

#[test]
fn raw_certificates_are_those_of_prst() {
    for (k, b, n, c, res64, raw) in KNOWN {
        let number = number(k, b, n, c);
        let (_, proof) = proof(number, 4);
        assert_eq!(proof.is_prime(), res64 == 1, "{number}");
        if res64 != 1 {
            let more = u64::from(proof.is_of_proth());
            assert_eq!(proof.result().res64() + more, res64, "{number}");
        }
        let (_, end, found) = proof.certificate(&Cpu::default(), None).unwrap();
        assert_eq!((end.res64(), found), (raw, raw), "{number}");
    }
}

/// Numbers of every kind that PRST tells apart, and powers of their proofs.
fn numbers() -> Vec<(Number, u32)> {
    let all = [
        (1, 2, 127, -1, 3),
        (1, 2, 521, -1, 4),
        (3, 2, 391, -1, 4),
        (3, 2, 392, -1, 2),
        (7, 2, 400, 1, 1),
        (9, 2, 547, 1, 4),
        (7, 2, 201, 33, 3),
        (1, 2, 200, 1_000_000_009, 3),
        (5, 2, 207, -1_000_000_001, 3),
        // k is too long for PRST to square alone.
        (65_535, 2, 63, -1, 2),
        (2, 3, 320, 1, 4),
        (2, 3, 223, -1, 4),
        (4, 7, 200, 3, 4),
        (1, 10, 99, 289, 3),
        (2, 5, 113, -3, 2),
    ];
    all.map(|(k, b, n, c, power)| (number(k, b, n, c), power))
        .into()
}

/// PRST's formulas over num-bigint: a list of points is halved to one of half as many.
struct Model {
    products: Vec<BigUint>,
    start: BigUint,
    end: BigUint,
    squarings: u32,
}

impl Model {
    fn of(number: Number, power: u32, modulus: &BigUint) -> Self {
        let one = BigUint::from(1u32);
        let (k, n, base) = (BigUint::from(number.k()), number.n(), number.base());
        let is_smooth = base == 2 && f64::from(number.k()).log2() < f64::from(n / 4);
        let is_proth = is_smooth && number.c() == 1;
        let a = (3u32..)
            .find(|&a| !is_proth || number.jacobi(a) == -1)
            .unwrap();
        let exponent = match is_smooth {
            true => &k << if is_proth { n - 1 } else { n },
            false => modulus - &one,
        };
        let bits = exponent.bits() as u32;
        let squarings = if is_smooth {
            bits - k.bits() as u32
        } else {
            bits - 1
        };
        let power_at = |i: u32| BigUint::from(a).modpow(&(&exponent >> (squarings - i)), modulus);
        // Halves of an interval: the first is the longer one, and every first half of it.
        let mut at = vec![0, squarings];
        let mut length = squarings;
        for _ in 0..power {
            let middle = |pair: &[u32]| pair[1] - length / 2;
            let middles: Vec<u32> = at.windows(2).map(middle).collect();
            let pairs = at
                .iter()
                .zip(&middles)
                .flat_map(|(&from, &middle)| [from, middle]);
            at = pairs.chain([squarings]).collect();
            length /= 2;
        }
        let mut points: Vec<BigUint> = at.iter().map(|&i| power_at(i)).collect();
        let mut start = points[0].clone();
        let (mut products, mut left) = (Vec::new(), squarings);
        let prime = BigUint::from(3_417_905_339u32);
        let fingerprint = (modulus % prime)
            .to_u32_digits()
            .first()
            .copied()
            .unwrap_or(0);
        while points.len() > 2 {
            let (half, last) = (points.len() / 2, points[points.len() - 1].clone());
            let product = points[half].clone();
            let mut text = fingerprint.to_le_bytes().to_vec();
            for number in [&last, &product] {
                text.extend(
                    number
                        .to_u32_digits()
                        .iter()
                        .flat_map(|word| word.to_le_bytes()),
                );
            }
            let hash = BigUint::from_bytes_le(&Md5::digest(&text)[..8]);
            let mut hash = hash | &one;
            let is_prime_to = |hash: &BigUint| (2..1000u32).all(|d| hash % d != BigUint::ZERO);
            while !is_prime_to(&hash) {
                hash += 2u32;
            }
            let twice = if left % 2 == 1 {
                &hash * 2u32
            } else {
                hash.clone()
            };
            start = start.modpow(&twice, modulus) * &product % modulus;
            let fold = |i: usize| points[i].modpow(&hash, modulus) * &points[i + half] % modulus;
            points = (0..=half).map(fold).collect();
            products.push(product);
            left /= 2;
        }
        Model {
            products,
            start,
            end: points.pop().unwrap(),
            squarings: left,
        }
    }
}

/// The file of PRST as its option `-support LLR2` writes it.
fn of_llr2(bytes: Vec<u8>, fingerprint: u32) -> Vec<u8> {
    let words = bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_le_bytes(*word));
    let mut words: Vec<u32> = words.collect();
    let is_point = words[1] >> 16 == 1;
    (words[1], words[2]) = (2, fingerprint);
    words[3] += u32::from(is_point);
    words.push(0);
    words.push(
        words[2..]
            .iter()
            .fold(0, |sum, word| sum.wrapping_add(*word)),
    );
    words.extend([0; 20]);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The low 64 bits that a certificate leads to, by num-bigint.
fn of_certificate(certificate: &PrstCertificate, modulus: &BigUint) -> BigUint {
    let squares = BigUint::from(1u32) << certificate.squarings;
    let power = value(&certificate.start).modpow(&squares, modulus);
    match &certificate.power {
        Some((base, exponent)) => power * value(base).modpow(exponent, modulus) % modulus,
        None => power,
    }
}

/// What our own commands compute of a certificate.
fn computed(certificate: &PrstCertificate, stretch: u32) -> Residue {
    let cpu = Cpu::default();
    let Some(mut power) = PrstPower::new(certificate.clone()) else {
        let PrstCertificate {
            start, squarings, ..
        } = certificate.clone();
        let mut test = Saved::Prp(Prp::certifying(Certification { start, squarings }));
        let mut runner = test.runner(&cpu).unwrap();
        while test.advance(&mut runner, stretch).unwrap() == Step::Going {}
        let Saved::Prp(test) = test else {
            unreachable!()
        };
        return test.last.unwrap();
    };
    let mut machine = power.machine(&cpu).unwrap();
    while !power.advance(&mut machine, stretch).unwrap() {
        // It is taken up from its save each time.
        let begun = PrstPower::new(certificate.clone()).unwrap();
        let saved = PrstPower::from_bytes(&power.to_bytes(), &begun);
        assert_eq!(saved.as_ref(), Ok(&Some(power)));
        power = saved.unwrap().unwrap();
    }
    assert_eq!(power.failures(), 0);
    power.residue().unwrap().clone()
}

#[test]
fn products_and_certificates_are_those_of_the_formulas() {
    let cpu = Cpu::default();
    for (number, most) in numbers() {
        for power in [1, most] {
            let name = format!("{number}, power {power}");
            let (modulus, proof) = proof(number, power);
            let model = Model::of(number, power, &modulus);
            let products: Vec<BigUint> = proof.products.iter().map(value).collect();
            assert_eq!(products, model.products, "{name}");
            assert_eq!(proof.flaw().unwrap(), None, "{name}");

            let (raw, end, res64) = proof.certificate(&cpu, None).unwrap();
            assert_eq!(
                (value(&raw.start), value(&end)),
                (model.start, model.end.clone()),
                "{name}"
            );
            assert_eq!(
                (raw.squarings, res64),
                (model.squarings, end.res64()),
                "{name}"
            );
            assert_eq!(of_certificate(&raw, &modulus), model.end, "{name}");
            assert!(proof.claim(&cpu).unwrap().holds(&cpu).unwrap(), "{name}");

            let (secret, other, res64) = proof
                .certificate(&cpu, Some(0x1234_5678_9abc_def0))
                .unwrap();
            assert_eq!(res64, end.res64(), "{name}");
            assert!(secret != raw && other != end, "{name}");
            for (certificate, end) in [(raw, end), (secret, other)] {
                assert_eq!(
                    of_certificate(&certificate, &modulus),
                    value(&end),
                    "{name}"
                );
                assert_eq!(computed(&certificate, 17), end, "{name}");
                let bytes = certificate.to_bytes();
                assert_eq!(
                    PrstCertificate::from_bytes(number, &bytes),
                    Ok(certificate),
                    "{name}"
                );
            }
            let files = proof.files();
            let read = |name: &str| {
                let file = files.iter().find(|(other, _)| other == name);
                file.map(|(_, bytes)| bytes.clone())
                    .ok_or_else(|| name.to_owned())
            };
            assert_eq!(
                PrstProof::from_files(number, power, read),
                Ok(proof.clone()),
                "{name}"
            );
            assert_eq!(
                PrstProof::products(number, power, read),
                proof.products,
                "{name}"
            );
            let of_llr2 = |name: &str| Ok(of_llr2(read(name)?, fingerprint(number)));
            assert_eq!(
                PrstProof::from_files(number, power, of_llr2),
                Ok(proof.clone()),
                "{name}"
            );
        }
    }
}

#[test]
fn damage_to_a_file_is_refused_or_changes_the_certificate() {
    let cpu = Cpu::default();
    for (k, b, n, c) in [(9, 2, 547, 1), (3, 2, 391, -1), (2, 3, 320, 1)] {
        let number = number(k, b, n, c);
        let (_, proof) = proof(number, 2);
        let files = proof.files();
        let with = |at: usize, bytes: &[u8]| {
            PrstProof::from_files(number, 2, |name| {
                let place = files.iter().position(|(other, _)| other == name);
                let place = place.ok_or_else(|| name.to_owned())?;
                Ok(if place == at {
                    bytes.to_vec()
                } else {
                    files[place].1.clone()
                })
            })
        };
        for (at, (name, bytes)) in files.iter().enumerate() {
            for cut in 0..bytes.len() {
                assert!(with(at, &bytes[..cut]).is_err(), "{name} {cut}");
            }
            assert!(with(at, &[&bytes[..], &[0]].concat()).is_err(), "{name}");
            for place in (0..21).chain((21..bytes.len()).step_by(11)) {
                let mut wrong = bytes.clone();
                wrong[place] ^= 4;
                let Ok(wrong) = with(at, &wrong) else {
                    continue;
                };
                assert!(place >= 20, "{name} {place}");
                assert!(
                    !wrong.claim(&cpu).unwrap().holds(&cpu).unwrap(),
                    "{name} {place}"
                );
                if name.contains("proof") {
                    assert_eq!(wrong.flaw().unwrap(), Some(Flaw::Wrong), "{name} {place}");
                }
            }
            // Of another number, or another number of points.
            let other = Number::of(k, b, n, c + 6).unwrap();
            let read = |wanted: &str| {
                let wanted =
                    wanted.replace(&PrstProof::name(other, ""), &PrstProof::name(number, ""));
                let file = files.iter().find(|(name, _)| *name == wanted);
                file.map(|(_, bytes)| bytes.clone())
                    .ok_or_else(|| wanted.clone())
            };
            assert!(PrstProof::from_files(other, 2, read).is_err(), "{name}");
        }
        assert!(PrstProof::from_files(number, 1, |_| Ok(files[0].1.clone())).is_err());
        assert!(PrstProof::from_files(number, 30, |_| Ok(files[0].1.clone())).is_err());

        let (certificate, end, _) = proof.certificate(&cpu, Some(5)).unwrap();
        let bytes = certificate.to_bytes();
        for cut in 0..bytes.len() {
            let read = PrstCertificate::from_bytes(number, &bytes[..cut]);
            // PRST's readers take the first value alone.
            let is_whole = read
                .as_ref()
                .is_ok_and(|read| read.start == certificate.start);
            assert!(
                read.is_err() || is_whole && read.unwrap().power.is_none(),
                "{cut}"
            );
        }
        for place in (0..bytes.len()).step_by(13) {
            let mut wrong = bytes.clone();
            wrong[place] ^= 16;
            if let Ok(wrong) = PrstCertificate::from_bytes(number, &wrong) {
                assert_ne!(computed(&wrong, 50), end, "{number} {place}");
            }
        }
        assert!(PrstCertificate::from_bytes(Number::of(k, b, n, c + 6).unwrap(), &bytes).is_err());
    }
}

#[test]
fn proofs_of_wrong_residues_do_not_pass() {
    let cpu = Cpu::default();
    let number = number(3, 2, 353, 1);
    let (modulus, proof) = proof(number, 2);
    assert!(proof.is_prime());
    // Another residue, with the products of the right ones, and with products that are powers of it.
    for times in [3, 5, 7] {
        let mut wrong = proof.clone();
        wrong.last = wrong.last.times(times);
        assert_eq!(wrong.flaw().unwrap(), Some(Flaw::Wrong));
        assert!(!wrong.claim(&cpu).unwrap().holds(&cpu).unwrap());
    }
    // PRST's own test of this attack: a prime is hidden by an element whose order is a power of two. The claim
    // holds, and the residue's order tells.
    let root = BigUint::from(5u32).modpow(&((&modulus - 1u32) >> 8), &modulus);
    let root = Residue::from_bytes(number, &root.to_bytes_le());
    let mut forged = proof.clone();
    forged.last = forged.last.mul(&root);
    assert!(!forged.is_prime() && forged.has_small_order());
    assert!(
        !proof
            .result()
            .mul(&Residue::from_u64(number, 5))
            .eq(&proof.last)
    );
    // Of other numbers, an order below 2^20 that divides N - 1: 3 2^306 - 2 has the factor 5.
    let number = Number::of(3, 2, 306, -1).unwrap();
    let (modulus, mut proof) = super::tests::proof(number, 2);
    let less = &modulus - 1u32;
    assert_eq!(&less % 5u32, BigUint::ZERO);
    let root = BigUint::from(3u32).modpow(&(less / 5u32), &modulus);
    assert_ne!(root, BigUint::from(1u32));
    proof.last = proof
        .last
        .mul(&Residue::from_bytes(number, &root.to_bytes_le()));
    assert!(!proof.is_prime() && proof.has_small_order());
    // Nor a residue that is no unit, nor 0.
    let number = Number::of(7, 2, 201, 33).unwrap();
    let (_, mut proof) = super::tests::proof(number, 2);
    let factor = (3..100_000)
        .step_by(2)
        .find(|&q| number.modulo(q) == 0)
        .unwrap();
    proof.products[1] = Residue::from_u64(number, factor.into());
    assert!(matches!(proof.flaw().unwrap(), Some(Flaw::SharedFactor(_))));
    proof.products[1] = Residue::from_u64(number, 0);
    let files = proof.files();
    let read = |name: &str| {
        Ok(files
            .iter()
            .find(|(other, _)| other == name)
            .unwrap()
            .1
            .clone())
    };
    assert!(
        PrstProof::from_files(number, 2, read)
            .unwrap_err()
            .contains("prod.1: it has a residue that is 0")
    );
}

#[test]
fn numbers_that_prst_proves_in_another_way_are_refused() {
    for (k, b, n, c, what) in [
        (1, 2, 128, -1, "3 divides"),
        (2, 3, 300, 3, "3 divides"),
        (4_294_967_295, 2, 40, 1, "another way"),
        (7, 2, 100, 1, "power 4"),
    ] {
        let number = number(k, b, n, c);
        assert!(
            PrstProof::iterations(number, 4).unwrap_err().contains(what),
            "{number}"
        );
    }
    assert!(Proof::most_power(256) == 4);
}

#[test]
fn an_error_in_a_certificate_s_power_is_found() {
    let number = number(2, 3, 320, 1);
    let (_, proof) = proof(number, 1);
    let cpu = Cpu::default();
    let (certificate, end, _) = proof.certificate(&cpu, Some(9)).unwrap();
    for at in [1, 100, 200] {
        let begun = PrstPower::new(certificate.clone()).unwrap();
        let mut machine = begun.machine(&cpu).unwrap();
        let mut power = begun.clone();
        let (mut is_done, mut was_wrong) = (false, false);
        while !is_done {
            is_done = power.advance(&mut machine, 1).unwrap();
            if !was_wrong && power.done() == at {
                was_wrong = true;
                power.flip();
            }
        }
        assert_eq!((power.failures(), power.residue()), (1, Some(&end)), "{at}");
        // An error each time is not the number's.
        let mut power = begun.clone();
        let given_up = loop {
            match power.advance(&mut machine, 1) {
                Ok(is_done) => assert!(!is_done),
                Err(error) => break error,
            }
            if power.done() == at {
                power.flip();
            }
        };
        assert!(matches!(given_up, crate::Error::Unstable { times: 3, .. }));
    }
}
