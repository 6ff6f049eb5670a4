//! Kernels of one's own, those of `examples`, launched by an engine on the simulated GPU under all checks of the
//! simulator.
#![cfg(feature = "cuda")]

use bigint_host::{BigUint, Engine, Error};
use bigint_testing::simulator::on_simulator;

#[test]
fn a_module_says_what_is_wrong_with_a_launch() {
    if !on_simulator("modules::a_module_says_what_is_wrong_with_a_launch", &[]) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    let error = engine.module("this is no PTX").err().unwrap();
    assert!(matches!(error, Error::Device(_)), "{error}");
    let ptx = include_str!("../../../../examples/fused-kernel/multiply_subtract.ptx");
    let module = engine.module(ptx).unwrap().unwrap();
    let batch = |numbers: &[u32]| {
        let numbers: Vec<_> = numbers.iter().copied().map(BigUint::from).collect();
        engine.batch_from_biguints(&numbers).unwrap()
    };
    let (a, b) = (batch(&[5, 7, 11]), batch(&[3]));
    // One number stands for all, and results are operands.
    let product = module
        .launch("multiply_subtract", &[&a, &b, &b], &[2], &[])
        .unwrap();
    let again = module
        .launch("multiply_subtract", &[&a, &b, &product[0]], &[2], &[])
        .unwrap();
    assert_eq!(
        product[0].to_biguints().unwrap(),
        [12u32, 18, 30].map(BigUint::from)
    );
    assert_eq!(
        again[0].to_biguints().unwrap(),
        [3u32, 3, 3].map(BigUint::from)
    );
    let error = module.launch("nothing", &[&a], &[1], &[]).err().unwrap();
    assert!(error.to_string().contains("no such kernel"), "{error}");
    let two = batch(&[1, 2]);
    let error = module
        .launch("multiply_subtract", &[&a, &two], &[1], &[])
        .err()
        .unwrap();
    assert!(
        matches!(error, Error::CountMismatch { a: 3, b: 2 }),
        "{error}"
    );
    assert!(Engine::cpu().module(ptx).unwrap().is_none());
}

#[test]
fn a_kernel_in_cuda_cpp_takes_batches_and_scalars() {
    // Its PTX is as new as the nvcc that made it.
    let driver = ("CUDA_SIM_DRIVER_VERSION", "13.0");
    if !on_simulator(
        "modules::a_kernel_in_cuda_cpp_takes_batches_and_scalars",
        &[driver],
    ) {
        return;
    }
    let ptx = include_str!("../../../../examples/cuda-kernel/hamming.ptx");
    // Numbers of up to 320 bits, and 300 of them: three blocks.
    let number = |i: u32| BigUint::from(0x9e37_79b9u32 | 1 << 31).pow(10) - BigUint::from(i).pow(7);
    let a: Vec<_> = (0..300).map(number).collect();
    let b: Vec<_> = (500..800).map(number).collect();
    for engine in [Engine::cuda(0).unwrap(), Engine::cpu()] {
        let kernel = engine.kernel(ptx, "hamming", |work| {
            let bits = work.a.iter().zip(work.b).map(|(a, b)| (a ^ b).count_ones());
            work.r[0] = bits.sum::<u32>().min(work.scalars[0]);
        });
        let kernel = kernel.unwrap();
        let batch = |numbers: &[BigUint]| engine.batch_from_biguints(numbers).unwrap();
        for (b, most) in [(&b[..], 1000), (&b[..], 150), (&b[..1], 1000)] {
            let made = kernel
                .launch(&[&batch(&a), &batch(b)], &[1], &[most])
                .unwrap();
            let pairs = a.iter().zip(b.iter().cycle());
            let expected: Vec<_> = pairs
                .map(|(a, b)| BigUint::from((a ^ b).count_ones().min(most.into())))
                .collect();
            assert_eq!(made[0].to_biguints().unwrap(), expected);
        }
    }
}

#[test]
fn points_are_doubled_by_a_launch_with_two_results() {
    if !on_simulator(
        "modules::points_are_doubled_by_a_launch_with_two_results",
        &[],
    ) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    let ptx = include_str!("../../../../examples/field-kernels/field_kernels.ptx");
    let module = engine.module(ptx).unwrap().unwrap();
    let number = |hex: &str| BigUint::parse_bytes(hex.as_bytes(), 16).unwrap();
    let batch = |number: &BigUint| {
        engine
            .batch_from_biguints(std::slice::from_ref(number))
            .unwrap()
    };
    let p = number("fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f");
    let x = number("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798");
    let y = number("483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8");
    let double = |[x, y]: [BigUint; 2]| {
        let slope = &x * &x * 3u8 * (&y * 2u8).modinv(&p).unwrap() % &p;
        let u = (&slope * &slope + &p + &p - &x - &x) % &p;
        let v = (slope * (x + &p - &u) + &p - y) % &p;
        [u, v]
    };
    let operands = [batch(&x), batch(&y), batch(&BigUint::from(3u8))];
    let operands: Vec<_> = operands.iter().collect();
    let made = module
        .launch("double_points", &operands, &[8, 8], &[])
        .unwrap();
    let expected = double(double(double([x, y])));
    assert_eq!(made[0].to_biguints().unwrap(), [expected[0].clone()]);
    assert_eq!(made[1].to_biguints().unwrap(), [expected[1].clone()]);
}

#[test]
fn lanes_share_numbers_of_8192_bits() {
    if !on_simulator("modules::lanes_share_numbers_of_8192_bits", &[]) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    let ptx = include_str!("../../../../examples/field-kernels/field_kernels.ptx");
    let module = engine.module(ptx).unwrap().unwrap().with_lanes(32);
    // Nine numbers: three blocks, of which the last has one.
    let c: BigUint = (BigUint::from(1u8) << 8192u32) - 1u8;
    let a: Vec<BigUint> = (1..10u32).map(|i| &c / BigUint::from(2 * i + 1)).collect();
    let b: BigUint = BigUint::from(5u8) << 8000u32;
    let batch = |numbers: &[BigUint]| engine.batch_from_biguints(numbers).unwrap();
    let operands = [
        batch(&a),
        batch(std::slice::from_ref(&b)),
        batch(std::slice::from_ref(&c)),
    ];
    let operands: Vec<_> = operands.iter().collect();
    let made = module
        .launch("long_values", &operands, &[256], &[])
        .unwrap();
    let half: BigUint = (&c + 1u8) >> 1u8;
    let expected = a.iter().map(|a| {
        let sum = a * &b + a + &c - &b;
        &sum * &sum * &half % &c
    });
    assert_eq!(made[0].to_biguints().unwrap(), expected.collect::<Vec<_>>());
}
