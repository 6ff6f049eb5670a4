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
        transforms == [2406, 1242] && all <= 202,
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

/// The device, which has a thread for each number of up to so many limbs.
fn engine_of_threads(widest: usize) -> Engine {
    engine(|tuning| {
        tuning.decimals.thread_min_width = 1;
        tuning.decimals.thread_min_count = 1;
        tuning.decimals.min_width = widest;
    })
}

/// Powers of two and of ten about every limb and every nine digits up to so many limbs, their neighbours, all ones, and
/// numbers without a rule.
fn short_numbers(limbs: usize) -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let digits = 32 * limbs * 301 / 1000;
    let tens = (9..digits).step_by(9).flat_map(|at| [at - 1, at, at + 1]);
    let twos = (1..=limbs).flat_map(|at| [32 * at - 1, 32 * at, 32 * at + 1]);
    let powers = tens.map(ten).chain(twos.map(|bits| &one << bits));
    let mut numbers = vec![BigUint::ZERO, one.clone()];
    numbers.extend(powers.flat_map(|power| [&power - 1u8, power.clone(), &power + 1u8]));
    numbers.extend((1..=limbs).map(mixed));
    numbers
}

#[test]
fn digits_of_short_numbers_by_threads_are_those_of_num_bigint() {
    let name =
        "simulated_gpu::decimals::digits_of_short_numbers_by_threads_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = engine_of_threads(4096);
    let numbers = short_numbers(40);
    check(&engine, &numbers);
    check(&engine, &numbers[..1]);
    check(&engine, &[]);
    let noted = engine.noted_choices().join(" ");
    assert!(
        noted.contains("cuda:0: a thread for each number"),
        "{noted}"
    );
    // A column has numbers of any lengths, with signs, and a batch any layout.
    let signs = |i: usize| if i % 3 == 1 { "-" } else { "" };
    let lines = numbers.iter().enumerate();
    let lines = lines.map(|(i, number)| format!("{}{number}", signs(i)));
    let lines: Vec<String> = lines.map(|line| line.replace("-0", "0")).collect();
    let column = Integers::from_texts(&lines).expect("numbers");
    assert!(engine.decimals(&column).expect("a device") == lines);
    let batch = engine.batch_from_biguints(&numbers).expect("fits");
    let turned = engine.to_layout(&batch, Layout::Interleaved).expect("fits");
    assert!(engine.decimals(&turned).expect("a device") == texts(&numbers));
    // So many numbers that threads have more than one, or blocks are many.
    let many: Vec<BigUint> = (0..3000u32).map(|i| ten(i as usize % 40) * i).collect();
    check(&engine, &many);
    check(&engine, &[mixed(700), ten(6741) - 1u8, ten(6741)]);
}

#[test]
fn texts_of_short_numbers_are_read_by_threads_as_num_bigint_reads_them() {
    let name = "simulated_gpu::decimals::texts_of_short_numbers_are_read_by_threads_as_num_bigint_reads_them";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = engine_of_threads(4096);
    let numbers = short_numbers(40);
    let prefix = |i: usize| ["", "-", "+", "000", "-00000000000"][i % 5];
    let lines = numbers.iter().enumerate();
    let lines: Vec<String> = lines
        .map(|(i, number)| format!("{}{number}", prefix(i)))
        .collect();
    let found = engine.integers_from_texts(&lines).expect("a device");
    for (i, (found, number)) in found
        .to_bigints()
        .expect("memory")
        .iter()
        .zip(&numbers)
        .enumerate()
    {
        let is_negative = prefix(i).starts_with('-');
        let number = bigint_host::BigInt::from(number.clone());
        assert!(
            *found == if is_negative { -number } else { number },
            "{}",
            lines[i]
        );
    }
    let noted = engine.noted_choices().join(" ");
    assert!(
        noted.contains("cuda:0: a thread for each number"),
        "{noted}"
    );
    // What is not digits alone is read by the CPU, which names the text and the byte.
    let others = ["0xff", "1_000", "12"];
    let found = engine.integers_from_texts(others).expect("a device");
    assert!(found == Integers::from([255, 1000, 12]));
    let long = "7".repeat(50);
    for (wrong, position) in [
        ("", 0),
        ("-", 1),
        ("+", 1),
        ("12a", 2),
        ("1 ", 1),
        ("--1", 1),
        ("1.5", 1),
    ] {
        let error = engine.integers_from_texts([&long[..], &long, wrong, &long]);
        let error = error.expect_err("no number");
        assert!(
            matches!(error, Error::NotADigit { index: 2, position: p } if p == position),
            "{wrong:?}: {error}"
        );
    }
    let none: [&str; 0] = [];
    assert!(
        engine
            .integers_from_texts(none)
            .expect("a device")
            .is_empty()
    );
}

/// A digit of [`from_decimal`](Engine::from_decimal) may be any limb, and results may be cut or wider than they need be.
#[test]
fn any_limbs_are_digits() {
    let name = "simulated_gpu::decimals::any_limbs_are_digits";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = engine(|_| ());
    for limbs in (1..20).chain([63, 64, 65]) {
        let digits = (BigUint::from(1u8) << (32 * limbs)) - 1u8;
        let sum = (0..limbs).fold(BigUint::ZERO, |sum, _| sum * 1_000_000_000u32 + u32::MAX);
        let a = engine.batch_from_biguints(&[digits]).expect("fits");
        let number = engine.from_decimal(&a).expect("a device");
        assert!(
            number.to_biguints().expect("memory") == [sum.clone()],
            "{limbs} limbs"
        );
        let back = engine.to_decimal(&number).expect("a device");
        let back = engine.from_decimal(&back).expect("a device");
        assert!(
            back.to_biguints().expect("memory") == [sum],
            "{limbs} limbs"
        );
    }
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
