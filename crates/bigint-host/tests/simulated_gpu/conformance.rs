//! Right answers, on devices that differ in everything but the answers.

use crate::lists::{Lengths, Random, check_list};
use crate::process::on_simulator;
use crate::signs::{check_chain, check_signs};
use bigint_host::{BackEnd, BigUint, Ceilings, Engine, Layout, Limb, Operation, Shape, devices};
use bigint_testing::Extent;
use bigint_testing::trial::weight;
use std::thread;

/// Runs the suite on the first device.
fn conforms(extent: Extent, seed: u64) {
    let engine = Engine::cuda(0).expect("a device");
    for operation in Operation::ALL {
        let extent = match extent {
            Extent::Cases(cases) => Extent::Cases(cases / weight(operation)),
            Extent::EveryPairing => extent,
        };
        bigint_testing::run(&engine, &[operation], extent, seed, &mut |_, _| {})
            .unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[test]
fn every_kernel_agrees_with_num_bigint_at_every_width() {
    let name = "conformance::every_kernel_agrees_with_num_bigint_at_every_width";
    if on_simulator(name, &[]) {
        conforms(Extent::EveryPairing, 1);
    }
}

#[test]
fn signed_numbers_on_a_device_are_those_of_num_bigint() {
    let name = "conformance::signed_numbers_on_a_device_are_those_of_num_bigint";
    if on_simulator(name, &[]) {
        check_signs(&Engine::cuda(0).expect("a device"));
    }
}

#[test]
fn lists_of_computations_on_a_device_are_those_of_num_bigint() {
    let name = "conformance::lists_of_computations_on_a_device_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let operations = [
        Operation::Add,
        Operation::Sub,
        Operation::Mul,
        Operation::Rem,
        Operation::Min,
        Operation::Compare,
    ];
    for (seed, lengths) in [
        (1, Lengths::Any(2048)),
        (2, Lengths::Normal(600)),
        (3, Lengths::Giant(4000)),
        (4, Lengths::Equal(500)),
    ] {
        check_list(&engine, &operations, lengths, (100, 300), &mut Random(seed));
    }
}

/// Two limbs' worth of results may come back, magnitudes and signs, and nothing before.
#[test]
fn signs_stay_on_the_device() {
    let name = "conformance::signs_stay_on_the_device";
    let third = "cuMemcpyDtoHAsync_v2:3+=CUDA_ERROR_LAUNCH_FAILED";
    if on_simulator(name, &[("CUDA_SIM_FAULT", third)]) {
        check_chain(&Engine::cuda(0).expect("a device"));
    }
}

#[test]
fn the_order_of_what_is_left_open_does_not_matter() {
    let name = "conformance::the_order_of_what_is_left_open_does_not_matter";
    if on_simulator(name, &[("CUDA_SIM_SCHEDULE", "adversarial")]) {
        conforms(Extent::Cases(1000), 2);
    }
}

#[test]
fn a_driver_without_memory_pools_serves_the_oldest_device() {
    let name = "conformance::a_driver_without_memory_pools_serves_the_oldest_device";
    let oldest = [
        ("CUDA_SIM_DRIVER_VERSION", "11.1"),
        ("CUDA_SIM_DEVICES", "sm_75:1GiB"),
    ];
    if on_simulator(name, &oldest) {
        conforms(Extent::Cases(1000), 3);
    }
}

#[test]
fn a_product_of_a_batch_by_itself_is_launched_as_a_square() {
    let name = "conformance::a_product_of_a_batch_by_itself_is_launched_as_a_square";
    let counts = concat!(env!("CARGO_TARGET_TMPDIR"), "/launches-of-squares");
    if on_simulator(name, &[("CUDA_SIM_COUNTS", counts)]) {
        let engine = Engine::cuda(0).expect("a device");
        let numbers: Vec<BigUint> = (1..40).map(|i: u32| BigUint::from(i).pow(385)).collect();
        let squares: Vec<BigUint> = numbers.iter().map(|x| x * x).collect();
        let a = engine.batch_from_biguints(&numbers).expect("fits");
        assert_eq!(a.width(), 64);
        for square in [
            engine.mul(&a, &a),
            engine.square(&a),
            engine.eval(&(&a * &a)),
        ] {
            let square = square.and_then(|square| square.to_biguints());
            assert_eq!(square.expect("fits"), squares);
        }
        return;
    }
    let launches = std::fs::read_to_string(counts).expect("the counts");
    std::fs::remove_file(counts).expect("is there");
    let of = |kernel: &str| launches.matches(kernel).count();
    let squared = of(r#""kernel":"square_school_warp8_contiguous""#);
    assert_eq!((squared, of(r#""kernel":"mul"#)), (3, 0), "{launches}");
}

/// More than fills all of the pinned memory that large copies go by way of, and a rest.
#[test]
fn large_batches_come_and_go_whole() {
    let name = "conformance::large_batches_come_and_go_whole";
    if !on_simulator(name, &[("CUDA_SIM_CHECKS", "none")]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    for count in [2 << 20, (17 << 20) + 12_345] {
        let limb = |i: usize| (i as Limb).wrapping_mul(0x9e37_79b9);
        let shape = Shape::new(count, 1, Layout::Contiguous);
        let batch = engine.batch_from_limbs((0..count).map(limb).collect(), shape);
        let batch = batch.expect("fits");
        assert_eq!(batch.location(), BackEnd::Cuda(0.into()));
        let rows = batch.rows().expect("comes back");
        assert_eq!(rows.len(), count);
        assert_eq!(rows.iter().zip(0..).position(|(x, i)| *x != limb(i)), None);
    }
}

#[test]
fn batches_move_between_devices_of_unequal_kind() {
    let name = "conformance::batches_move_between_devices_of_unequal_kind";
    if !on_simulator(name, &[("CUDA_SIM_DEVICES", "sm_90:1GiB,sm_80:64MiB")]) {
        return;
    }
    let seen = devices().expect("a driver");
    let memory: Vec<_> = seen
        .iter()
        .map(|device| device.memory_bytes >> 20)
        .collect();
    assert_eq!(memory, [1024, 64]);

    let (first, second) = (
        Engine::cuda(0).expect("a device"),
        Engine::cuda(1).expect("another"),
    );
    let numbers: Vec<BigUint> = (1_u32..40).map(|i| BigUint::from(i).pow(40)).collect();
    let a = first.batch_from_biguints(&numbers).expect("fits");
    assert_eq!(a.location(), BackEnd::Cuda(0.into()));
    let square = second.mul(&a, &a).expect("fits");
    assert_eq!(square.location(), BackEnd::Cuda(1.into()));
    let sum = first
        .add(&square, &a)
        .expect("fits")
        .to_biguints()
        .expect("both devices work");
    for (number, sum) in numbers.iter().zip(sum) {
        assert_eq!(sum, number * number + number);
    }
}

#[test]
fn sums_and_products_of_a_batch_are_right_on_a_device() {
    let name = "conformance::sums_and_products_of_a_batch_are_right_on_a_device";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let numbers: Vec<BigUint> = (1_u32..38).map(|i| BigUint::from(i).pow(19)).collect();
    for layout in Layout::ALL {
        let a = engine
            .batch_from_biguints_in(&numbers, 4, layout)
            .expect("fits");
        let sum = engine.sum(&a).expect("a device that works");
        let product = engine.product(&a).expect("a device that works");
        assert_eq!(product.location(), BackEnd::Cuda(0.into()));
        let found = [sum, product].map(|batch| batch.to_biguints().expect("one number"));
        let expected = [numbers.iter().sum(), numbers.iter().product()];
        assert_eq!(found, expected.map(|number: BigUint| vec![number]));
        let sums = engine.prefix_sum(&a).expect("a device that works");
        let sums = sums.to_biguints().expect("as many");
        assert_eq!(sums[36], numbers.iter().sum());
        assert_eq!(sums[5], numbers[..6].iter().sum());
    }
}

#[test]
fn threads_share_a_device() {
    if !on_simulator("conformance::threads_share_a_device", &[]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let compute = |thread: u32| {
        // A second engine, too: engines of one device share its context.
        let other = Engine::cuda(0).expect("a device");
        for layout in Layout::ALL {
            let numbers: Vec<BigUint> = (1..34)
                .map(|i: u32| BigUint::from(i * 100 + thread).pow(9))
                .collect();
            let a = engine
                .batch_from_biguints_in(&numbers, 8, layout)
                .expect("fits");
            let square = other.mul(&a, &a).expect("fits");
            let difference = engine.sub(&square, &a).expect("not negative");
            for (number, found) in numbers.iter().zip(difference.to_biguints().expect("works")) {
                assert_eq!(found, number * number - number);
            }
        }
    };
    thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || compute(thread));
        }
    });
}

#[test]
fn a_device_tells_its_ceilings_and_the_cpu_has_none() {
    let name = "conformance::a_device_tells_its_ceilings_and_the_cpu_has_none";
    if !on_simulator(name, &[("CUDA_SIM_CHECKS", "none")]) {
        return;
    }
    assert_eq!(Engine::cpu().ceilings(1 << 20).expect("no device"), None);
    let engine = Engine::cuda(0).expect("a device");
    let ceilings = engine.ceilings(8 << 20).expect("a device that works");
    let ceilings = ceilings.expect("a device");
    let Ceilings {
        copy_bytes_per_second: copy,
        multiply_adds_per_second: most,
        to_device_bytes_per_second: to_device,
        to_host_bytes_per_second: to_host,
    } = ceilings;
    assert!(to_device > 0.0 && to_host > 0.0, "{ceilings:?}");
    assert!(copy > 0.0 && copy < 1e15, "{ceilings:?}");
    assert!(most > 0.0 && most < 1e15, "{ceilings:?}");
}
