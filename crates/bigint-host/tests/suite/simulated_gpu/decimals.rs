//! Decimal digits of numbers that a device converts by products.

use bigint_host::{BigUint, Engine, Error, Integers, Layout, SignedBatch, Tuning};
use bigint_testing::simulator::on_simulator;

/// Digits of a leaf, and limbs of a tree of 32 leaves.
const LEAF: usize = 152;
const LEAST: usize = 512;

/// The device, which converts numbers of a few thousand digits.
fn engine(change: impl FnOnce(&mut Tuning)) -> Engine {
    converting(Engine::cuda(0).expect("a device"), change)
}

fn converting(engine: Engine, change: impl FnOnce(&mut Tuning)) -> Engine {
    let mut tuning = Tuning::default();
    tuning.decimals.min_width = LEAST;
    tuning.decimals.min_limbs = 0;
    change(&mut tuning);
    let engine = engine.with_tuning(tuning);
    engine.note_choices();
    engine
}

/// Takes transforms modulo primes for all that is wide.
fn transforms(tuning: &mut Tuning) {
    tuning.mul.ntt.shortest = 0;
    tuning.mul.ntt.launch_nanoseconds = 0.0;
    tuning.mul.ntt.limb_nanoseconds = 1e-3;
    tuning.mul.ntt.square_limb_nanoseconds = 1e-3;
}

fn ten(exponent: usize) -> BigUint {
    BigUint::from(10u8).pow(exponent as u32)
}

/// A number of so many limbs whose digits follow no rule.
fn mixed(limbs: usize) -> BigUint {
    let whole = BigUint::from(1u8) << (32 * limbs);
    let power = BigUint::from(0x9e37_79b9_7f4a_7c15_u64).pow(limbs as u32 / 2 + 1);
    (power % &whole) | (whole >> 1)
}

fn texts(numbers: &[BigUint]) -> Vec<String> {
    numbers.iter().map(BigUint::to_string).collect()
}

#[track_caller]
fn check(engine: &Engine, numbers: &[BigUint]) {
    let batch = engine.batch_from_biguints(numbers).expect("fits");
    let found = engine.decimals(&batch).expect("a device");
    assert!(
        found == texts(numbers),
        "{:?}",
        numbers.iter().map(BigUint::bits)
    );
}

#[test]
fn digits_of_a_batch_are_those_of_num_bigint() {
    let name = "simulated_gpu::decimals::digits_of_a_batch_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = engine(|_| ());
    let power = ten(32 * LEAF);
    let ones = (BigUint::from(1u8) << (32 * LEAST)) - 1u8;
    let mut numbers = vec![BigUint::ZERO, 1u8.into(), mixed(LEAST), ones];
    numbers.extend([&power - 1u8, power.clone(), &power + 1u8, ten(20 * LEAF)]);
    numbers.push(power * 9u8 - ten(7 * LEAF));
    check(&engine, &numbers);
    let noted = engine.noted_choices().join(" ");
    assert!(noted.contains("by products with powers of ten"), "{noted}");
    // Signs, and numbers whose digits above a tree are a tree again.
    let long = -bigint_host::BigInt::from(mixed(LEAST + 530));
    let signed = engine
        .signed_from_bigints(&[long.clone(), 5.into()])
        .expect("fits");
    let found = engine.decimals(&signed).expect("a device");
    assert!(found == [long.to_string(), "5".to_owned()]);
    let turned = engine
        .to_layout(signed.magnitude(), Layout::Interleaved)
        .expect("fits");
    let found = engine
        .decimals(&SignedBatch::natural(turned))
        .expect("a device");
    assert!(found == [long.to_string()[1..].to_owned(), "5".to_owned()]);
}

#[test]
fn digits_of_numbers_of_mixed_lengths_are_those_of_num_bigint() {
    let name =
        "simulated_gpu::decimals::digits_of_numbers_of_mixed_lengths_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = engine(|_| ());
    let lengths = [3, LEAST + 5, 0, LEAST - 1, 2 * LEAST, LEAST, 1];
    let numbers = lengths.map(|limbs| match limbs {
        0 => BigUint::ZERO,
        _ => mixed(limbs),
    });
    let mut integers = Integers::new();
    for (i, number) in numbers.iter().enumerate() {
        integers
            .push(i % 2 == 1, &number.to_u32_digits())
            .expect("memory");
    }
    let found = engine.decimals(&integers).expect("a device");
    let expected: Vec<String> = integers.decimals().collect();
    assert!(found == expected);
    let oracle = integers.to_bigints().expect("memory");
    assert!(
        found
            .iter()
            .zip(oracle)
            .all(|(text, number)| *text == number.to_string())
    );
    let noted = engine.noted_choices().join(" ");
    for said in [
        "decimal digits of 1024 limbs, 1 numbers\n  cuda:0: by products",
        "decimal digits of 517 limbs, 2 numbers\n  cuda:0: by products",
        "decimal digits of 511 limbs, 1 numbers\n  cpu: on",
    ] {
        assert!(noted.contains(said), "{said}: {noted}");
    }
}

/// A tree of 64 leaves has middle products at its two upper levels, whose factors are transformed once for all numbers.
/// The other products modulo primes are those of powers, reciprocals and quotients.
#[test]
fn conversions_take_no_more_transforms_and_launches_than_counted() {
    let name =
        "simulated_gpu::decimals::conversions_take_no_more_transforms_and_launches_than_counted";
    let counts = concat!(env!("CARGO_TARGET_TMPDIR"), "/launches-of-decimals");
    if on_simulator(name, &[("CUDA_SIM_COUNTS", counts)]) {
        let engine = engine(transforms);
        check(
            &engine,
            &[mixed(1024), ten(64 * LEAF) - 1u8, ten(64 * LEAF) + 1u8],
        );
        return;
    }
    let launches = std::fs::read_to_string(counts).expect("the counts");
    std::fs::remove_file(counts).expect("is there");
    // A launch has blocks for each number.
    let blocks = |kernel: &str| {
        let launches = launches.lines().filter(|line| line.contains(kernel));
        let grids = launches.filter_map(|line| line.split("\"grid\":[").nth(1)?.split(',').next());
        let blocks = grids.map(|blocks| blocks.parse::<usize>().expect("a number"));
        blocks.sum::<usize>()
    };
    let transforms = ["mul_ntt_grid_forth", "mul_ntt_grid_back"].map(blocks);
    let all = launches.lines().count();
    assert!(
        transforms == [2514, 1302] && all <= 285,
        "{transforms:?} {all}"
    );
}

#[test]
fn digits_of_long_numbers_are_read_as_num_bigint_reads_them() {
    let name = "simulated_gpu::decimals::digits_of_long_numbers_are_read_as_num_bigint_reads_them";
    let counts = concat!(env!("CARGO_TARGET_TMPDIR"), "/launches-of-readings");
    if on_simulator(name, &[("CUDA_SIM_COUNTS", counts)]) {
        let engine = engine(|_| ());
        let power = ten(64 * LEAF + 7);
        let short = ten(33 * LEAF);
        let long = [&power - 1u8, power.clone(), short, &power + 1u8, mixed(700)];
        let mut all: Vec<String> = long.iter().map(|number| format!("-{number}")).collect();
        all.extend(["0x1f", "+0", "12"].map(str::to_owned));
        all.push(format!("+000{power}"));
        let found = engine.integers_from_texts(&all).expect("a device");
        assert!(found == Integers::from_texts(&all).expect("memory"));
        assert!(found.get(1) == Some(-bigint_host::BigInt::from(power.clone())));
        let wrong = format!("{power}_1z");
        let position = wrong.len() - 1;
        let error = engine
            .integers_from_texts(["1", &wrong])
            .expect_err("no digit");
        assert!(matches!(error, Error::NotADigit { index: 1, position: p } if p == position));
        return;
    }
    let launches = std::fs::read_to_string(counts).expect("the counts");
    std::fs::remove_file(counts).expect("is there");
    let all = launches.lines().count();
    assert!((40..=50).contains(&all), "{all}");
}

/// The first of two devices is lost in the middle of a conversion; the other one has a part of the numbers.
#[test]
fn a_device_that_is_lost_on_the_way_costs_no_digit() {
    let name = "simulated_gpu::decimals::a_device_that_is_lost_on_the_way_costs_no_digit";
    let settings = [
        ("CUDA_SIM_DEVICES", "sm_90:1GiB,sm_90:1GiB"),
        ("CUDA_SIM_FAULT", "cuLaunchKernel:70+=719!@0"),
    ];
    if on_simulator(name, &settings) {
        let engine = converting(Engine::all().expect("two devices"), |_| ());
        let numbers: Vec<BigUint> = (0..6).map(|i| mixed(600) - ten(100 * i)).collect();
        check(&engine, &numbers);
        assert!(!engine.warnings().is_empty());
    }
}
