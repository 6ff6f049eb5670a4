//! A user's kernels among copies to the device and to the host, which wait for no more than they need.

use crate::simulated_gpu::several::sharing;
use bigint_host::{BigUint, Engine};
use bigint_testing::simulator::on_simulator;

/// `r = a b - c`.
const PTX: &str = include_str!("../../../../../examples/fused-kernel/multiply_subtract.ptx");

/// Launches, each of numbers that come to the device while earlier ones may be running, and of what the one before has made. What
/// one has made comes back after later ones were launched.
fn check(engine: &Engine) {
    let module = engine.module(PTX).unwrap().unwrap();
    let numbers = |salt: u32| (0..40u32).map(move |i| BigUint::from(10_000 * salt + i).pow(9));
    let batch = |salt| {
        engine
            .batch_from_biguints(&numbers(salt).collect::<Vec<_>>())
            .unwrap()
    };
    let mut last = batch(0);
    let mut expected: Vec<_> = numbers(0).collect();
    let mut made = Vec::new();
    for salt in 1..7 {
        let next = module
            .launch(
                "multiply_subtract",
                &[&batch(salt), &batch(salt + 1), &last],
                &[12],
                &[],
            )
            .unwrap();
        let products = numbers(salt).zip(numbers(salt + 1));
        expected = products
            .zip(&expected)
            .map(|((a, b), c)| a * b - c)
            .collect();
        last = next.into_iter().next().unwrap();
        made.push((last.clone(), expected.clone()));
        if let [.., (before, expected), _, _] = &made[..] {
            assert_eq!(before.to_biguints().unwrap(), *expected);
        }
    }
    for (made, expected) in made {
        assert_eq!(made.to_biguints().unwrap(), expected);
    }
    module.wait().unwrap();
}

#[test]
fn launches_among_copies_are_right() {
    let name = "simulated_gpu::modules::launches_among_copies_are_right";
    if on_simulator(name, &[]) {
        check(&Engine::cuda(0).unwrap());
    }
}

#[test]
fn launches_among_copies_are_right_in_any_order() {
    let name = "simulated_gpu::modules::launches_among_copies_are_right_in_any_order";
    let devices = ("CUDA_SIM_DEVICES", "2xsm_90:256MiB");
    if on_simulator(name, &[("CUDA_SIM_SCHEDULE", "adversarial"), devices]) {
        check(&Engine::cuda(0).unwrap());
        check(&sharing(&Engine::all().unwrap()));
    }
}

#[test]
fn a_result_comes_back_though_a_later_launch_fails() {
    let name = "simulated_gpu::modules::a_result_comes_back_though_a_later_launch_fails";
    let fault = "cuLaunchKernel:2+=CUDA_ERROR_INVALID_VALUE";
    if !on_simulator(name, &[("CUDA_SIM_FAULT", fault)]) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    let module = engine.module(PTX).unwrap().unwrap();
    let batch = |number: u32| {
        engine
            .batch_from_biguints(&[BigUint::from(number)])
            .unwrap()
    };
    let operands = [batch(5), batch(7), batch(2)];
    let launch = || {
        let [a, b, c] = &operands;
        module.launch("multiply_subtract", &[a, b, c], &[1], &[])
    };
    let made = launch().unwrap();
    assert!(launch().is_err());
    assert_eq!(made[0].to_biguints().unwrap(), [BigUint::from(33u32)]);
}
