//! Tests on the simulated GPU, through the driver and under all checks of the simulator,
//! beside the CPU's.

mod common;
#[path = "../../bigint-host/tests/simulated_gpu/process.rs"]
mod process;
#[path = "../../cuda-sim-driver/tests/support/mod.rs"]
mod support;

use common::outcome;
use mersenne::{Arithmetic, Auto, Backend, Cpu, Cuda, LucasLehmer, Prp, Saved, Step};
use process::on_simulator;

fn exact() -> Cpu {
    Cpu {
        arithmetic: Arithmetic::Exact,
        ..Cpu::default()
    }
}

#[test]
fn a_device_finds_what_the_cpu_finds() {
    if !on_simulator("a_device_finds_what_the_cpu_finds", &[]) {
        return;
    }
    let device = Cuda::open(0).unwrap();
    for p in [521, 523] {
        for test in [
            Saved::LucasLehmer(LucasLehmer::new(p)),
            Saved::Prp(Prp::new(p)),
        ] {
            let expected = outcome(test.clone(), &exact());
            assert_eq!(outcome(test, &device), expected, "M{p}");
        }
    }
    // Other shapes: 8, 16, 24, 40, 56 and 32 rows; a few squarings.
    for (p, words) in [
        (4423, 256),
        (9689, 512),
        (4253, 384),
        (11_213, 640),
        (13_001, 896),
        (21_701, 2048),
    ] {
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

#[test]
fn a_long_transform_squares_as_the_cpu_does() {
    if on_simulator("a_long_transform_squares_as_the_cpu_does", &[]) {
        square_by_long_transform(1, 3);
    }
}

#[test]
fn a_device_takes_the_fastest_transform_that_suits() {
    if !on_simulator("a_device_takes_the_fastest_transform_that_suits", &[]) {
        return;
    }
    let device = Cuda::open(0).unwrap();
    let words = |p: u32, longer_than| {
        let squaring = device.squaring(p.into(), longer_than).unwrap();
        squaring.words().unwrap()
    };
    assert_eq!(words(77_232_917, None), 4 << 20);
    assert_eq!(words(77_232_917, Some(4 << 20)), 5 << 20);
    assert_eq!(words(77_300_003, None), 5 << 20);
    // Two launches for more words rather than three, unless words are very short then.
    assert_eq!(words(60_000_011, None), 4 << 20);
    assert_eq!(words(13_466_917, None), 1 << 20);
    assert_eq!(words(6_972_593, None), 3 << 17);
    assert_eq!(words(160_000_003, None), 9 << 20);
    assert_eq!(words(332_220_523, None), 18 << 20);
}

/// The last pass of a column is of radix 9, in blocks of two columns, and rows are twice as long.
/// `mersenne selftest --compare` has the other radices, on a GPU.
#[test]
fn a_longer_transform_squares_as_the_cpu_does() {
    // All checks take minutes, and most of the kernels have passed them above.
    let unchecked = [("CUDA_SIM_CHECKS", "none")];
    if on_simulator("a_longer_transform_squares_as_the_cpu_does", &unchecked) {
        square_by_long_transform(18, 1);
    }
}

/// A squaring by two launches, of `factor 2^20` words of 18 bits: `bigint_core`'s
/// `weighted::long`.
fn square_by_long_transform(factor: usize, by: u32) {
    let device = Cuda::open(0).unwrap();
    let words = factor << 20;
    let p = words as u32 * 18 + 1;
    let mut limb = 1_u64;
    let limbs: Vec<u64> = (0..p.div_ceil(64))
        .map(|_| {
            limb = limb.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            limb ^ limb >> 29
        })
        .collect();
    let start = mersenne::Residue::reduce(p, &limbs);
    let mut found = device.squaring(p.into(), Some(words - 1)).unwrap();
    assert_eq!(found.words(), Some(words));
    found.set(&start).unwrap();
    assert!(found.residue().unwrap() == start);
    found.square(1, by, 2).unwrap();
    let error = found.error().unwrap();
    assert!(error > 0.02 && error < 0.4, "{error}");
    assert!(found.residue().unwrap() == start.square_minus(by, 2));
}

#[test]
fn a_test_goes_from_a_device_to_the_cpu_and_back() {
    if !on_simulator("a_test_goes_from_a_device_to_the_cpu_and_back", &[]) {
        return;
    }
    let (device, cpu) = (Cuda::open(0).unwrap(), exact());
    let backends: [&dyn Backend; 3] = [&device, &cpu, &device];
    let mut test = Saved::Prp(Prp::new(607));
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
    }
    assert_eq!(done, Some(outcome(Saved::Prp(Prp::new(607)), &cpu)));
}

#[test]
fn a_lost_device_costs_no_result() {
    let start = Saved::LucasLehmer(LucasLehmer::new(521));
    lose_a_device("a_lost_device_costs_no_result", start);
}

#[test]
fn a_lost_device_costs_no_result_of_a_checked_test() {
    let start = Saved::Prp(Prp::new(521));
    lose_a_device("a_lost_device_costs_no_result_of_a_checked_test", start);
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
