//! What a user sees of a GPU that fails: with `cuda` a typed error, with `auto` the
//! right answer and a warning.

use crate::checks::signs::check_chain;
use crate::simulated_gpu::at_once::auto;
use bigint_host::{BackEnd, BigUint, DeviceErrorKind, Engine, Error, devices};
use bigint_testing::simulator::on_simulator;

fn numbers() -> Vec<BigUint> {
    (1_u32..100).map(|i| BigUint::from(i).pow(100)).collect()
}

/// `a * a + a`, and what it must be.
fn compute(engine: &Engine) -> Result<Vec<BigUint>, Error> {
    let a = engine.batch_from_biguints(&numbers())?;
    engine.add(&engine.mul(&a, &a)?, &a)?.to_biguints()
}

fn expected() -> Vec<BigUint> {
    numbers()
        .iter()
        .map(|number| number * number + number)
        .collect()
}

/// The kind of error that an engine bound to device 0 meets.
fn kind(result: Result<Vec<BigUint>, Error>) -> DeviceErrorKind {
    match result {
        Err(Error::Device(error)) => {
            assert_eq!(error.ordinal, 0);
            assert!(!error.during.is_empty());
            error.kind
        }
        other => panic!("a device error was due: {other:?}"),
    }
}

/// `auto` computes rightly, and warns in words that contain `word`.
fn auto_makes_good(word: &str) {
    let engine = auto();
    assert_eq!(compute(&engine).expect("auto makes good"), expected());
    let warnings = engine.warnings();
    assert!(
        warnings.iter().any(|warning| warning.contains(word)),
        "{warnings:?}"
    );
}

#[test]
fn a_driver_without_a_device_is_no_error() {
    let name = "simulated_gpu::failures::a_driver_without_a_device_is_no_error";
    if !on_simulator(name, &[("CUDA_SIM_DEVICES", "none")]) {
        return;
    }
    assert!(devices().expect("the driver works").is_empty());
    assert_eq!(Engine::auto().back_end(), BackEnd::Cpu);
    let opened = Engine::cuda(0).map(|_| Vec::new());
    assert!(matches!(
        kind(opened),
        DeviceErrorKind::NoDevice { found: 0 }
    ));
}

#[test]
fn memory_that_runs_out_is_an_error_with_its_size() {
    let name = "simulated_gpu::failures::memory_that_runs_out_is_an_error_with_its_size";
    let fault = (
        "CUDA_SIM_FAULT",
        "cuMemAlloc_v2:2+=CUDA_ERROR_OUT_OF_MEMORY",
    );
    if !on_simulator(name, &[fault]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let kind = kind(compute(&engine));
    assert!(
        matches!(kind, DeviceErrorKind::OutOfMemory { bytes } if bytes > 0),
        "{kind:?}"
    );
}

#[test]
fn memory_that_is_there_again_is_used() {
    let name = "simulated_gpu::failures::memory_that_is_there_again_is_used";
    let fault = ("CUDA_SIM_FAULT", "cuMemAlloc_v2:2=CUDA_ERROR_OUT_OF_MEMORY");
    if !on_simulator(name, &[fault]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    assert_eq!(compute(&engine).expect("in pieces"), expected());
    assert!(engine.warnings()[0].contains("smaller pieces"));
    assert_eq!(compute(&engine).expect("at once"), expected());
    assert!(engine.warnings().is_empty());
}

#[test]
fn auto_computes_in_pieces_what_does_not_fit() {
    let name = "simulated_gpu::failures::auto_computes_in_pieces_what_does_not_fit";
    let fault = ("CUDA_SIM_FAULT", "cuMemAlloc_v2:2=CUDA_ERROR_OUT_OF_MEMORY");
    if on_simulator(name, &[fault]) {
        auto_makes_good("smaller pieces");
    }
}

#[test]
fn auto_goes_on_without_a_device_that_has_no_memory_at_all() {
    let name = "simulated_gpu::failures::auto_goes_on_without_a_device_that_has_no_memory_at_all";
    let fault = ("CUDA_SIM_FAULT", "cuMemAlloc_v2:*=CUDA_ERROR_OUT_OF_MEMORY");
    if on_simulator(name, &[fault]) {
        auto_makes_good("out of memory");
    }
}

#[test]
fn a_launch_that_fails_loses_the_device() {
    let name = "simulated_gpu::failures::a_launch_that_fails_loses_the_device";
    let fault = (
        "CUDA_SIM_FAULT",
        "cuLaunchKernel:2=CUDA_ERROR_LAUNCH_FAILED!",
    );
    if !on_simulator(name, &[fault]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let kept = engine
        .batch_from_biguints(&numbers())
        .expect("works so far");
    assert!(matches!(kind(compute(&engine)), DeviceErrorKind::Lost(_)));
    // From now on all answers are errors, and dropping is none.
    assert!(matches!(kind(compute(&engine)), DeviceErrorKind::Lost(_)));
    assert!(matches!(kind(kept.to_biguints()), DeviceErrorKind::Lost(_)));
}

#[test]
fn auto_loses_nothing_with_the_device() {
    let name = "simulated_gpu::failures::auto_loses_nothing_with_the_device";
    let fault = (
        "CUDA_SIM_FAULT",
        "cuLaunchKernel:2=CUDA_ERROR_LAUNCH_FAILED!",
    );
    if on_simulator(name, &[fault]) {
        auto_makes_good("lost");
    }
}

#[test]
fn auto_makes_again_what_it_cannot_bring_back() {
    let name = "simulated_gpu::failures::auto_makes_again_what_it_cannot_bring_back";
    let fault = (
        "CUDA_SIM_FAULT",
        "cuMemcpyDtoHAsync_v2:1=CUDA_ERROR_ECC_UNCORRECTABLE!",
    );
    if on_simulator(name, &[fault]) {
        auto_makes_good("again on the CPU");
    }
}

#[test]
fn an_unknown_error_loses_the_device() {
    let name = "simulated_gpu::failures::an_unknown_error_loses_the_device";
    let fault = (
        "CUDA_SIM_FAULT",
        "cuStreamSynchronize:2=CUDA_ERROR_UNKNOWN!",
    );
    if !on_simulator(name, &[fault]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let first = compute(&engine);
    assert!(matches!(kind(first), DeviceErrorKind::Lost(_)));
}

#[test]
fn a_driver_older_than_the_kernels_says_so() {
    let name = "simulated_gpu::failures::a_driver_older_than_the_kernels_says_so";
    if !on_simulator(name, &[("CUDA_SIM_DRIVER_VERSION", "9.0")]) {
        return;
    }
    let kind = kind(compute(&Engine::cuda(0).expect("a device")));
    match kind {
        DeviceErrorKind::Unsupported(why) => assert!(why.contains("older"), "{why}"),
        other => panic!("{other:?}"),
    }
    auto_makes_good("older");
}

#[test]
fn a_driver_that_does_not_start_is_warned_of() {
    let name = "simulated_gpu::failures::a_driver_that_does_not_start_is_warned_of";
    let fault = ("CUDA_SIM_FAULT", "cuInit:*=CUDA_ERROR_OPERATING_SYSTEM");
    if !on_simulator(name, &[fault]) {
        return;
    }
    let opened = Engine::cuda(0).map(|_| Vec::new());
    assert!(matches!(kind(opened), DeviceErrorKind::DriverUnusable(_)));
    auto_makes_good("does not start");
}

/// A chain of signed operations of `auto`, whose device fails as the settings say.
fn signs_are_made_good(name: &str, settings: &[(&str, &str)]) {
    if on_simulator(name, settings) {
        let engine = auto();
        check_chain(&engine);
        assert!(!engine.warnings().is_empty());
    }
}

#[test]
fn signs_that_are_lost_with_the_device_are_computed_again() {
    let name = "simulated_gpu::failures::signs_that_are_lost_with_the_device_are_computed_again";
    let fault = "cuMemcpyDtoHAsync_v2:1=CUDA_ERROR_ECC_UNCORRECTABLE!";
    signs_are_made_good(name, &[("CUDA_SIM_FAULT", fault)]);
}

#[test]
fn signed_sums_that_do_not_fit_are_computed_in_pieces() {
    let name = "simulated_gpu::failures::signed_sums_that_do_not_fit_are_computed_in_pieces";
    // Two magnitudes and their signs are there, and then what adds signs up: the sum is next, and once more when
    // memory that is kept is freed.
    let fault = "cuMemAlloc_v2:7=2; cuMemAlloc_v2:8=2";
    signs_are_made_good(name, &[("CUDA_SIM_FAULT", fault)]);
}

#[test]
fn memory_that_is_kept_is_freed_where_there_is_no_other() {
    let name = "simulated_gpu::failures::memory_that_is_kept_is_freed_where_there_is_no_other";
    let fault = "cuMemAlloc_v2:7=CUDA_ERROR_OUT_OF_MEMORY";
    if on_simulator(name, &[("CUDA_SIM_FAULT", fault)]) {
        let engine = auto();
        check_chain(&engine);
        assert!(engine.warnings().is_empty());
    }
}
