//! A user's kernels among copies to the device and to the host, which wait for no more than they need.

use crate::simulated_gpu::several::sharing;
use bigint_host::advanced::{Kernel, Work};
use bigint_host::{BigUint, Engine, Error, Layout};
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

/// The kernel of [`PTX`], and what it computes on the CPU.
fn kernel(engine: &Engine) -> Result<Kernel, Error> {
    engine.kernel(PTX, "multiply_subtract", |work: Work<'_>| {
        let [a, b, c] = [work.a, work.b, work.c].map(BigUint::from_slice);
        assert!(work.r.iter().all(|&limb| limb == 0) && work.s.is_empty());
        let difference = (a * b - c).to_u32_digits();
        work.r[..difference.len()].copy_from_slice(&difference);
    })
}

/// Two launches of [`kernel`], of which the second takes the first one's results; every one is what num-bigint says.
fn check_kernel(engine: &Engine) {
    let kernel = kernel(engine).unwrap();
    for count in [1, 2, 127, 300u32] {
        let numbers = |salt: u32| -> Vec<_> {
            let number = |i| BigUint::from(10_000 * salt + i + 1).pow(9);
            (0..count).map(number).collect()
        };
        let all = [numbers(1), numbers(2)];
        let [a, b] = [&all[0], &all[1]].map(|all| engine.batch_from_biguints(all).unwrap());
        let c = engine.batch([5u32]).unwrap();
        let launch = |operands: &[_], width| {
            let made = kernel.launch(operands, &[width], &[]).unwrap();
            <[_; 1]>::try_from(made).unwrap_or_else(|_| unreachable!("one result"))
        };
        let [first] = launch(&[&a, &b, &c], 11);
        let [second] = launch(&[&first, &a, &b], 20);
        assert_eq!((second.len(), second.width()), (count as usize, 20));
        let expected = all[0].iter().zip(&all[1]);
        let expected = expected.map(|(a, b)| (a * b - 5u8) * a - b);
        let found = second.to_biguints().unwrap();
        assert_eq!(
            found,
            expected.collect::<Vec<_>>(),
            "{:?}",
            engine.warnings()
        );
    }
}

#[test]
fn a_kernel_computes_the_same_with_devices_and_without() {
    let name = "simulated_gpu::modules::a_kernel_computes_the_same_with_devices_and_without";
    check_kernel(&Engine::cpu());
    if !on_simulator(name, &[("CUDA_SIM_DEVICES", "2xsm_90:256MiB")]) {
        return;
    }
    let engines = [
        Engine::cuda(0).unwrap(),
        sharing(&Engine::all().unwrap()),
        Engine::auto(),
    ];
    for engine in engines {
        check_kernel(&engine);
        assert_eq!(engine.warnings(), [""; 0]);
        // Devices have what they make.
        let a = engine.batch([7u32, 8]).unwrap();
        let made = kernel(&engine)
            .unwrap()
            .launch(&[&a; 3], &[1], &[])
            .unwrap();
        assert_ne!(made[0].location(), Engine::cpu().back_end());
    }
}

/// A closure takes what the driver refuses, where launches fail and where results do not come back.
fn check_failing(name: &str, fault: &str) {
    if !on_simulator(name, &[("CUDA_SIM_FAULT", fault)]) {
        return;
    }
    for engine in [Engine::auto(), Engine::all().unwrap()] {
        check_kernel(&engine);
        let warnings = engine.warnings().join("\n");
        assert!(warnings.contains("on the CPU"), "{warnings}");
    }
}

#[test]
fn a_closure_takes_a_kernel_that_a_driver_refuses() {
    let name = "simulated_gpu::modules::a_closure_takes_a_kernel_that_a_driver_refuses";
    check_failing(name, "cuModuleLoadDataEx:*=CUDA_ERROR_INVALID_PTX");
}

#[test]
fn a_closure_takes_launches_that_fail() {
    let name = "simulated_gpu::modules::a_closure_takes_launches_that_fail";
    check_failing(name, "cuLaunchKernel:1+=719!");
}

#[test]
fn a_closure_makes_results_again_that_do_not_come_back() {
    let name = "simulated_gpu::modules::a_closure_makes_results_again_that_do_not_come_back";
    check_failing(name, "cuMemcpyDtoHAsync_v2:1+=999");
}

#[test]
fn an_engine_bound_to_its_device_returns_a_kernels_error() {
    let name = "simulated_gpu::modules::an_engine_bound_to_its_device_returns_a_kernels_error";
    if !on_simulator(name, &[("CUDA_SIM_FAULT", "cuLaunchKernel:1+=719!")]) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    let a = engine.batch([7u32, 8]).unwrap();
    let made = kernel(&engine).unwrap().launch(&[&a; 3], &[1], &[]);
    let told = made.and_then(|made| made[0].to_biguints());
    assert!(matches!(told, Err(Error::Device(_))), "{told:?}");
}

#[test]
fn a_closure_has_numbers_of_every_layout_and_scalars() {
    let engine = Engine::cpu();
    let numbers: Vec<_> = (0..100u32).map(|i| BigUint::from(i + 3).pow(13)).collect();
    let a = engine
        .batch_from_biguints_in(&numbers, 3, Layout::Interleaved)
        .unwrap();
    // Two results, of a kernel that is never launched.
    let kernel = engine.kernel(".visible .entry none() { ret; }", "none", |work| {
        assert!(work.b.is_empty() && work.c.is_empty());
        work.r[0] = work.a[0] ^ work.scalars[0];
        work.s.copy_from_slice(&work.a[1..]);
    });
    let made = kernel.unwrap().launch(&[&a], &[1, 2], &[0xdead]).unwrap();
    let lowest = numbers
        .iter()
        .map(|a| BigUint::from(a.iter_u32_digits().next().unwrap() ^ 0xdead));
    assert_eq!(made[0].to_biguints().unwrap(), lowest.collect::<Vec<_>>());
    let above = numbers.iter().map(|a| a >> 32u32);
    assert_eq!(made[1].to_biguints().unwrap(), above.collect::<Vec<_>>());
    let two = engine.batch([1u32, 2]).unwrap();
    let kernel = super::modules::kernel(&engine).unwrap();
    let told = kernel.launch(&[&a, &two], &[1], &[]);
    assert!(matches!(told, Err(Error::CountMismatch { a: 100, b: 2 })));
}

#[test]
#[should_panic(expected = "the PTX has the kernel")]
fn a_kernel_that_is_not_in_the_ptx_is_told_without_a_device() {
    let _ = Engine::cpu().kernel(PTX, "multiply_add", |_| ());
}

#[test]
fn kernels_are_in_modules_where_a_driver_has_no_libraries() {
    let name = "simulated_gpu::modules::kernels_are_in_modules_where_a_driver_has_no_libraries";
    let fault = "cuLibraryLoadData:*=CUDA_ERROR_NOT_SUPPORTED";
    if !on_simulator(name, &[("CUDA_SIM_FAULT", fault)]) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    let numbers: Vec<_> = (1..100u32).map(|i| BigUint::from(i).pow(20)).collect();
    let batch = engine.batch_from_biguints(&numbers).unwrap();
    let product = engine.mul(&batch, &batch).unwrap().to_biguints().unwrap();
    let expected: Vec<_> = numbers.iter().map(|number| number * number).collect();
    assert_eq!(product, expected);
}
