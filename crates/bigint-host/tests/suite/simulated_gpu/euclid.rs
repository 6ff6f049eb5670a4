//! Divisors, multiples, inverses and symbols of numbers wider than kernels' columns, by halves.

use bigint_host::{Batch, BigUint, Engine, Error, Layout, Operation, Tuning};
use bigint_testing::simulator::on_simulator;
use bigint_testing::{Extent, oracle};

const OPERATIONS: [Operation; 4] = [
    Operation::Gcd,
    Operation::Lcm,
    Operation::InvMod,
    Operation::Jacobi,
];

/// Thresholds by which devices halve numbers of so many limbs, and the host parts of 32.
fn tuning(min_width: usize) -> Tuning {
    let mut tuning = Tuning::default();
    tuning.euclid.min_width = min_width;
    tuning.euclid.min_limbs = 1;
    tuning.euclid.cores_limbs = 32;
    tuning.euclid.cores_min_width = 32;
    tuning.div.device_max_width = 4;
    tuning
}

fn power(bits: usize) -> BigUint {
    BigUint::from(1u8) << bits
}

/// A number whose bits follow no rule, its top bit set.
fn mixed(limbs: usize, seed: u32) -> BigUint {
    let factor = BigUint::from(0x9e37_79b9_7f4a_7c15_u64) + 2 * seed;
    (factor.pow(limbs as u32 / 2 + 1) % power(32 * limbs)) | power(32 * limbs - 1)
}

fn batch(engine: &Engine, numbers: &[BigUint], limbs: usize) -> Batch {
    engine
        .batch_from_biguints_in(numbers, limbs, Layout::Contiguous)
        .expect("fits")
}

/// Pairs of up to so many limbs: random ones, with a divisor of half their length, neighbours of powers of two, large quotients
/// and small ones, zeros.
fn pairs(limbs: usize) -> Vec<[BigUint; 2]> {
    let (a, b, g) = (mixed(limbs, 1), mixed(limbs, 2), mixed(limbs / 2, 3));
    let (mut x, mut y) = (BigUint::from(1u8), BigUint::from(1u8));
    while y.bits() < 32 * limbs as u64 {
        (x, y) = (y.clone(), x + y);
    }
    vec![
        [a.clone(), b.clone()],
        [b.clone(), a.clone()],
        [&y - &x, x],
        [&g * mixed(limbs / 2, 4), &g * mixed(limbs / 2, 5)],
        [&g * mixed(limbs / 2, 4), g],
        [a.clone(), a.clone()],
        [power(32 * limbs) - 1u8, power(32 * limbs - 40) + 1u8],
        [power(32 * limbs - 1), power(32 * limbs - 1) - 1u8],
        [BigUint::ZERO, a.clone()],
        [a.clone(), BigUint::from(1u8)],
        [mixed(20, 6), mixed(limbs, 7)],
        [BigUint::ZERO, BigUint::ZERO],
    ]
}

#[test]
fn what_is_wider_than_columns_is_that_of_num_bigint() {
    let name = "simulated_gpu::euclid::what_is_wider_than_columns_is_that_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    let limbs = 150;
    let engine = Engine::cuda(0)
        .expect("a device")
        .with_tuning(tuning(limbs));
    engine.note_choices();
    for numbers in [&pairs(limbs)[..1], &pairs(limbs)] {
        let of = |i: usize| numbers.iter().map(|pair| pair[i].clone()).collect();
        let [a, b]: [Vec<BigUint>; 2] = [of(0), of(1)];
        let (x, y) = (batch(&engine, &a, limbs), batch(&engine, &b, limbs));
        for operation in OPERATIONS {
            let (found, have_none) = engine.masked_apply(operation, &[&x, &y]).expect("a device");
            let found = found[0].to_biguints().expect("comes back");
            for (i, (a, b)) in a.iter().zip(&b).enumerate() {
                let expected = oracle::values(operation, &[a, b], &[limbs; 2]);
                assert_eq!(
                    expected.is_empty(),
                    have_none[i],
                    "{operation:?} of pair {i}"
                );
                let expected = expected.into_iter().next().unwrap_or_default();
                assert_eq!(
                    expected,
                    found[i].clone().into(),
                    "{operation:?} of pair {i}"
                );
            }
            let noted = engine.noted_choices().join(" ");
            let is_so = noted.contains(operation.name()) && noted.contains("by halves");
            assert!(is_so, "{noted}");
        }
    }
}

#[test]
fn the_first_number_without_a_value_is_named() {
    let name = "simulated_gpu::euclid::the_first_number_without_a_value_is_named";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device").with_tuning(tuning(80));
    let numbers = |numbers: &[BigUint]| batch(&engine, numbers, 80);
    let odd = mixed(80, 1) | BigUint::from(1u8);
    let a = numbers(&[odd.clone() - 1u8, odd.clone(), odd.clone()]);
    let (even, zero) = (&odd - 1u8, BigUint::ZERO);
    let m = numbers(&[odd.clone(), odd.clone(), zero.clone()]);
    let refused = engine.inv_mod(&a, &m).expect_err("no inverse");
    assert!(
        matches!(refused, Error::NotInvertible { index: 1 }),
        "{refused}"
    );
    let m = numbers(&[odd.clone(), zero, even]);
    let refused = engine.inv_mod(&a, &m).expect_err("no inverse");
    assert!(
        matches!(refused, Error::ZeroDivisor { index: 1 }),
        "{refused}"
    );
    let refused = engine.jacobi(&a, &m).expect_err("no symbol");
    assert!(
        matches!(refused, Error::EvenModulus { index: 1 }),
        "{refused}"
    );
}

#[test]
fn the_suite_goes_by_halves_too() {
    let name = "simulated_gpu::euclid::the_suite_goes_by_halves_too";
    if on_simulator(name, &[]) {
        let engine = Engine::cuda(0).expect("a device").with_tuning(tuning(1));
        let cases = Extent::Cases(bigint_testing::sweep(40, 400));
        bigint_testing::run(&engine, &OPERATIONS, cases, 9, &mut |_, _| {})
            .unwrap_or_else(|failure| panic!("{failure}"));
    }
}

/// From the fortieth launch on all fail.
#[test]
fn what_a_device_cannot_do_the_cpu_does() {
    let name = "simulated_gpu::euclid::what_a_device_cannot_do_the_cpu_does";
    if !on_simulator(name, &[("CUDA_SIM_FAULT", "cuLaunchKernel:40+=999")]) {
        return;
    }
    let engine = Engine::all().expect("a device").with_tuning(tuning(150));
    let [a, m] = [mixed(150, 1) | BigUint::from(1u8), mixed(150, 2)];
    let (x, y) = (
        batch(&engine, std::slice::from_ref(&a), 150),
        batch(&engine, std::slice::from_ref(&m), 150),
    );
    let inverse = engine
        .inv_mod(&x, &y)
        .map(|found| found.to_biguints().expect("is there"));
    match (a.modinv(&m), inverse) {
        (Some(expected), Ok(found)) => assert_eq!(found, [expected]),
        (None, Err(Error::NotInvertible { index: 0 })) => {}
        (expected, found) => panic!("{found:?} for {expected:?}"),
    }
    assert!(!engine.warnings().is_empty());
}
