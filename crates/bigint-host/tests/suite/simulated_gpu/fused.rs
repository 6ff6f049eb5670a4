//! Expressions on a device: one launch for what fits, and the same answers when it fails.

use crate::checks::trees::{check_shapes, check_trees};
use crate::simulated_gpu::at_once::auto;
use bigint_host::{BigUint, Engine};
use bigint_testing::simulator::on_simulator;

#[test]
fn expressions_on_a_device_are_those_of_num_bigint() {
    let name = "simulated_gpu::fused::expressions_on_a_device_are_those_of_num_bigint";
    if on_simulator(name, &[]) {
        let engine = Engine::cuda(0).expect("a device");
        check_trees(&engine, 40);
        check_shapes(&engine);
    }
}

/// `a + a + a + 1` of `auto`, whose device fails as the settings say.
fn is_made_good(name: &str, settings: &[(&str, &str)]) {
    if !on_simulator(name, settings) {
        return;
    }
    let engine = auto();
    let numbers: Vec<BigUint> = (0..100u32).map(|i| BigUint::from(i).pow(50)).collect();
    let a = engine.batch_from_biguints(&numbers).unwrap();
    let sum = engine.eval(&(&a + &a + &a + 1u64)).unwrap();
    let expected: Vec<BigUint> = numbers.iter().map(|n| n * 3u32 + 1u32).collect();
    assert_eq!(sum.to_biguints().unwrap(), expected);
    assert!(!engine.warnings().is_empty());
}

#[test]
fn a_launch_that_fails_is_made_good_on_the_cpu() {
    let name = "simulated_gpu::fused::a_launch_that_fails_is_made_good_on_the_cpu";
    is_made_good(
        name,
        &[(
            "CUDA_SIM_FAULT",
            "cuLaunchKernel:1=CUDA_ERROR_LAUNCH_FAILED!",
        )],
    );
}

#[test]
fn a_result_that_is_lost_is_computed_again() {
    let name = "simulated_gpu::fused::a_result_that_is_lost_is_computed_again";
    is_made_good(
        name,
        &[(
            "CUDA_SIM_FAULT",
            "cuMemcpyDtoHAsync_v2:1=CUDA_ERROR_ECC_UNCORRECTABLE!",
        )],
    );
}
