//! Right answers, on devices that differ in everything but the answers.

use crate::checks::lists::{Lengths, Random, check_list};
use crate::checks::rows::check_operations;
use crate::checks::signs::{check_chain, check_signs};
use bigint_host::{
    Algorithm, BackEnd, Batch, BigUint, Ceilings, Engine, Error, Layout, Level, Limb, Operation,
    Options, Shape, Tuning, devices,
};
use bigint_testing::simulator::on_simulator;
use bigint_testing::trial::weight;
use bigint_testing::{Extent, sweep, sweep_all};
use std::thread;

/// Runs the suite on the first device.
fn conforms(extent: Extent, seed: u64) {
    let engine = Engine::cuda(0).expect("a device");
    for operation in Operation::ALL {
        let extent = match extent {
            Extent::Cases(cases) => Extent::Cases(cases / weight(operation)),
            Extent::EveryPairing | Extent::EveryWidth => extent,
        };
        bigint_testing::run(&engine, &[operation], extent, seed, &mut |_, _| {})
            .unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[test]
fn every_kernel_agrees_with_num_bigint_at_every_width() {
    let name = "simulated_gpu::conformance::every_kernel_agrees_with_num_bigint_at_every_width";
    if on_simulator(name, &[]) {
        let [short, long] = [200, 1000].map(Extent::Cases);
        conforms(sweep_all(short, long, Extent::EveryPairing), 1);
    }
}

/// As `compute-sanitizer`'s initcheck on a GPU; every test here runs so.
#[test]
fn nothing_that_nobody_wrote_is_copied_to_the_host() {
    let name = "simulated_gpu::conformance::nothing_that_nobody_wrote_is_copied_to_the_host";
    if on_simulator(name, &[("CUDA_SIM_CHECKS", "all,copies")]) {
        conforms(Extent::Cases(40), 5);
    }
}

#[test]
fn signed_numbers_on_a_device_are_those_of_num_bigint() {
    let name = "simulated_gpu::conformance::signed_numbers_on_a_device_are_those_of_num_bigint";
    if on_simulator(name, &[]) {
        check_signs(&Engine::cuda(0).expect("a device"));
    }
}

#[test]
fn every_operation_of_any_lengths_on_a_device_is_that_of_num_bigint() {
    let name = "simulated_gpu::conformance::every_operation_of_any_lengths_on_a_device_is_that_of_num_bigint";
    if on_simulator(name, &[]) {
        check_operations(
            &Engine::cuda(0).expect("a device"),
            12,
            0xa54f_f53a_5f1d_36f1,
        );
    }
}

#[test]
fn lists_of_computations_on_a_device_are_those_of_num_bigint() {
    let name =
        "simulated_gpu::conformance::lists_of_computations_on_a_device_are_those_of_num_bigint";
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
        // Few numbers, which go to the device once; of some widths not all of them fit.
        check_list(&engine, &operations, lengths, (10, 300), &mut Random(seed));
    }
    // Results that another thread fetches.
    let mut tuning = Tuning::default();
    tuning.devices.fetched_apart_limbs = 0;
    tuning.devices.segments_limbs = 0;
    let apart = engine.with_tuning(tuning);
    check_list(
        &apart,
        &operations,
        Lengths::Any(2048),
        (100, 300),
        &mut Random(1),
    );
    // Several rows of segments, and sums that are too wide for one.
    for lengths in [Lengths::Normal(40_000), Lengths::Any(1 << 18)] {
        check_list(&apart, &operations[..2], lengths, (30, 120), &mut Random(5));
    }
}

/// One batch may come back, the products.
#[test]
fn numbers_of_many_computations_are_gathered_on_the_device() {
    let name =
        "simulated_gpu::conformance::numbers_of_many_computations_are_gathered_on_the_device";
    if on_simulator(name, &[("CUDA_SIM_FAULT", "cuMemcpyDtoHAsync_v2:2+=999")]) {
        let engine = Engine::cuda(0).expect("a device");
        let lengths = Lengths::Normal(600);
        check_list(
            &engine,
            &[Operation::Mul],
            lengths,
            (10, 300),
            &mut Random(6),
        );
    }
}

/// Two limbs' worth of results may come back, magnitudes and signs, and nothing before.
#[test]
fn signs_stay_on_the_device() {
    let name = "simulated_gpu::conformance::signs_stay_on_the_device";
    let third = "cuMemcpyDtoHAsync_v2:3+=CUDA_ERROR_LAUNCH_FAILED";
    if on_simulator(name, &[("CUDA_SIM_FAULT", third)]) {
        check_chain(&Engine::cuda(0).expect("a device"));
    }
}

#[test]
fn the_order_of_what_is_left_open_does_not_matter() {
    let name = "simulated_gpu::conformance::the_order_of_what_is_left_open_does_not_matter";
    if on_simulator(name, &[("CUDA_SIM_SCHEDULE", "adversarial")]) {
        conforms(Extent::Cases(sweep(60, 300)), 2);
    }
}

#[test]
fn a_driver_without_memory_pools_serves_the_oldest_device() {
    let name = "simulated_gpu::conformance::a_driver_without_memory_pools_serves_the_oldest_device";
    let oldest = [
        ("CUDA_SIM_DRIVER_VERSION", "11.1"),
        ("CUDA_SIM_DEVICES", "sm_75:1GiB"),
    ];
    if on_simulator(name, &oldest) {
        conforms(Extent::Cases(sweep(200, 1000)), 3);
    }
}

#[test]
fn a_product_of_a_batch_by_itself_is_launched_as_a_square() {
    let name = "simulated_gpu::conformance::a_product_of_a_batch_by_itself_is_launched_as_a_square";
    let counts = concat!(env!("CARGO_TARGET_TMPDIR"), "/launches-of-squares");
    if on_simulator(name, &[("CUDA_SIM_COUNTS", counts)]) {
        let engine = Engine::cuda(0).expect("a device");
        let numbers: Vec<BigUint> = (1..40).map(|i: u32| BigUint::from(i).pow(385)).collect();
        let squares: Vec<BigUint> = numbers.iter().map(|x| x * x).collect();
        let a = engine.batch_from_biguints(&numbers).expect("fits");
        assert_eq!(a.width(), 64);
        let wide = engine.batch_from_biguints_in(&numbers[..2], 300, Layout::Contiguous);
        let wide = engine.square(&wide.expect("fits")).expect("a device");
        assert_eq!(wide.to_biguints().expect("comes back"), squares[..2]);
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
    let squared = of(r#""kernel":"square_school_warp_interleaved""#);
    let products = (of(r#""kernel":"mul_school"#), of(r#""kernel":"mul_fft"#));
    assert_eq!((squared, products), (3, (0, 1)), "{launches}");
}

/// Products and squares on the whole device: exact, cut, of unequal widths, and of one number
/// with all others.
#[test]
fn products_on_the_whole_device_are_right() {
    if !on_simulator(
        "simulated_gpu::conformance::products_on_the_whole_device_are_right",
        &[],
    ) {
        return;
    }
    let (a, b) = (numbers(3, 300, 4), numbers(3, 190, 5));
    let one = BigUint::from(1u8);
    let algorithms = [Algorithm::Auto, Algorithm::Fft, Algorithm::Ntt];
    let all = algorithms.map(|algorithm| Layout::ALL.map(|layout| (algorithm, layout)));
    for (algorithm, layout) in all.into_iter().flatten() {
        let options = Options {
            algorithm,
            level: Some(Level::Grid),
            lanes: None,
        };
        let engine = Engine::cuda(0).expect("a device").using(options);
        let make = |numbers: &[BigUint], width| {
            let batch = engine.batch_from_biguints_in(numbers, width, layout);
            batch.expect("fits")
        };
        let (x, y, z) = (make(&a, 300), make(&b, 190), make(&b[1..2], 190));
        let found = |batch: Result<Batch, Error>| {
            let batch = batch.expect("a device");
            assert_eq!(batch.location(), BackEnd::Cuda(0.into()));
            batch.to_biguints().expect("comes back")
        };
        let products = found(engine.mul(&x, &y));
        let by_one = found(engine.mul(&x, &z));
        let cut = found(engine.wrapping_mul(&x, &y));
        let (squares, same) = (found(engine.square(&x)), found(engine.mul(&x, &x)));
        for i in 0..3 {
            assert_eq!(products[i], &a[i] * &b[i]);
            assert_eq!(by_one[i], &a[i] * &b[1]);
            assert_eq!(cut[i], &a[i] * &b[i] % (&one << (32 * 300)));
            assert_eq!(squares[i], &a[i] * &a[i]);
            assert_eq!(same[i], squares[i]);
        }
    }
}

/// Of one number for all and of as many, by either operand, twice: the second time by what is
/// kept, which takes fewer launches.
#[test]
fn products_by_prepared_numbers_are_right_and_take_fewer_launches() {
    let name = "simulated_gpu::conformance::products_by_prepared_numbers_are_right_and_take_fewer_launches";
    let counts = concat!(
        env!("CARGO_TARGET_TMPDIR"),
        "/launches-of-prepared-products"
    );
    if on_simulator(name, &[("CUDA_SIM_COUNTS", counts)]) {
        let engine = Engine::cuda(0).expect("a device").using(Algorithm::Ntt);
        let (a, b) = (numbers(3, 300, 6), numbers(3, 190, 7));
        let batch = |numbers: &[BigUint]| engine.batch_from_biguints(numbers).expect("fits");
        let (x, y, z) = (batch(&a), batch(&b), batch(&b[1..2]));
        engine.keep_transform(&y);
        engine.keep_transform(&z);
        for _ in 0..2 {
            let found = |batch: Result<Batch, Error>| {
                batch
                    .and_then(|batch| batch.to_biguints())
                    .expect("a device")
            };
            let products = found(engine.mul(&x, &y));
            let turned = found(engine.mul(&z, &x));
            let cut = found(engine.wrapping_mul(&y, &z));
            for i in 0..3 {
                assert_eq!(products[i], &a[i] * &b[i]);
                assert_eq!(turned[i], &a[i] * &b[1]);
                let whole = &b[i] * &b[1];
                assert_eq!(cut[i], whole % (BigUint::from(1u8) << (32 * 190)));
            }
        }
        return;
    }
    let launches = std::fs::read_to_string(counts).expect("the counts");
    std::fs::remove_file(counts).expect("is there");
    let of = |kernel: &str| launches.matches(kernel).count();
    let forth = of(r#""kernel":"mul_ntt_grid_forth_"#);
    let rows = of(r#""kernel":"mul_ntt_grid_rows_"#);
    // Six products, of one length, of which two are of `y` and `z`, and the transforms of these.
    assert_eq!((forth, rows), (6, 8), "{launches}");
}

/// Numbers of `width` limbs: ones, and others.
fn numbers(count: usize, width: usize, mut seed: u32) -> Vec<BigUint> {
    let mut limb = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed.rotate_left(13)
    };
    let mut numbers = vec![BigUint::new(vec![u32::MAX; width])];
    numbers.extend((1..count).map(|_| BigUint::new((0..width).map(|_| limb()).collect())));
    numbers
}

/// Digits of a bit more than is proved exact for all operands, among which there are the worst ones.
#[test]
fn products_of_the_worst_digits_are_computed_again() {
    let name = "simulated_gpu::conformance::products_of_the_worst_digits_are_computed_again";
    let counts = concat!(env!("CARGO_TARGET_TMPDIR"), "/launches-of-daring-products");
    if on_simulator(name, &[("CUDA_SIM_COUNTS", counts)]) {
        let mut tuning = Tuning::default();
        // So much that a shorter transform makes up for launches that do nothing.
        tuning.mul.grid.digit_nanoseconds = 10.0;
        tuning.mul.grid.square_digit_nanoseconds = 10.0;
        let options = Options {
            algorithm: Algorithm::Fft,
            level: Some(Level::Grid),
            ..Options::default()
        };
        let engine = Engine::cuda(0).expect("a device").with_tuning(tuning);
        let engine = engine.using(options);
        let width = 18_432;
        let mut a = numbers(3, width, 8);
        a[1] = BigUint::new(vec![0x7fff_7fff; width]);
        let b = [a[2].clone(), a[1].clone(), a[0].clone()];
        let batch = |numbers: &[BigUint]| engine.batch_from_biguints(numbers).expect("fits");
        let (x, y) = (batch(&a), batch(&b));
        let found = |batch: Result<Batch, Error>| {
            batch
                .and_then(|batch| batch.to_biguints())
                .expect("a device")
        };
        for (i, product) in found(engine.mul(&x, &y)).iter().enumerate() {
            assert!(*product == &a[i] * &b[i], "number {i}");
        }
        return;
    }
    let launches = std::fs::read_to_string(counts).expect("the counts");
    std::fs::remove_file(counts).expect("is there");
    for kernel in ["forth", "rows_128", "back", "sums_contiguous"] {
        let again = format!(r#""kernel":"mul_fft_grid_{kernel}_again""#);
        assert!(launches.contains(&again), "{launches}");
    }
}

/// By the transform's kernels, and right.
#[test]
fn high_halves_and_sums_with_wide_products_are_made_of_the_whole_product() {
    let name = "simulated_gpu::conformance::high_halves_and_sums_with_wide_products_are_made_of_the_whole_product";
    let counts = concat!(env!("CARGO_TARGET_TMPDIR"), "/launches-of-whole-products");
    if on_simulator(name, &[("CUDA_SIM_COUNTS", counts)]) {
        let engine = Engine::cuda(0).expect("a device");
        let (a, b, c) = (numbers(2, 300, 1), numbers(2, 260, 2), numbers(2, 310, 3));
        for layout in Layout::ALL {
            let make = |numbers: &[BigUint], width| {
                engine
                    .batch_from_biguints_in(numbers, width, layout)
                    .expect("fits")
            };
            let batches = [make(&a, 300), make(&b, 260), make(&c, 310)];
            let high = engine.mul_high(&batches[0], &batches[1]).expect("a device");
            let sum = engine
                .mul_add(&batches[0], &batches[1], &batches[2])
                .expect("a device");
            let cut = engine.wrapping_mul_add(&batches[0], &batches[1], &batches[2]);
            let cut = cut.expect("a device").to_biguints().expect("comes back");
            let (high, sum) = (high.to_biguints(), sum.to_biguints());
            let (high, sum) = (high.expect("comes back"), sum.expect("comes back"));
            for i in 0..2 {
                let product = &a[i] * &b[i];
                assert_eq!(high[i], &product >> (32 * 300));
                assert_eq!(sum[i], &product + &c[i]);
                assert_eq!(
                    cut[i],
                    (&product + &c[i]) % (BigUint::from(1u8) << (32 * 310))
                );
            }
        }
        return;
    }
    let launches = std::fs::read_to_string(counts).expect("the counts");
    std::fs::remove_file(counts).expect("is there");
    let of = |kernel: &str| launches.matches(kernel).count();
    let (fft, columns) = (of(r#""kernel":"mul_fft_block"#), of("comba"));
    assert_eq!((fft, columns), (6, 0), "{launches}");
}

/// More than fills all of the pinned memory that large copies go by way of, and a rest.
#[test]
fn large_batches_come_and_go_whole() {
    let name = "simulated_gpu::conformance::large_batches_come_and_go_whole";
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
    let name = "simulated_gpu::conformance::batches_move_between_devices_of_unequal_kind";
    if !on_simulator(name, &[("CUDA_SIM_DEVICES", "sm_90:1GiB,sm_80:64MiB")]) {
        return;
    }
    let seen = devices().expect("a driver");
    let memory: Vec<_> = seen
        .iter()
        .map(|device| device.as_ref().expect("a device").memory_bytes >> 20)
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
    let name = "simulated_gpu::conformance::sums_and_products_of_a_batch_are_right_on_a_device";
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
    // The last product is wider than the first one's kernel holds.
    let wide: Vec<BigUint> = (5_u32..8).map(|i| BigUint::from(i).pow(24_000)).collect();
    let a = engine.batch_from_biguints(&wide).expect("fits");
    let product = engine.product(&a).expect("a device that works");
    let found = product.to_biguints().expect("one number");
    assert_eq!(found, [wide.iter().product::<BigUint>()]);
}

#[test]
fn threads_share_a_device() {
    if !on_simulator("simulated_gpu::conformance::threads_share_a_device", &[]) {
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
    let name = "simulated_gpu::conformance::a_device_tells_its_ceilings_and_the_cpu_has_none";
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
        byte_multiply_adds_per_second: of_bytes,
        to_device_bytes_per_second: to_device,
        to_host_bytes_per_second: to_host,
    } = ceilings;
    assert!(to_device > 0.0 && to_host > 0.0, "{ceilings:?}");
    assert!(copy > 0.0 && copy < 1e15, "{ceilings:?}");
    assert!(most > 0.0 && most < 1e15, "{ceilings:?}");
    assert!(of_bytes > 0.0 && of_bytes < 1e16, "{ceilings:?}");
}
