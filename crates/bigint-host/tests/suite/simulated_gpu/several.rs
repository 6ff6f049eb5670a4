//! Several devices, of unequal memory, one of which may fail in the middle: the right
//! numbers, and a warning that names the device.

use crate::checks::lists::{Lengths, Random, check_list};
use crate::checks::signs::check_chain;
use crate::simulated_gpu::at_once::{at_once, auto};
use bigint_host::{
    BackEnd, BigUint, Computation, DeviceErrorKind, DeviceSet, Engine, Error, Integers, Layout,
    Operation, Tuning,
};
use bigint_testing::simulator::on_simulator;
use bigint_testing::trial::weight;
use bigint_testing::{Extent, sweep};

/// Three devices, the second with little memory.
const UNEQUAL: (&str, &str) = ("CUDA_SIM_DEVICES", "sm_90:1GiB,sm_90:1MiB,sm_90:1GiB");

/// Such that the numbers of these tests are shared.
pub fn sharing(engine: &Engine) -> Engine {
    let mut tuning = Tuning::default();
    tuning.devices.launch_ns = 0.0;
    engine.with_tuning(tuning)
}

fn numbers(count: u32, exponent: u32) -> Vec<BigUint> {
    (1..=count)
        .map(|i| BigUint::from(i).pow(exponent))
        .collect()
}

/// `(a * a + c) * a - a`, with one `c` for all, in either layout.
fn check(engine: &Engine, numbers: &[BigUint], layout: Layout) {
    let bits = numbers.iter().map(BigUint::bits).max().unwrap_or(1);
    let width = bits.div_ceil(32) as usize;
    let a = engine
        .batch_from_biguints_in(numbers, width, layout)
        .expect("fits");
    let c = engine.batch_from_biguints(&[7_u32.into()]).expect("fits");
    let compute = || {
        let square = engine.mul(&a, &a)?;
        let sum = engine.add(&square, &c)?;
        drop(square);
        let product = engine.mul(&sum, &a)?;
        engine.sub(&product, &a)?.to_biguints()
    };
    let found = compute().unwrap_or_else(|error| panic!("{error}: {:?}", engine.warnings()));
    for (n, found) in numbers.iter().zip(found) {
        assert_eq!(found, (n * n + 7_u32) * n - n);
    }
}

/// The same on all devices, which fail as `fault` says: warnings must have all of `words`.
fn check_failing(name: &str, fault: &str, words: &[&str]) {
    if !on_simulator(name, &[UNEQUAL, ("CUDA_SIM_FAULT", fault)]) {
        return;
    }
    let engine = sharing(&Engine::all().expect("devices"));
    for layout in Layout::ALL {
        check(&engine, &numbers(500, 20), layout);
    }
    let warnings = engine.warnings().join("\n");
    for word in words {
        assert!(warnings.contains(word), "no {word:?} in {warnings}");
    }
}

#[test]
fn a_batch_is_shared_and_stays_so() {
    let name = "simulated_gpu::several::a_batch_is_shared_and_stays_so";
    if !on_simulator(name, &[UNEQUAL]) {
        return;
    }
    let all = DeviceSet::new(0..3).expect("three");
    for engine in [auto(), Engine::all().expect("devices")] {
        let mut tuning = Tuning::default();
        // Three launches are worth 333 sums of 4 limbs, and one 40 of them.
        tuning.devices.launch_ns = 0.25;
        let engine = engine.with_tuning(at_once(tuning));
        assert_eq!(engine.back_end().to_string(), "cuda:0,1,2");
        let a = engine.batch_from_biguints(&numbers(333, 9)).expect("fits");
        assert_eq!(a.location(), BackEnd::Cuda(all));
        let sum = engine.add(&a, &a).expect("devices that work");
        assert_eq!(sum.location(), BackEnd::Cuda(all));
        let few = engine.batch_from_biguints(&numbers(40, 9)).expect("fits");
        assert_eq!(few.location(), BackEnd::Cuda(0.into()));
        for layout in Layout::ALL {
            check(&engine, &numbers(333, 9), layout);
            check(&engine, &numbers(40, 9), layout);
        }
        assert_eq!(engine.warnings(), Vec::<String>::new());
    }
    let chosen = Engine::cuda_devices("0,2".parse().expect("a list"));
    let chosen = sharing(&chosen.expect("they are there"));
    assert_eq!(chosen.back_end().to_string(), "cuda:0,2");
    check(&chosen, &numbers(100, 9), Layout::Contiguous);
    let absent = Engine::cuda_devices("0,3".parse().expect("a list"));
    assert!(matches!(
        absent,
        Err(Error::Device(error)) if matches!(error.kind, DeviceErrorKind::NoDevice { found: 3 })
    ));
}

#[test]
fn signs_flags_errors_and_lists_are_right_over_devices_of_unequal_kind() {
    let name = "simulated_gpu::several::signs_flags_errors_and_lists_are_right_over_devices_of_unequal_kind";
    let devices = ("CUDA_SIM_DEVICES", "sm_90:1GiB,sm_75:64MiB");
    if !on_simulator(name, &[devices]) {
        return;
    }
    let mut tuning = Tuning::default();
    tuning.devices.launch_ns = 0.0;
    tuning.devices.fetched_apart_limbs = 0;
    tuning.devices.segments_limbs = 0;
    let engine = Engine::all().expect("devices").with_tuning(tuning);
    check_chain(&engine);
    let a = engine.batch_from_biguints(&numbers(200, 3)).expect("fits");
    let mut others = numbers(200, 3);
    others[177] += 1_u32;
    others[199] += 1_u32;
    let b = engine.batch_from_biguints(&others).expect("fits");
    assert!(matches!(
        engine.sub(&a, &b),
        Err(Error::Underflow { index: 177 })
    ));
    let (_, borrows) = engine.overflowing_sub(&a, &b).expect("devices that work");
    let borrowed = borrows.iter().enumerate().filter(|(_, borrow)| **borrow);
    assert!(borrowed.map(|(i, _)| i).eq([177, 199]));
    let operations: Vec<Operation> = Operation::ALL
        .into_iter()
        .filter(|operation| Computation::takes(*operation))
        .collect();
    let random = &mut Random(5);
    check_list(
        &engine,
        &operations,
        Lengths::Normal(300),
        (100, 400),
        random,
    );
    assert_eq!(engine.warnings(), Vec::<String>::new());
}

#[test]
fn every_operation_is_right_on_shares_of_its_batches() {
    let name = "simulated_gpu::several::every_operation_is_right_on_shares_of_its_batches";
    let devices = ("CUDA_SIM_DEVICES", "2xsm_90:256MiB");
    if !on_simulator(name, &[devices, ("CUDA_SIM_CHECKS", "none")]) {
        return;
    }
    let engine = sharing(&Engine::all().expect("devices"));
    for operation in Operation::ALL {
        let extent = Extent::Cases(sweep(80, 200) / weight(operation));
        bigint_testing::run(&engine, &[operation], extent, 7, &mut |_, _| {})
            .unwrap_or_else(|failure| panic!("{failure}"));
    }
    assert_eq!(engine.warnings(), Vec::<String>::new());
}

#[test]
fn a_device_that_is_lost_hands_its_numbers_to_the_others() {
    let name = "simulated_gpu::several::a_device_that_is_lost_hands_its_numbers_to_the_others";
    let fault = "cuLaunchKernel:2=CUDA_ERROR_LAUNCH_FAILED!@2";
    let words = ["CUDA device 2", "lost", "to the other devices"];
    check_failing(name, fault, &words);
}

#[test]
fn a_share_that_cannot_be_brought_back_is_made_again() {
    let name = "simulated_gpu::several::a_share_that_cannot_be_brought_back_is_made_again";
    let fault = "cuMemcpyDtoHAsync_v2:2=CUDA_ERROR_ECC_UNCORRECTABLE!@1";
    check_failing(name, fault, &["CUDA device 1", "again on the CPU"]);
}

#[test]
fn memory_that_runs_out_on_one_device_is_made_good() {
    let name = "simulated_gpu::several::memory_that_runs_out_on_one_device_is_made_good";
    let fault = "cuMemAlloc_v2:4=CUDA_ERROR_OUT_OF_MEMORY@1";
    check_failing(name, fault, &["CUDA device 1", "smaller pieces"]);
}

#[test]
fn devices_that_all_fail_leave_the_cpu() {
    let name = "simulated_gpu::several::devices_that_all_fail_leave_the_cpu";
    let fault = "cuLaunchKernel:3+=CUDA_ERROR_LAUNCH_FAILED";
    check_failing(
        name,
        fault,
        &["device 0", "device 1", "device 2", "on the CPU"],
    );
}

#[test]
fn a_batch_larger_than_the_smaller_device_is_computed() {
    let name = "simulated_gpu::several::a_batch_larger_than_the_smaller_device_is_computed";
    if !on_simulator(name, &[UNEQUAL, ("CUDA_SIM_CHECKS", "none")]) {
        return;
    }
    let engine = sharing(&Engine::all().expect("devices"));
    check(&engine, &numbers(6000, 50), Layout::Contiguous);
    let warnings = engine.warnings().join("\n");
    assert!(warnings.contains("CUDA device 1: "), "{warnings}");
    assert!(!warnings.contains("CUDA device 0: "), "{warnings}");
}

/// A device on which operands and result do not fit together, or not at all.
#[test]
fn what_does_not_fit_the_one_device_that_is_forced_is_computed_in_pieces() {
    let name = "simulated_gpu::several::what_does_not_fit_the_one_device_that_is_forced_is_computed_in_pieces";
    let devices = ("CUDA_SIM_DEVICES", "sm_90:1MiB");
    if !on_simulator(name, &[devices, ("CUDA_SIM_CHECKS", "none")]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    for layout in Layout::ALL {
        check(&engine, &numbers(3000, 50), layout);
        check(&engine, &numbers(5000, 50), layout);
    }
    assert!(engine.warnings().join("\n").contains("smaller pieces"));
    // One number that does not fit, whatever is cut.
    let giant = [(BigUint::from(1_u32) << 9_000_000) - 1_u32];
    let giant = engine.batch_from_biguints(&giant).expect("the host has it");
    match engine.add(&giant, &giant) {
        Err(Error::Device(error)) => assert!(
            matches!(error.kind, DeviceErrorKind::OutOfMemory { bytes } if bytes > 1 << 20),
            "{error}"
        ),
        other => panic!("a device error was due: {other:?}"),
    }
}

/// While few numbers are operands of many computations, which go to both devices once.
#[test]
fn a_device_that_is_lost_in_a_list_hands_its_part_to_the_other() {
    let name =
        "simulated_gpu::several::a_device_that_is_lost_in_a_list_hands_its_part_to_the_other";
    let devices = ("CUDA_SIM_DEVICES", "sm_90:1GiB,sm_90:64MiB");
    let fault = "cuLaunchKernel:9=CUDA_ERROR_LAUNCH_FAILED!@1";
    if !on_simulator(name, &[devices, ("CUDA_SIM_FAULT", fault)]) {
        return;
    }
    let engine = sharing(&Engine::all().expect("devices"));
    let operations = [Operation::Add, Operation::Sub, Operation::Mul];
    for (seed, numbers) in [(1, 20), (2, 20), (3, 300)] {
        let lengths = Lengths::Normal(300);
        let random = &mut Random(seed);
        check_list(&engine, &operations, lengths, (numbers, 400), random);
    }
    let warnings = engine.warnings().join("\n");
    for word in ["CUDA device 1", "lost", "to the other devices"] {
        assert!(warnings.contains(word), "no {word:?} in {warnings}");
    }
}

#[test]
fn a_list_larger_than_the_device_is_computed() {
    let name = "simulated_gpu::several::a_list_larger_than_the_device_is_computed";
    let devices = ("CUDA_SIM_DEVICES", "sm_90:1MiB");
    if !on_simulator(name, &[devices, ("CUDA_SIM_CHECKS", "none")]) {
        return;
    }
    for engine in [Engine::cuda(0).expect("a device"), auto()] {
        let operations = [Operation::Add, Operation::Sub, Operation::Mul];
        let random = &mut Random(3);
        check_list(
            &engine,
            &operations,
            Lengths::Equal(2000),
            (3000, 6000),
            random,
        );
    }
    // One computation that does not fit, whatever is cut.
    let giant = Integers::from_biguints(&[(BigUint::from(1_u32) << 9_000_000) - 1_u32]);
    let sum = Computation {
        operation: Operation::Add,
        a: 0,
        b: 0,
    };
    let (giant, list) = (giant.expect("the host has it"), [sum]);
    match Engine::cuda(0).expect("a device").run(&giant, &list) {
        Err(Error::Device(error)) => assert!(
            matches!(error.kind, DeviceErrorKind::OutOfMemory { bytes } if bytes > 1 << 20),
            "{error}"
        ),
        other => panic!("a device error was due: {other:?}"),
    }
    let twice = auto().run(&giant, &list).expect("the CPU has it");
    let expected = giant.get(0).expect("one") * 2;
    assert_eq!(twice.get(0), Some(expected));
}
