//! The kernels on the simulated GPU, through the driver and under all checks of the simulator, beside the CPU.

use super::ecdsa::{self, with_failing_sums};
use super::oracles::{ECDSA, Row, signed};
use super::{ed25519, on_cpu};
use bigint_curves::{Curve, Rejection, Verifier};
use bigint_host::{BigUint, Engine};
use bigint_testing::simulator::on_simulator;

/// Numbers below `2^256` around all that carries.
fn numbers() -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let all: BigUint = (&one << 256) - 1u8;
    let secp256k1 = &all - 0x1_0000_03d0u64;
    let p256 = &all - (&one << 224u8) + (&one << 192u8) + (&one << 96u8);
    let small: BigUint = (&one << 255) - 19u8;
    let mut numbers = Vec::new();
    for about in [
        BigUint::ZERO,
        all.clone(),
        secp256k1,
        p256,
        &small * 2u8,
        small,
        &one << 128,
        one << 255,
    ] {
        for k in [0, 1, 2, 37, 38, 976, 0x1_0000_03d0, 0x1_0000_03d1u64] {
            let k = BigUint::from(k);
            numbers.push(&about + &k);
            if about >= k {
                numbers.push(&about - &k);
            }
        }
    }
    numbers.retain(|number| *number <= all);
    numbers.extend((0..8).map(|seed| BigUint::from_bytes_be(&super::oracles::bytes::<32>(seed))));
    numbers
}

#[test]
fn a_devices_fields_are_right_where_carries_are_rare() {
    if !on_simulator(
        "device::a_devices_fields_are_right_where_carries_are_rare",
        &[],
    ) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    let module = engine
        .module(include_str!("../../curves.ptx"))
        .unwrap()
        .unwrap();
    let numbers = numbers();
    let pairs: Vec<_> = numbers
        .iter()
        .flat_map(|x| numbers.iter().map(move |y| (x, y)))
        .collect();
    let rows: Vec<_> = pairs.iter().map(|(x, y)| *x + (*y << 256)).collect();
    let rows = engine.batch_from_biguints(&rows).unwrap();
    let made = module.launch("arithmetic", &[&rows], &[144], &[]).unwrap();
    let made = made[0].to_biguints().unwrap();
    let one = BigUint::from(1u8);
    let primes = [
        (&one << 256) - 0x1_0000_03d1u64,
        (&one << 256) - (&one << 224) + (&one << 192) + (&one << 96) - 1u8,
        (&one << 255) - 19u8,
    ];
    for ((x, y), made) in pairs.into_iter().zip(made) {
        let mut expected = BigUint::ZERO;
        for (i, p) in primes.iter().enumerate() {
            let [product, square]: [BigUint; 2] = [x * y % p, x * x % p];
            let values = [
                (x + y) % p,
                (x + p - y % p) % p,
                product.clone(),
                square.clone(),
                (&square + p - y * y % p) % p,
                (product + p - square) % p,
            ];
            for (j, value) in values.into_iter().enumerate() {
                expected += value << (256 * (6 * i + j));
            }
        }
        assert_eq!(made, expected, "{x:x} {y:x}");
    }
}

/// Checks that the device's outcomes are the CPU's, and gives them.
fn check(curve: Curve, low_s: bool, rows: &[Row]) -> Vec<Result<(), Rejection>> {
    let signed = signed(rows);
    let verifier = Verifier::new(&Engine::cuda(0).unwrap(), curve)
        .unwrap()
        .with_device_from(1);
    let verifier = if low_s {
        verifier.with_low_s()
    } else {
        verifier
    };
    let outcomes = verifier.verify(&signed).unwrap();
    assert_eq!(outcomes, on_cpu(curve, low_s, &signed));
    outcomes
}

fn check_ecdsa(curve: Curve) {
    let oracle = ECDSA
        .into_iter()
        .find(|oracle| oracle.curve == curve)
        .unwrap();
    let mut rows = ecdsa::with_changes(&oracle, bigint_testing::sweep(20, 400));
    rows.extend(with_failing_sums(
        &oracle,
        &[1, -1],
        &[0, 5, 128, -1],
        &[1, 5, -5],
    ));
    // No point has this x.
    let none = (1..).map(|x| {
        let mut row = rows[0].clone();
        row[0] = [&[2][..], &[0; 31], &[x]].concat();
        row
    });
    let none = none.take(4).collect::<Vec<_>>();
    rows.extend(none);
    let outcomes = check(curve, oracle.low_s, &rows);
    for outcome in [Ok(()), Err(Rejection::Mismatch), Err(Rejection::NotOnCurve)] {
        assert!(outcomes.contains(&outcome), "{outcome:?}");
    }
}

#[test]
fn a_device_has_the_cpus_outcomes_on_secp256k1() {
    if on_simulator("device::a_device_has_the_cpus_outcomes_on_secp256k1", &[]) {
        check_ecdsa(Curve::Secp256k1);
    }
}

#[test]
fn a_device_has_the_cpus_outcomes_on_p256() {
    if on_simulator("device::a_device_has_the_cpus_outcomes_on_p256", &[]) {
        check_ecdsa(Curve::P256);
    }
}

#[test]
fn a_device_has_the_cpus_outcomes_of_ed25519() {
    if on_simulator("device::a_device_has_the_cpus_outcomes_of_ed25519", &[]) {
        let mut rows = ed25519::with_changes(bigint_testing::sweep(20, 400));
        rows.extend(
            ed25519::with_special_points()
                .into_iter()
                .skip(3)
                .step_by(7),
        );
        rows.extend(ed25519::with_mixed_keys());
        let outcomes = check(Curve::Ed25519, false, &rows);
        for outcome in [Ok(()), Err(Rejection::Mismatch), Err(Rejection::NotOnCurve)] {
            assert!(outcomes.contains(&outcome), "{outcome:?}");
        }
        // Nothing is launched where all are rejected before, or there are none.
        assert_eq!(
            check(Curve::Ed25519, false, &[[vec![], vec![], vec![]]]),
            [Err(Rejection::KeyEncoding)]
        );
        assert_eq!(check(Curve::Ed25519, false, &[]), []);
    }
}

#[test]
fn digits_at_their_ends_are_those_of_the_number() {
    if !on_simulator("device::digits_at_their_ends_are_those_of_the_number", &[]) {
        return;
    }
    for oracle in &ECDSA {
        let n = ecdsa::order(oracle.curve);
        let one = BigUint::from(1u8);
        // All digits of windows and places at an end of their range, and numbers around half of all.
        let repeated = |digit: u32, bits: usize| {
            let digits = (0..256 / bits).map(|at| BigUint::from(digit) << (bits * at));
            digits.sum::<BigUint>() % &n
        };
        let mut numbers = vec![
            repeated(7, 4),
            repeated(8, 4),
            repeated(9, 4),
            repeated(0x7fff, 16),
            repeated(0x8000, 16),
            repeated(0x8001, 16),
            repeated(0xffff, 16),
            (&one << 255) - 1u8,
            (BigUint::from(0x7fff_8001u32) << 224) + 5u8,
        ];
        numbers.extend((0..4u8).map(|k| &n / 2u8 + k - 1u8));
        numbers.extend((1..3u8).map(|k| &n - k));
        let key = [BigUint::from(0x1234_5678u32)];
        let mut rows = ecdsa::of_factors(oracle, &key, &numbers, &[one + 6u8]);
        rows.extend(ecdsa::of_factors(
            oracle,
            &key,
            &[BigUint::from(9u8)],
            &numbers,
        ));
        let outcomes = check(oracle.curve, oracle.low_s, &rows);
        assert_eq!(outcomes, vec![Ok(()); rows.len()]);
    }
}

#[test]
fn what_is_rejected_before_stands_between_what_a_device_looks_at() {
    let name = "device::what_is_rejected_before_stands_between_what_a_device_looks_at";
    if !on_simulator(name, &[]) {
        return;
    }
    for oracle in &ECDSA {
        let good = ecdsa::with_changes(oracle, 12);
        let undecided = with_failing_sums(oracle, &[1], &[1, -1], &[1]);
        let of_no_range = |i: usize| {
            let mut row = good[i % good.len()].clone();
            row[2] = vec![0; 64];
            row
        };
        // The third launch has nothing for the device, the last is short.
        let mut rows: Vec<Row> = (0..5).map(of_no_range).collect();
        for (i, row) in good.iter().chain(&undecided).enumerate() {
            rows.push(row.clone());
            if i % 3 == 0 {
                rows.push(of_no_range(i));
            }
        }
        rows.splice(14..14, (0..14).map(of_no_range));
        let signed = signed(&rows);
        let verifier = Verifier::new(&Engine::cuda(0).unwrap(), oracle.curve)
            .unwrap()
            .with_device_from(1)
            .with_launches_of(7);
        let outcomes = verifier.verify(&signed).unwrap();
        assert!(
            outcomes[14..21]
                .iter()
                .all(|outcome| *outcome == Err(Rejection::Range))
        );
        assert!(outcomes.contains(&Ok(())) && !rows.len().is_multiple_of(7));
        assert_eq!(outcomes, on_cpu(oracle.curve, false, &signed));
    }
}

/// Multiply-adds of 32 by 32 bits and instructions of PTX for each of 128 good signatures, a block's, as the simulator counts them, are
/// at most these: with keys of 33 bytes, then of 65.
#[test]
fn a_signature_takes_as_much_as_is_known() {
    let name = "device::a_signature_takes_as_much_as_is_known";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counts");
    if on_simulator(name, &[("CUDA_SIM_COUNTS", file.to_str().unwrap())]) {
        for oracle in &ECDSA {
            let rows: Vec<_> = ecdsa::with_changes(oracle, 256)
                .into_iter()
                .step_by(4)
                .collect();
            let uncompressed: Vec<_> = ecdsa::with_changes(oracle, 256)
                .into_iter()
                .skip(2)
                .step_by(4)
                .collect();
            for rows in [rows, uncompressed] {
                assert_eq!(check(oracle.curve, oracle.low_s, &rows), [Ok(()); 128]);
            }
        }
        let rows: Vec<_> = ed25519::with_changes(128).into_iter().step_by(2).collect();
        assert_eq!(check(Curve::Ed25519, false, &rows), [Ok(()); 128]);
        return;
    }
    let counts = std::fs::read_to_string(file).unwrap();
    let counts = counts
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let known = [
        ("secp256k1", 126_229, 441_019),
        ("secp256k1", 112_189, 390_583),
        ("p256", 179_458, 1_050_421),
        ("p256", 169_750, 984_662),
        ("ed25519", 164_150, 640_854),
    ];
    let counts: Vec<_> = counts.collect();
    assert_eq!(counts.len(), known.len());
    let found = counts.iter().map(|counts| {
        let of = |key: &str| counts[key].as_u64().unwrap() / 128;
        let kernel = counts["kernel"].as_str().unwrap();
        (kernel, of("multiply_adds"), of("lane_instructions"))
    });
    let found: Vec<_> = found.collect();
    let is_as_known = |(found, known): (&(&str, u64, u64), &(&str, u64, u64))| {
        found.0 == known.0 && found.1 <= known.1 && found.2 <= known.2
    };
    assert!(found.iter().zip(&known).all(is_as_known), "{found:?}");
}
