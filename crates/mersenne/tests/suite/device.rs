//! Tests on the simulated GPU, through the driver and under all checks of the simulator,
//! beside the CPU's.

use std::{env, fs};

use crate::common::outcome;
use bigint_cpu::fast::number::weighted::Operand;
use bigint_testing::simulator::on_simulator;
use bigint_testing::sweep;
use mersenne::{
    Arithmetic, Auto, Backend, Cpu, Cuda, Curves, Ecm, LucasLehmer, Number, PMinus1, Proof, Prp,
    Residue, Runner, Save, Saved, Squaring, Stage2, Step,
};
use num_bigint::BigUint;

fn exact() -> Cpu {
    Cpu {
        arithmetic: Arithmetic::Exact,
        ..Cpu::default()
    }
}

/// Exponents, and words in 8, 16, 24, 40, 56 and 32 rows.
const SHAPES: [(u32, usize); 6] = [
    (4423, 256),
    (9689, 512),
    (4253, 384),
    (11_213, 640),
    (13_001, 896),
    (21_701, 2048),
];

#[test]
fn a_device_finds_what_the_cpu_finds() {
    if !on_simulator("device::a_device_finds_what_the_cpu_finds", &[]) {
        return;
    }
    let device = Cuda::open(0).unwrap();
    for p in [521, 523] {
        // A prime by one and a composite number by the other; in sweeps both by both.
        let tests = [
            Saved::LucasLehmer(LucasLehmer::new(p)),
            Saved::Prp(Prp::new(p)),
        ];
        let other = usize::from(p == 523);
        for test in tests.into_iter().skip(sweep(other, 0)).step_by(sweep(2, 1)) {
            let expected = outcome(test.clone(), &exact());
            assert_eq!(outcome(test, &device), expected, "M{p}");
        }
    }
    // Other shapes; a few squarings.
    for (p, words) in SHAPES {
        let squarings = [
            device.squaring(p.into(), Some(words - 1)),
            exact().squaring(p.into(), None),
        ];
        let [mut found, mut right] = squarings.map(Result::unwrap);
        assert_eq!(found.words(), Some(words));
        let start = mersenne::Residue::from_u64(p, u64::MAX).with_flipped_bit(p - 2);
        for squaring in [&mut found, &mut right] {
            squaring.set(&start).unwrap();
            assert_eq!(squaring.residue().unwrap(), start);
        }
        for (times, by) in [(1, 1), (13, 1), (2, 3)] {
            found.square(times, by, 2).unwrap();
            assert!(found.error().unwrap() < 0.25);
            right.square(times, by, 2).unwrap();
            assert_eq!(found.residue().unwrap(), right.residue().unwrap(), "M{p}");
        }
    }
}

/// The first and the last bit of a word of `2^p - 1`.
pub fn ends(p: u32, words: usize, word: usize) -> [u32; 2] {
    let begin = |word: usize| (u64::from(p) * word as u64).div_ceil(words as u64) as u32;
    [begin(word), begin(word + 1) - 1]
}

#[test]
fn a_device_subtracts_from_any_word() {
    if !on_simulator("device::a_device_subtracts_from_any_word", &[]) {
        return;
    }
    let device = Cuda::open(0).unwrap();
    for (p, words) in SHAPES {
        let mut found = by_words(&device, p, words);
        let start = Residue::from_u64(p, u64::MAX).with_flipped_bit(p - 2);
        found.set(&start).unwrap();
        let mut right = integer(&start);
        let near = (0..9)
            .chain(words / 2 - 1..words / 2 + 2)
            .chain(words - 9..words);
        // Of the shortest all words.
        let at: Vec<usize> = if words == 256 {
            (0..256).collect()
        } else {
            near.collect()
        };
        let bits = at.into_iter().flat_map(|word| ends(p, words, word));
        for (i, bit) in bits.enumerate() {
            let by = 1 + 2 * (i as u32 % 2);
            found.square_shifted(by, 2, bit).unwrap();
            right = square_minus(&right, by, bit, p);
            assert!(
                integer(&found.residue().unwrap()) == right,
                "M{p}, bit {bit}"
            );
        }
        assert!(found.error().unwrap() < 0.25);
        // What goes below zero goes around.
        for bit in [0, 1, p - 1] {
            found.set(&Residue::from_u64(p, 0)).unwrap();
            found.square_shifted(1, 2, bit).unwrap();
            let right = square_minus(&BigUint::ZERO, 1, bit, p);
            assert!(integer(&found.residue().unwrap()) == right);
        }
    }
}

#[test]
fn lucas_lehmer_tests_end_alike_with_every_shift_on_a_device() {
    let test = "device::lucas_lehmer_tests_end_alike_with_every_shift_on_a_device";
    if !on_simulator(test, &[]) {
        return;
    }
    let device = Cuda::open(0).unwrap();
    for (p, shifts) in [(521, [520, 1, 0]), (523, [261, 2, 522])] {
        let right = (2..p).fold(BigUint::from(4_u8), |x, _| square_minus(&x, 1, 0, p));
        let low = right.iter_u64_digits().next().unwrap_or(0);
        for shift in shifts
            .into_iter()
            .take(sweep(if p == 521 { 2 } else { 1 }, 3))
        {
            let test = Saved::LucasLehmer(LucasLehmer::new(p)).with_shift(shift);
            let found = outcome(test, &device);
            assert_eq!((found.res64, found.is_prime), (low, p == 521), "{shift}");
        }
    }
}

#[test]
fn a_shifted_test_goes_back_where_its_check_fails_on_a_device() {
    let test = "device::a_shifted_test_goes_back_where_its_check_fails_on_a_device";
    if !on_simulator(test, &[]) {
        return;
    }
    let device = Cuda::open(0).unwrap();
    let mut test = LucasLehmer::new(521);
    let start = Saved::LucasLehmer(test.clone()).with_shift(519);
    let mut runner = start.runner(&device).unwrap();
    let mut backs = 0;
    // A bit flips in the first stretch, another one each time, until a check tells it.
    for bit in 100.. {
        test.advance(&mut runner, 40).unwrap();
        test.rest(&mut runner).unwrap();
        if backs == 0 {
            let wrong = test.residue.with_flipped_bit(bit);
            runner.set(&wrong).unwrap();
            test.advance(&mut runner, 2).unwrap();
            test.rest(&mut runner).unwrap();
        }
        let check = test.begin_check().unwrap();
        match (test.settle(check, &mut runner).unwrap(), backs) {
            (false, 0) => backs = 1,
            (true, 0) => {
                // As half of all are, this one is not found.
                test = LucasLehmer::new(521);
                runner.set(&test.residue).unwrap();
            }
            (holds, _) => assert!(holds),
        }
        if test.iteration == test.iterations() {
            break;
        }
    }
    assert_eq!(test.residue, Residue::from_u64(521, 0));
}

#[test]
fn other_moduli_square_on_a_device_as_on_the_cpu() {
    if !on_simulator("device::other_moduli_square_on_a_device_as_on_the_cpu", &[]) {
        return;
    }
    let device = Cuda::open(0).unwrap();
    // Words of 9 and of 13 bits, in 8, 16, 24 and 40 rows.
    for (k, b, c, words) in [
        (3, 2, 1, 128),
        (3, 2, -1, 128),
        (1, 2, 1, 256),
        (315, 2, 1, 384),
        (100_001, 2, -1, 256),
        (100_001, 2, 1, 640),
        (2, 3, 1, 256),
        (2, 3, -1, 640),
        (4, 3, 5, 128),
        (9, 10, -1, 384),
        (12, 10, 61, 256),
        (6, 7, -5, 128),
        (1, 1000, 1, 256),
    ] {
        for bits in [9, 13] {
            let n = f64::from(bits * words) / f64::from(b).log2();
            let number = Number::of(k, b, n as u32, c).unwrap();
            let squarings = [
                device.squaring(number, Some(words as usize - 1)),
                exact().squaring(number, None),
            ];
            let [mut found, mut right] = squarings.map(Result::unwrap);
            assert_eq!(found.words(), Some(words as usize), "{number}");
            let seven = Residue::from_u64(number, 7);
            // N - 1, the inverse of 2, whose digits are as great as digits are, and one that looks random.
            let starts = [
                Residue::from_u64(number, 0).minus(&Residue::from_u64(number, 1)),
                Residue::from_u64(number, 1).divided_by(2),
                seven.pow(1 << 20).times(3),
            ];
            for (start, times) in starts.iter().zip([1, 1, 3]) {
                for squaring in [&mut found, &mut right] {
                    squaring.set(start).unwrap();
                    assert_eq!(&squaring.residue().unwrap(), start, "{number}");
                }
                // 1 / k is known where c is 1 or -1.
                let minus = if c.abs() == 1 { 2 } else { 0 };
                for by in [1, 3] {
                    found.square(times, by, minus).unwrap();
                    right.square(times, by, minus).unwrap();
                    assert!(found.error().unwrap() < 0.3, "{number}");
                    let residue = found.residue().unwrap();
                    assert_eq!(residue, right.residue().unwrap(), "{number}");
                    let later = found.residue_later().unwrap().unwrap();
                    assert_eq!(later().unwrap(), residue, "{number}");
                }
            }
        }
    }
    for (k, b, n, is_prime) in [(9, 2, 1148, false), (2, 3, 320, true)] {
        let number = Number::of(k, b, n, 1).unwrap();
        let worktype = Saved::worktypes(number)[0];
        let [found, right] = [&device as &dyn Backend, &exact()]
            .map(|backend| outcome(Saved::new(number, worktype), backend));
        assert_eq!((found.is_prime, &found), (is_prime, &right), "{number}");
    }
}

#[test]
fn a_device_multiplies_as_the_cpu_does() {
    if !on_simulator("device::a_device_multiplies_as_the_cpu_does", &[]) {
        return;
    }
    let device = Cuda::open(0).unwrap();
    // Rows of 8 and 16 points; 8, 16, 24 and 40 of them.
    for (k, b, n, c, words) in [
        (1, 2, 2203, -1, 128),
        (1, 2, 4423, -1, 256),
        (1, 2, 6451, -1, 384),
        (3, 2, 1700, 1, 128),
        (315, 2, 1700, -1, 128),
        (2, 3, 2100, -1, 256),
        (9, 10, 2500, 1, 640),
        (4, 3, 1000, 5, 128),
    ] {
        let number = Number::of(k, b, n, c).unwrap();
        let machines = [
            device.multiplying(number, Some(words - 1)),
            exact().multiplying(number, None),
        ];
        let [mut found, mut right] = machines.map(Result::unwrap);
        assert_eq!(found.words(), Some(words), "{number}");
        let [zero, one] = [0, 1].map(|x| Residue::from_u64(number, x));
        // N - 1, 0, 1, the inverse of 2, and one that looks random.
        let random = Residue::from_u64(number, 7).pow(1 << 20).times(3);
        let half = one.divided_by(2);
        let all = [zero.clone().minus(&one), zero, one, half, random];
        let minus = if c.abs() == 1 { 5 } else { 0 };
        for (i, x) in all.iter().enumerate() {
            let (factor, less) = (&all[(i + 1) % 5], &all[(i + 3) % 5]);
            let products = [&mut found, &mut right].map(|machine| {
                let [factor, less] = [factor, less].map(|of| {
                    machine.set(of).unwrap();
                    let kept = machine.keep().unwrap();
                    // The residue has not changed.
                    assert_eq!(&machine.residue().unwrap(), of, "{number}");
                    kept
                });
                machine.set(x).unwrap();
                machine.multiply(&factor, None, minus).unwrap();
                let first = machine.residue().unwrap();
                machine.multiply(&factor, Some(&less), 0).unwrap();
                machine.square(1, 1, minus).unwrap();
                assert!(machine.error().unwrap() < 0.3, "{number}");
                let second = machine.residue().unwrap();
                let products = [
                    [Operand::One(&less), Operand::One(&factor)],
                    [Operand::Sum(&factor, &less), Operand::One(&less)],
                    [Operand::One(&less), Operand::Difference(&less, &factor)],
                    [
                        Operand::Difference(&less, &factor),
                        Operand::Sum(&less, &less),
                    ],
                ]
                .map(|sides| {
                    machine.product(sides).unwrap();
                    machine.residue().unwrap()
                });
                (first, second, products)
            });
            assert_eq!(products[0], products[1], "{number}, {i}");
        }
    }
}

#[test]
fn p_minus_1_proofs_and_morrisons_test_multiply_on_a_device() {
    let test = "device::p_minus_1_proofs_and_morrisons_test_multiply_on_a_device";
    if !on_simulator(test, &[]) {
        return;
    }
    let device = Cuda::open(0).unwrap();
    let start = second_stage(2017, 5, 463);
    let stages = [&device as &dyn Backend, &exact()].map(|backend| {
        let mut stage = start.clone();
        let mut steps = stage.steps(backend, None, &|| true).unwrap().unwrap();
        while !stage.advance(&mut steps, 3, &|| true).unwrap() {}
        (steps.words(), stage)
    });
    let [(words, found), (none, right)] = stages;
    assert_eq!((words, none), (Some(128), None));
    assert_eq!(found, right);
    assert_eq!(found.divisor().unwrap(), 9_338_711u32.into());

    let residue = |iteration| {
        let three = Residue::from_u64(607, 3);
        Ok((0..iteration).fold(three, |x, _| x.square_minus(1, 0)))
    };
    let right = Proof::build(607, 2, residue).unwrap();
    let found = Proof::go_on(607, 2, &device, Vec::new(), residue, |_| {});
    assert_eq!(found.unwrap(), right);

    let number = Number::of(2, 3, 384, -1).unwrap();
    let terms = [3, 7].map(|x| Residue::from_u64(number, x));
    let bits = [true, true, false, true, false, false, true, true].repeat(3);
    let [found, right] = [&device as &dyn Backend, &exact()].map(|backend| {
        let mut runner = Runner::new(number, 0, backend).unwrap();
        let terms = runner.lucas(&terms, 3, &bits).unwrap();
        (runner.words(), terms)
    });
    assert_eq!((found.0, right.0), (Some(128), None));
    assert_eq!(found.1, right.1);
}

#[test]
fn a_device_that_is_lost_in_the_second_stage_costs_no_factor() {
    let test = "device::a_device_that_is_lost_in_the_second_stage_costs_no_factor";
    // In a giant step.
    let fault = "cuLaunchKernel:150=CUDA_ERROR_LAUNCH_FAILED!";
    if !on_simulator(test, &[("CUDA_SIM_FAULT", fault)]) {
        return;
    }
    let mut auto = Auto::new(0, exact());
    auto.device_from = 0;
    let mut stage = second_stage(2017, 5, 463);
    let mut steps = stage.steps(&auto, None, &|| true).unwrap().unwrap();
    assert!(steps.take_failure().is_none());
    while !stage.advance(&mut steps, 3, &|| true).unwrap() {}
    assert!(steps.take_failure().is_some());
    assert_eq!(steps.words(), None);
    assert_eq!(stage.divisor().unwrap(), 9_338_711u32.into());
}

/// Both stages of a curve on a machine, the failures on the way, and the words of the transform. `mark` is called where
/// a stage's machine is made, and where the stage is done.
fn curve_on(backend: &dyn Backend, mut mark: impl FnMut()) -> (Vec<Ecm>, u32, Option<usize>) {
    let curves = Curves {
        first: 20,
        second: Some(300),
        count: 1,
        sigma: Some(11),
        left: None,
    };
    let mut ecm = Ecm::new(2017, curves, 11).unwrap();
    let (mut all, mut failures, mut words) = (Vec::new(), 0, None);
    while !ecm.is_done() {
        let mut steps = ecm.steps(backend, None, &|| true).unwrap().unwrap();
        mark();
        while !ecm.advance(&mut steps, 3, &|| true).unwrap() {}
        mark();
        failures += u32::from(steps.take_failure().is_some());
        words = steps.words();
        all.push(ecm.clone());
        ecm.go_on(1 << 20);
    }
    (all, failures, words)
}

#[test]
fn a_curve_on_a_device_is_that_of_the_cpu() {
    if !on_simulator("device::a_curve_on_a_device_is_that_of_the_cpu", &[]) {
        return;
    }
    let (found, _, words) = curve_on(&Cuda::open(0).unwrap(), || {});
    assert_eq!(words, Some(128));
    assert_eq!((found, 0, None), curve_on(&exact(), || {}));
}

#[test]
fn a_device_that_is_lost_in_a_chain_costs_no_step() {
    lose_a_curve("device::a_device_that_is_lost_in_a_chain_costs_no_step", 0);
}

#[test]
fn a_device_that_is_lost_in_giant_steps_costs_no_step() {
    lose_a_curve(
        "device::a_device_that_is_lost_in_giant_steps_costs_no_step",
        1,
    );
}

/// Loses the device halfway through the steps of a stage, whose launches a run before has counted.
fn lose_a_curve(test: &str, stage: usize) {
    const LAUNCHES: &str = "CUDA_SIM_COUNTS";
    const MARKS: &str = "MARKS";
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let files = [(LAUNCHES, file("launches")), (MARKS, file("marks"))];
    let settings = files.each_ref().map(|(name, path)| (*name, &**path));
    if on_simulator(test, &settings) {
        let mut auto = Auto::new(0, exact());
        auto.device_from = 0;
        let Ok(launches) = env::var(LAUNCHES) else {
            let (found, failures, words) = curve_on(&auto, || {});
            assert_eq!((failures, words), (1, None));
            assert_eq!(found, curve_on(&exact(), || {}).0);
            return;
        };
        let mut marks = Vec::new();
        let (_, failures, words) = curve_on(&auto, || {
            let lines = fs::read_to_string(&launches).unwrap();
            marks.push(lines.lines().count().to_string());
        });
        assert_eq!((failures, words), (0, Some(128)));
        fs::write(env::var(MARKS).unwrap(), marks.join("\n")).unwrap();
        return;
    }
    let marks = fs::read_to_string(file("marks")).unwrap();
    let marks: Vec<usize> = marks.lines().map(|mark| mark.parse().unwrap()).collect();
    let launch = (marks[2 * stage] + marks[2 * stage + 1]) / 2;
    let fault = format!("cuLaunchKernel:{launch}=CUDA_ERROR_LAUNCH_FAILED!");
    on_simulator(test, &[("CUDA_SIM_FAULT", &fault)]);
}

/// The second stage of P-1 after a first one.
fn second_stage(p: u32, first: u32, second: u64) -> Stage2 {
    let mut test = Saved::PMinus1(PMinus1::new(p, first).unwrap());
    let cpu = exact();
    let mut runner = test.runner(&cpu).unwrap();
    while let Step::Going = test.advance(&mut runner, 1000).unwrap() {}
    match test {
        Saved::PMinus1(test) => Stage2::new(&test, second, 1 << 20),
        _ => unreachable!(),
    }
}

pub fn integer(x: &mersenne::Residue) -> BigUint {
    let halves = x.limbs().iter().flat_map(|x| [*x as u32, (x >> 32) as u32]);
    BigUint::new(halves.collect())
}

/// `by x^2 - 2^(bit + 1)` modulo `2^p - 1`.
pub fn square_minus(x: &BigUint, by: u32, bit: u32, p: u32) -> BigUint {
    let modulus = (BigUint::from(1_u8) << p) - 1_u8;
    let mut y = x * x * by + &modulus + &modulus - (BigUint::from(2_u8) << bit);
    while y.bits() > p.into() {
        y = (&y & &modulus) + (y >> p);
    }
    if y == modulus { BigUint::ZERO } else { y }
}

#[test]
fn a_device_takes_the_fastest_transform_that_suits() {
    if !on_simulator(
        "device::a_device_takes_the_fastest_transform_that_suits",
        &[],
    ) {
        return;
    }
    let device = Cuda::open(0).unwrap();
    let words = |p: u32, longer_than| {
        let squaring = device.squaring(p.into(), longer_than).unwrap();
        squaring.words().unwrap()
    };
    assert_eq!(words(77_232_917, None), 4 << 20);
    assert_eq!(words(77_232_917, Some(4 << 20)), 9 << 19);
    assert_eq!(words(77_300_003, None), 9 << 19);
    // Two launches for more words rather than three, unless words are very short then.
    assert_eq!(words(13_466_917, None), 11 << 16);
    assert_eq!(words(6_972_593, None), 9 << 16);
    assert_eq!(words(6_000_011, None), 5 << 16);
    assert_eq!(words(60_000_011, None), 13 << 18);
    assert_eq!(words(118_845_473, None), 13 << 19);
    assert_eq!(words(160_000_003, None), 9 << 20);
    assert_eq!(words(332_220_523, None), 18 << 20);
}

/// What squares modulo `2^p - 1` by a transform of so many words.
pub fn by_words(device: &Cuda, p: u32, words: usize) -> Box<dyn Squaring> {
    let squaring = device.squaring(p.into(), Some(words - 1)).unwrap();
    assert_eq!(squaring.words(), Some(words));
    squaring
}

/// Limbs of `p` bits.
pub fn pseudo_random_limbs(p: u32) -> Vec<u64> {
    let mut limb = 1_u64;
    let limbs = (0..p.div_ceil(64)).map(|_| {
        limb = limb.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        limb ^ limb >> 29
    });
    limbs.collect()
}

#[test]
fn a_test_goes_from_a_device_to_the_cpu_and_back() {
    if !on_simulator("device::a_test_goes_from_a_device_to_the_cpu_and_back", &[]) {
        return;
    }
    let (device, cpu) = (Cuda::open(0).unwrap(), exact());
    let backends: [&dyn Backend; 3] = [&device, &cpu, &device];
    let lucas_lehmer = Saved::LucasLehmer(LucasLehmer::new(607));
    for start in [
        Saved::Prp(Prp::new(607)),
        lucas_lehmer.clone(),
        lucas_lehmer.with_shift(303),
    ] {
        let mut test = start.clone();
        let mut done = None;
        for backend in backends.into_iter().cycle().take(100) {
            let mut runner = test.runner(backend).unwrap();
            match test.advance(&mut runner, 50).unwrap() {
                Step::Going => test.rest(&mut runner).unwrap(),
                Step::Done(outcome) => {
                    done = Some(outcome);
                    break;
                }
            }
            let saved = Saved::from_bytes(&test.to_bytes(), &start).unwrap();
            assert_eq!(saved.as_ref(), Some(&test));
        }
        assert_eq!(done, Some(outcome(start, &cpu)));
    }
}

#[test]
fn a_lost_device_costs_no_result() {
    let start = Saved::LucasLehmer(LucasLehmer::new(521)).with_shift(300);
    lose_a_device("device::a_lost_device_costs_no_result", start);
}

#[test]
fn a_lost_device_costs_no_result_of_a_checked_test() {
    let start = Saved::Prp(Prp::new(521));
    lose_a_device(
        "device::a_lost_device_costs_no_result_of_a_checked_test",
        start,
    );
}

fn lose_a_device(test: &str, start: Saved) {
    // The 700th launch, of about the 233rd iteration.
    let fault = [(
        "CUDA_SIM_FAULT",
        "cuLaunchKernel:700=CUDA_ERROR_LAUNCH_FAILED!",
    )];
    if !on_simulator(test, &fault) {
        return;
    }
    let mut auto = Auto::new(0, exact());
    auto.device_from = 0;
    let mut test = start;
    let mut runner = test.runner(&auto).unwrap();
    let mut failures = 0;
    let found = loop {
        let step = test.advance(&mut runner, 100).unwrap();
        failures += u32::from(runner.take_failure().is_some());
        if let Step::Done(outcome) = step {
            break outcome;
        }
    };
    assert_eq!((failures, found.errors), (1, 0));
    assert!(found.is_prime);
}
