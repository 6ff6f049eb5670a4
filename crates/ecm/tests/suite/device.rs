//! Both stages on the simulated GPU, through the driver and under all checks of the simulator, beside the
//! CPU's.
#![cfg(feature = "cuda")]

use bigint_host::{BackEnd, BigUint, Engine};
use bigint_testing::simulator::on_simulator;
use bigint_testing::sweep;
use ecm::{Bounds, Continuation, Curve, Ecm, Family, Outcome, Point, Stage1, Stage2, scalar};

/// An odd number of so many bits, which curves of small bounds do not divide.
fn modulus(bits: u64) -> BigUint {
    let n = ecm::evaluate("2^61-1").unwrap();
    if bits <= n.bits() {
        return ecm::evaluate("2^31-1").unwrap();
    }
    // The top bits are ones. Modulo small primes sums may fail on one machine that do not on the other one.
    let small = 1u32 << 17;
    let rests = (1u32..).map(|below| (BigUint::from(1u8) << (bits - 61)) - below);
    let mut rests = rests.filter(|rest| (2..small).all(|p| rest % p != BigUint::ZERO));
    n * rests.next().expect("one without small primes")
}

/// A device leaves the points of curves that the CPU leaves, and as many factors as this returns.
fn same_points(
    engine: &Engine,
    family: Family,
    n: &BigUint,
    (first, count): (u64, usize),
    scalar: &BigUint,
) -> usize {
    let device = Stage1::on_device(engine, n, family, first, count, scalar);
    let mut device = device.unwrap().unwrap();
    let mut cpu = Stage1::new(n, family, first, count, scalar).unwrap();
    let mut times = 1;
    while !device.is_done() {
        device.advance(times).unwrap();
        times += 5;
        // What a device left, it takes up.
        let (done, state) = (device.progress().0, device.state().unwrap());
        device.resume(done, &state).unwrap();
    }
    while !cpu.is_done() {
        cpu.advance(100).unwrap();
    }
    let (device, cpu) = (device.finish().unwrap(), cpu.finish().unwrap());
    assert_eq!(device, cpu, "{family:?} {} bits", n.bits());
    let is_factor = |outcome: &&Outcome| matches!(outcome, Outcome::Factor(_));
    cpu.iter().filter(is_factor).count()
}

#[test]
fn a_device_leaves_the_points_of_edwards_curves_that_the_cpu_leaves() {
    let name = "device::a_device_leaves_the_points_of_edwards_curves_that_the_cpu_leaves";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    // Windows of four digits and of five.
    let [short, long] = [scalar(20), scalar(320)];
    for (bits, first, count, scalar) in [
        (31, 2, 1, &long),
        // A block of threads, and one more.
        (122, 3, 130, &short),
        (123, u64::MAX - 40, 33, &short),
        (250, 1000, 5, &short),
        (251, 2, 5, &long),
        (378, 2, 3, &short),
        (506, 7, 2, &short),
        (507, 7, 3, &short),
        (634, 7, 2, &short),
        (635, 7, 3, &short),
        (762, 7, 2, &short),
        (763, 7, 3, &short),
        (1018, u64::from(u32::MAX) - 5, 3, &short),
        (1019, 7, 2, &short),
        // By two lanes and by four.
        (1530, 7, 65, &short),
        (1531, 7, 2, sweep(&short, &long)),
        (2042, 7, 3, &short),
        (2043, 7, 2, &short),
        (2298, 7, 33, &short),
        (2299, 7, 2, &short),
        (3066, 7, 2, &short),
        // By eight lanes and by sixteen.
        (3067, 7, 2, &short),
        (4602, 7, 17, &short),
        (4603, 7, 2, &short),
        (6138, 7, 2, &short),
        (6139, 7, 2, &short),
        (9210, 7, 9, &short),
    ] {
        same_points(
            &engine,
            Family::Edwards,
            &modulus(bits),
            (first, count),
            scalar,
        );
    }
    // A prime that stage 1 finds on some curves, and one on all, modulo which some are none.
    for (p, scalar) in [(10_007u32, &long), (13, &short)] {
        let n = ecm::evaluate("(2^89-1)*(2^107-1)").unwrap() * p;
        let found = same_points(&engine, Family::Edwards, &n, (2, 32), scalar);
        assert!((1..=32).contains(&found), "{p}: {found}");
    }
    // A table of four digits has 36 registers of 16 limbs.
    let room = |n: &BigUint| Stage1::room_on_device(&engine, n, Family::Edwards, &short).unwrap();
    let device = bigint_host::advanced::devices().unwrap().remove(0).unwrap();
    assert_eq!(room(&modulus(506)), device.memory_bytes / 2 / (36 * 64));
    assert_eq!(room(&modulus(9211)), usize::MAX);
    // There is no kernel for it, and no curve.
    for (bits, count) in [(9211, 1), (200, 0)] {
        let none = Stage1::on_device(&engine, &modulus(bits), Family::Edwards, 2, count, &short);
        assert!(none.unwrap().is_none());
    }
}

#[test]
fn a_device_leaves_the_points_that_the_cpu_leaves() {
    if !on_simulator(
        "device::a_device_leaves_the_points_that_the_cpu_leaves",
        &[],
    ) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    let scalar = scalar(20);
    for (bits, first, count) in [
        (31, 2, 1),
        // A block of threads, and one more.
        (122, 3, 130),
        (123, u64::from(u32::MAX) - 40, 33),
        (250, 1000, 5),
        (251, 2, 5),
        (378, 2, 9),
        (506, 7, 9),
        (507, 7, 2),
        (634, 7, 2),
        (635, 7, 3),
        (762, 7, 3),
        (763, 7, 2),
        (1018, u64::from(u32::MAX) - 5, 3),
        (1019, 7, 2),
        // By two lanes and by four.
        (1530, 7, 65),
        (1531, u64::from(u32::MAX) - 5, 3),
        (2042, 7, 5),
        (2043, u64::from(u32::MAX) - 5, 2),
        (2298, 7, 35),
        (2299, 7, 2),
        (3066, 7, 2),
        // By eight lanes and by sixteen.
        (3067, 7, 2),
        (4602, 7, 17),
        (4603, 7, 2),
        (6138, 7, 2),
        (6139, 7, 2),
        (9210, 7, 9),
    ] {
        same_points(
            &engine,
            Family::Param3,
            &modulus(bits),
            (first, count),
            &scalar,
        );
    }
    // There is no kernel for it.
    assert!(
        Stage1::on_device(&engine, &modulus(9211), Family::Param3, 2, 1, &scalar)
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_device_with_little_shared_memory_leaves_stage_1_of_long_numbers_to_the_cpu() {
    let name =
        "device::a_device_with_little_shared_memory_leaves_stage_1_of_long_numbers_to_the_cpu";
    if !on_simulator(name, &[("CUDA_SIM_DEVICES", "sm_75:256MiB")]) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    // Of 64 KiB a ladder of 20 limbs takes 60 and of 72 limbs, by four lanes, 54; of 24 and of 48, by two lanes, it takes
    // 72. Stage 2 takes none.
    for (bits, has_ladder) in [
        (634, true),
        (635, false),
        (1530, false),
        (2042, false),
        (2298, true),
    ] {
        let n = modulus(bits);
        let stage = Stage1::on_device(&engine, &n, Family::Param3, 2, 1, &scalar(20)).unwrap();
        assert_eq!(stage.is_some(), has_ladder, "{bits} bits");
        let curve = Curve::A(5u8.into());
        let x = 2u8.into();
        let stage = Stage2::on_device(&engine, &n, &[Point { curve, x }], 11, 40).unwrap();
        assert!(stage.is_some(), "{bits} bits");
    }
}

fn points_after_stage1(n: &BigUint, first: u64, count: usize, b1: u64) -> Vec<Point> {
    let mut stage = Stage1::new(n, Family::Param3, first, count, &scalar(b1)).unwrap();
    while !stage.is_done() {
        stage.advance(100).unwrap();
    }
    let outcomes = stage.finish().unwrap().into_iter();
    outcomes
        .filter_map(|outcome| match outcome {
            Outcome::Point(point) => Some(point),
            Outcome::Factor(_) => None,
        })
        .collect()
}

fn hits(mut stage: Stage2) -> Vec<Option<BigUint>> {
    while !stage.is_done() {
        stage.advance().unwrap();
    }
    stage.finish()
}

#[test]
fn two_devices_leave_the_points_that_the_cpu_leaves_and_find_what_it_finds() {
    let name = "device::two_devices_leave_the_points_that_the_cpu_leaves_and_find_what_it_finds";
    if !on_simulator(name, &[("CUDA_SIM_DEVICES", "2xsm_90:256MiB")]) {
        return;
    }
    let engine = Engine::all().unwrap();
    assert_eq!(engine.back_end(), BackEnd::Cuda("0,1".parse().unwrap()));
    let n = modulus(122);
    let mut device = Stage1::on_device(&engine, &n, Family::Param3, 5, 600, &scalar(20))
        .unwrap()
        .unwrap();
    while !device.is_done() {
        device.advance(7).unwrap();
    }
    let mut cpu = Stage1::new(&n, Family::Param3, 5, 600, &scalar(20)).unwrap();
    while !cpu.is_done() {
        cpu.advance(100).unwrap();
    }
    assert_eq!(device.finish().unwrap(), cpu.finish().unwrap());
    let n = ((BigUint::from(1u8) << 107u32) - 1u8) * 10_007u32;
    let points = points_after_stage1(&n, 10, 600, 11);
    let device = Stage2::on_device(&engine, &n, &points, 11, 500).unwrap();
    let cpu = Stage2::new(&n, &points, 11, 500).unwrap();
    assert_eq!(hits(device.unwrap()), hits(cpu));
}

#[test]
fn curves_that_suit_a_device_are_whole_waves_of_stage_1() {
    let name = "device::curves_that_suit_a_device_are_whole_waves_of_stage_1";
    if !on_simulator(name, &[("CUDA_SIM_DEVICES", "2xsm_90:256MiB")]) {
        return;
    }
    let [one, both] = [Engine::cuda(0).unwrap(), Engine::all().unwrap()];
    for (bits, family) in [
        (250, Family::Edwards),
        (1018, Family::Edwards),
        (1530, Family::Param3),
    ] {
        let curves = |engine| {
            Stage1::curves_on_device(engine, &modulus(bits), family)
                .unwrap()
                .unwrap()
        };
        let (of_one, of_both) = (curves(&one), curves(&both));
        assert!(of_one > 0 && of_one % 128 == 0, "{bits}: {of_one}");
        // Twice the waves of both stages.
        assert!(of_both % 256 == 0 && of_both >= of_one, "{bits}: {of_both}");
    }
    let none = Stage1::curves_on_device(&Engine::cpu(), &modulus(250), Family::Param3).unwrap();
    assert_eq!(none, None);
    let none = Stage1::curves_on_device(&one, &modulus(9211), Family::Param3).unwrap();
    assert_eq!(none, None);
}

#[test]
fn a_device_finds_in_stage_2_what_the_cpu_finds_for_each_curve() {
    if !on_simulator(
        "device::a_device_finds_in_stage_2_what_the_cpu_finds_for_each_curve",
        &[],
    ) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    let mut found = [0; 2];
    // Mersenne primes' exponents: other small primes than ours would be every curve's in stage 1.
    let cases: [(&[u32], u64, usize, u64, u64); 18] = [
        // Two blocks of threads.
        (&[107], 10, 130, 11, 500),
        (&[19], 5, 20, 31, 600),
        (&[107, 127], 100, 20, 211, 2000),
        (&[61, 89, 107], 100, 9, 31, 400),
        (&[89, 107, 127], 100, 12, 11, 60),
        (&[31, 61, 89, 107, 127], 100, 12, 11, 60),
        (&[31, 521], 100, 9, 11, 40),
        (&[127, 607], 100, 9, 11, 40),
        (&[89, 107, 127, 607], 100, 9, 11, 40),
        (&[127, 1279], 100, 9, 11, 40),
        (&[31, 521, 1279], 100, 9, 11, 40),
        (&[2203], 100, 9, 11, 40),
        (&[521, 2203], 100, 9, 11, 40),
        (&[4423], 100, 5, 11, 40),
        (&[1279, 4423], 100, 5, 11, 40),
        (&[4253, 4423], 100, 9, 11, 40),
        // One giant, and no prime.
        (&[107], 40, 3, 40, 41),
        (&[107], 40, 3, 13, 13),
    ];
    for (exponents, first, count, b1, b2) in cases {
        // A prime that many curves find.
        let mut n = BigUint::from(10_007u32);
        for exponent in exponents {
            n *= (BigUint::from(1u8) << *exponent) - 1u8;
        }
        let points = points_after_stage1(&n, first, count, b1);
        let device = Stage2::on_device(&engine, &n, &points, b1, b2).unwrap();
        let cpu = Stage2::new(&n, &points, b1, b2).unwrap();
        let (device, cpu) = (hits(device.unwrap()), hits(cpu));
        assert_eq!(device, cpu, "{exponents:?}");
        for hit in cpu {
            found[usize::from(hit.is_some())] += 1;
        }
    }
    assert!(found[0] > 10 && found[1] > 10, "{found:?}");
    // There is no kernel for it, and nothing to do.
    let n = modulus(9211);
    let points = points_after_stage1(&n, 2, 1, 11);
    let none = Stage2::on_device(&engine, &n, &points, 11, 100).unwrap();
    assert!(none.is_none());
    let none = Stage2::on_device(&engine, &modulus(200), &[], 11, 100).unwrap();
    assert!(none.is_none());
}

/// Polynomials find the same on the devices of each engine as on the CPU, and something.
fn by_polynomials(engines: &[&Engine], n: &BigUint, points: &[Point], (b1, b2): (u64, u64)) {
    let by = Continuation::Polynomials;
    let cpu = hits(Stage2::new_by(by, n, points, b1, b2).unwrap());
    assert!(cpu.iter().any(Option::is_some), "{n}");
    for engine in engines {
        let device = Stage2::on_device_by(by, engine, n, points, b1, b2).unwrap();
        assert_eq!(hits(device.unwrap()), cpu, "{n}");
    }
}

#[test]
fn polynomials_on_devices_find_what_they_find_on_the_cpu() {
    let name = "device::polynomials_on_devices_find_what_they_find_on_the_cpu";
    if !on_simulator(name, &[("CUDA_SIM_DEVICES", "2xsm_90:256MiB")]) {
        return;
    }
    let [one, both] = [Engine::cuda(0).unwrap(), Engine::all().unwrap()];
    // Slots of a number's whole limbs and of more, one part of multiples and two, a block and several.
    for (exponents, count, b1, b2) in [
        (&[61][..], 1, 11, 500),
        (&[107], 33, 11, 900),
        (&[107, 127], 7, 31, 20_000),
        (&[107, 607], 4, 11, 300),
        (&[4253, 4423], 2, 11, 100),
    ] {
        let mut n = BigUint::from(10_007u32);
        for exponent in exponents {
            n *= (BigUint::from(1u8) << *exponent) - 1u8;
        }
        let points = points_after_stage1(&n, 100, count, b1);
        by_polynomials(&[&one, &both], &n, &points, (b1, b2));
    }
    let long = modulus(9211);
    let points = points_after_stage1(&long, 2, 1, 11);
    let by = Continuation::Polynomials;
    let none = Stage2::on_device_by(by, &one, &long, &points, 11, 100).unwrap();
    assert!(none.is_none());
}

#[test]
fn a_small_device_takes_polynomials_of_points_one_group_after_another() {
    let name = "device::a_small_device_takes_polynomials_of_points_one_group_after_another";
    if !on_simulator(name, &[("CUDA_SIM_DEVICES", "sm_90:1MiB")]) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    let n = ecm::evaluate("10007*(2^89-1)*(2^107-1)*(2^127-1)").unwrap();
    let points = points_after_stage1(&n, 10, 100, 11);
    by_polynomials(&[&engine], &n, &points, (11, 500));
    let steps = |points: &[Point]| {
        let by = Continuation::Polynomials;
        let stage = Stage2::on_device_by(by, &engine, &n, points, 11, 500).unwrap();
        let (mut stage, mut steps) = (stage.unwrap(), 0);
        while !stage.is_done() {
            let (done, of) = stage.progress();
            assert!(done < of);
            stage.advance().unwrap();
            steps += 1;
        }
        steps
    };
    let groups = steps(&points) / steps(&points[..1]);
    assert!(groups > 2, "{groups}");
}

#[test]
fn a_small_device_takes_the_points_of_stage_2_one_part_after_another() {
    let name = "device::a_small_device_takes_the_points_of_stage_2_one_part_after_another";
    if !on_simulator(name, &[("CUDA_SIM_DEVICES", "sm_90:1MiB")]) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    // Some 300 numbers of 48 bytes for each point: half of the memory has room for 34 to 40 of 130 points.
    let n = ecm::evaluate("10007*(2^89-1)*(2^107-1)*(2^127-1)").unwrap();
    let points = points_after_stage1(&n, 10, 130, 11);
    let mut device = Stage2::on_device(&engine, &n, &points, 11, 500)
        .unwrap()
        .unwrap();
    // One block of giants for each of four parts.
    let mut times = 0;
    while !device.is_done() {
        let (done, of) = device.progress();
        assert!(done < of);
        device.advance().unwrap();
        times += 1;
    }
    assert!(times >= 4, "{times}");
    let cpu = Stage2::new(&n, &points, 11, 500).unwrap();
    assert_eq!(device.finish(), hits(cpu));
}

#[test]
fn a_device_finds_of_numbers_of_all_lengths_what_the_cpu_finds() {
    let name = "device::a_device_finds_of_numbers_of_all_lengths_what_the_cpu_finds";
    if !on_simulator(name, &[]) {
        return;
    }
    // Primes that some curves find, each a number's own, and cofactors up to 634 bits and above.
    let small = [
        1_000_003u32,
        1_000_033,
        1_000_037,
        1_000_039,
        1_000_081,
        10_007,
        10_009,
    ];
    let mersenne = |e: u32| (BigUint::from(1u8) << e) - 1u8;
    let cofactors = [
        mersenne(61),
        mersenne(89),
        mersenne(107),
        mersenne(127) * mersenne(61),
        mersenne(127) * mersenne(107) * mersenne(89),
        mersenne(521),
        mersenne(607),
        mersenne(607) * mersenne(89),
        BigUint::from(1_000_099u32),
        BigUint::from(67u8),
    ];
    let mut numbers: Vec<_> = cofactors
        .iter()
        .flat_map(|cofactor| small.map(|p| cofactor * p))
        .collect();
    numbers.extend((0u8..140).map(BigUint::from));
    // The greatest numbers of a length, and one bit more.
    for bits in [122u32, 250, 378, 506, 634] {
        numbers.extend([mersenne(bits), mersenne(bits + 1)]);
    }
    for (b1, b2, curves, sigma) in [
        (60, 900, 2, 7),
        (31, 31, 2, u32::MAX - 9),
        (250, 3000, 1, 3),
    ] {
        let bounds = Bounds { b1, b2, curves };
        let on_cpu = Ecm::new(&Engine::cpu(), bounds)
            .batch(&numbers, sigma)
            .unwrap();
        let ecm = Ecm::new(&Engine::cuda(0).unwrap(), bounds).with_devices_from(1);
        let found = ecm.batch(&numbers, sigma).unwrap();
        for ((n, found), on_cpu) in numbers.iter().zip(&found).zip(&on_cpu) {
            assert_eq!(found, on_cpu, "{n}");
        }
        let hits = found
            .iter()
            .zip(&numbers)
            .filter(|(hit, n)| hit.is_some() && n.bits() > 60);
        let hits = hits.count();
        assert!(hits > 10, "{hits}");
    }
}
