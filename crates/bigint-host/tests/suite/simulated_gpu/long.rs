//! Quotients, remainders and roots of numbers wider than the kernels hold, by Newton's reciprocals.

use bigint_host::{
    BackEnd, Batch, BatchGcd, BigUint, Engine, Form, Integers, Layout, Operation, Outcome,
    ProductTree, Tuning,
};
use bigint_testing::simulator::on_simulator;
use bigint_testing::sweep;
use num_integer::Integer;

/// The device, with kernels that divide by numbers of four limbs at most.
fn engine() -> Engine {
    let mut tuning = Tuning::default();
    tuning.div.device_max_width = 4;
    tuning.div.root_device_max_width = 4;
    tuning.div.newton_host_limbs = 0;
    Engine::cuda(0).expect("a device").with_tuning(tuning)
}

fn power(bits: usize) -> BigUint {
    BigUint::from(1u8) << bits
}

/// A number whose bits follow no rule, its top bit set.
fn mixed(limbs: usize) -> BigUint {
    let factor = BigUint::from(0x9e37_79b9_7f4a_7c15_u64);
    (factor.pow(limbs as u32 / 2 + 1) % power(32 * limbs)) | power(32 * limbs - 1)
}

/// Divisors of up to so many limbs: all ones, powers of two and their neighbours, with and without
/// zeros on top, and any.
fn divisors(limbs: usize) -> Vec<BigUint> {
    let tops = [32 * limbs - 1, 32 * limbs - 32, 16 * limbs + 7];
    let about = tops
        .into_iter()
        .flat_map(|bits| [power(bits) - 1u8, power(bits), power(bits) + 1u8]);
    let mut all: Vec<BigUint> = about.collect();
    all.push(power(32 * limbs) - 1u8);
    all.extend([0, 1, 13, 45].map(|bits| mixed(limbs) >> bits));
    all
}

/// Dividends of `limbs` limbs: all ones, and by each quotient remainders of 0, 1, half of `b` and
/// `b - 1`, about which a quotient that is off by one at either end is found.
fn dividends(limbs: usize, b: &BigUint) -> Vec<BigUint> {
    let most = power(32 * limbs) - 1u8;
    let quotient = &most / b;
    let quotients = [
        BigUint::from(1u8),
        &quotient - 1u8,
        &quotient >> 1,
        power(quotient.bits() as usize - 1),
        power(quotient.bits() as usize - 1) - 1u8,
    ];
    let of = |q: &BigUint| {
        let product = q * b;
        [
            &product + 0u8,
            &product + 1u8,
            &product + b / 2u8,
            &product + b - 1u8,
        ]
    };
    let mut all: Vec<BigUint> = quotients.iter().flat_map(of).collect();
    all.extend([most.clone(), b - 1u8, BigUint::ZERO]);
    all.retain(|a| *a <= most);
    all
}

fn batch(engine: &Engine, numbers: &[BigUint], limbs: usize) -> Batch {
    engine
        .batch_from_biguints_in(numbers, limbs, Layout::Contiguous)
        .expect("fits")
}

#[test]
fn quotients_wider_than_kernels_are_those_of_num_bigint() {
    let name = "simulated_gpu::long::quotients_wider_than_kernels_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = engine();
    for (n, m) in [(6, 5), (12, 5), (24, 12), (40, 13), (33, 33)] {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for divisor in divisors(m) {
            let of = dividends(n, &divisor);
            b.extend(of.iter().map(|_| divisor.clone()));
            a.extend(of);
        }
        let (x, y) = (batch(&engine, &a, n), batch(&engine, &b, m));
        let results = engine.div_rem(&x, &y).expect("no divisor is zero");
        let rest = engine.rem(&x, &y).expect("no divisor is zero");
        assert_eq!(rest.location(), BackEnd::Cuda(0.into()));
        let [q, r, rest] =
            [&results.0, &results.1, &rest].map(|batch| batch.to_biguints().expect("comes back"));
        for (i, (a, b)) in a.iter().zip(&b).enumerate() {
            assert_eq!((&q[i], &r[i]), (&(a / b), &(a % b)), "{a:x} by {b:x}");
            assert_eq!(rest[i], r[i], "{a:x} by {b:x}");
        }
    }
}

#[test]
fn roots_wider_than_kernels_are_those_of_num_bigint() {
    let name = "simulated_gpu::long::roots_wider_than_kernels_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = engine();
    for n in [5usize, 8, 17, 40] {
        // Squares and what is next to them, up to the most that a root leaves.
        let squares = divisors(n.div_ceil(2)).into_iter().flat_map(|x| {
            let square = &x * &x;
            [
                &square - 1u8,
                square.clone(),
                &square + 1u8,
                &square + 2u8 * &x,
                &square + x,
            ]
        });
        let mut given: Vec<BigUint> = squares.collect();
        given.extend(divisors(n));
        given.retain(|x| x.bits() <= 32 * n as u64);
        let (root, rest) = engine.isqrt(&batch(&engine, &given, n)).expect("a device");
        assert_eq!(root.location(), BackEnd::Cuda(0.into()));
        let [root, rest] = [root, rest].map(|batch| batch.to_biguints().expect("comes back"));
        for (i, x) in given.iter().enumerate() {
            assert_eq!(root[i], x.sqrt(), "{x:x}");
            assert_eq!(rest[i], x - &root[i] * &root[i], "{x:x}");
        }
    }
}

#[test]
fn roots_of_any_degree_wider_than_kernels_are_those_of_num_bigint() {
    let name =
        "simulated_gpu::long::roots_of_any_degree_wider_than_kernels_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = engine();
    for (k, w) in [(3u32, 9usize), (5, 12), (33, 9)] {
        let n = k as usize * w;
        let powers = divisors(w).into_iter().flat_map(|x| {
            let power = x.pow(k);
            [&power - 1u8, power.clone(), power + 1u8]
        });
        let mut given: Vec<BigUint> = powers.collect();
        given.extend(divisors(n));
        given.retain(|x| x.bits() <= 32 * n as u64);
        let degree = batch(&engine, &[k.into()], 1);
        let a = batch(&engine, &given, n);
        let (root, rest) = engine.iroot(&a, &degree).expect("a device");
        assert_eq!(root.location(), BackEnd::Cuda(0.into()));
        let [root, rest] = [root, rest].map(|batch| batch.to_biguints().expect("comes back"));
        for (i, x) in given.iter().enumerate() {
            assert_eq!(root[i], x.nth_root(k), "degree {k} of {x:x}");
            assert_eq!(rest[i], x - root[i].pow(k), "degree {k} of {x:x}");
        }
    }
}

/// From the tenth launch on all fail. Of a kernel that divides or takes roots there is one, which
/// answers; what is composed of products has more, and fails with them.
const TENTH: [(&str, &str); 1] = [("CUDA_SIM_FAULT", "cuLaunchKernel:10+=999")];

#[test]
fn a_quotient_wider_than_kernels_is_composed_of_products() {
    let name = "simulated_gpu::long::a_quotient_wider_than_kernels_is_composed_of_products";
    if !on_simulator(name, &TENTH) {
        return;
    }
    let engine = engine();
    let divided = |limbs| {
        let b = batch(&engine, &[mixed(limbs)], limbs);
        let quotient = engine.div(&batch(&engine, &[mixed(40)], 40), &b)?;
        quotient.to_biguints()
    };
    assert_eq!(divided(4).expect("one launch"), [mixed(40) / mixed(4)]);
    assert!(divided(20).is_err());
}

#[test]
fn quotients_that_may_be_marked_are_composed_of_products_too() {
    let name = "simulated_gpu::long::quotients_that_may_be_marked_are_composed_of_products_too";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = engine();
    let a = batch(&engine, &[mixed(24), mixed(23), power(700)], 24);
    let divided = |divisors: &[BigUint]| {
        let b = batch(&engine, divisors, 12);
        let form = Form::Overflowing;
        let outcome = engine.compute(Operation::DivRem, form, &[&a, &b]);
        let Outcome { results, flags } = outcome.expect("zeros are marked");
        let flags = flags.expect("they are wanted");
        let all = [&results[0], &results[1], &flags];
        all.map(|batch| batch.to_biguints().expect("comes back"))
    };
    let mut divisors = [mixed(12), power(383), mixed(9)];
    let [q, r, flags] = divided(&divisors);
    let all = a.to_biguints().expect("comes back");
    for (i, (a, b)) in all.iter().zip(&divisors).enumerate() {
        assert_eq!((&q[i], &r[i]), (&(a / b), &(a % b)), "{i}");
    }
    assert_eq!(flags, [0u8; 3].map(BigUint::from));
    divisors[1] = BigUint::ZERO;
    let [q, _, flags] = divided(&divisors);
    assert_eq!(flags, [0u8, 1, 0].map(BigUint::from));
    assert_eq!(
        (&q[0], &q[2]),
        (&(&all[0] / &divisors[0]), &(&all[2] / &divisors[2]))
    );
}

#[test]
fn a_root_wider_than_kernels_is_composed_of_products() {
    let name = "simulated_gpu::long::a_root_wider_than_kernels_is_composed_of_products";
    if !on_simulator(name, &TENTH) {
        return;
    }
    let engine = engine();
    let root = |limbs| {
        let (root, _) = engine.isqrt(&batch(&engine, &[mixed(limbs)], limbs))?;
        root.to_biguints()
    };
    assert_eq!(root(4).expect("one launch"), [mixed(4).sqrt()]);
    assert!(root(40).is_err());
}

/// The device, with kernels that divide by numbers of 64 limbs at most.
fn tuning_of_steps() -> Tuning {
    let mut tuning = Tuning::default();
    tuning.div.device_max_width = 64;
    tuning.div.root_device_max_width = 64;
    tuning.div.newton_host_limbs = 0;
    tuning
}

/// The device, with transforms modulo primes for all that is wide.
fn engine_of_transforms() -> Engine {
    let mut tuning = tuning_of_steps();
    tuning.mul.ntt.shortest = 0;
    tuning.mul.ntt.launch_nanoseconds = 0.0;
    tuning.mul.ntt.limb_nanoseconds = 1e-3;
    tuning.mul.ntt.square_limb_nanoseconds = 1e-3;
    Engine::cuda(0).expect("a device").with_tuning(tuning)
}

/// The device, with transforms over the complex numbers for all that is wide.
fn engine_of_complex_transforms() -> Engine {
    let mut tuning = tuning_of_steps();
    tuning.mul.grid.launch_nanoseconds = 0.0;
    tuning.mul.grid.digit_nanoseconds = 1e-6;
    tuning.mul.grid.far_digit_nanoseconds = 1e-6;
    Engine::cuda(0).expect("a device").with_tuning(tuning)
}

/// Quotients in two halves by reciprocals whose transforms wrap.
#[test]
fn quotients_and_roots_by_transforms_that_wrap_are_those_of_num_bigint() {
    let name =
        "simulated_gpu::long::quotients_and_roots_by_transforms_that_wrap_are_those_of_num_bigint";
    if on_simulator(name, &[]) {
        check_quotients_and_roots(engine_of_transforms(), 0);
    }
}

#[test]
fn quotients_and_roots_by_complex_transforms_that_wrap_are_those_of_num_bigint() {
    let name = "simulated_gpu::long::quotients_and_roots_by_complex_transforms_that_wrap_are_those_of_num_bigint";
    if on_simulator(name, &[]) {
        check_quotients_and_roots(engine_of_complex_transforms(), 1);
    }
}

/// Numbers so long that the shortest complex transform wraps in every product of the last step.
#[test]
fn quotients_and_roots_of_more_limbs_than_wrap_are_those_of_num_bigint() {
    let name =
        "simulated_gpu::long::quotients_and_roots_of_more_limbs_than_wrap_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    let mut tuning = Tuning::default();
    tuning.mul.grid.launch_nanoseconds = 0.0;
    let engine = Engine::cuda(0).expect("a device").with_tuning(tuning);
    engine.note_choices();
    let (n, m) = (17_300, 8_300);
    let (b, quotient) = (mixed(m), power(32 * (n - m)) - 1u8);
    let a = [
        mixed(n),
        &quotient * &b + &b - 1u8,
        &quotient * &b,
        power(16 * (n - m)) * &b - 1u8,
        &b - 1u8,
    ];
    let (x, y) = (
        batch(&engine, &a, n),
        batch(&engine, std::slice::from_ref(&b), m),
    );
    let (q, r) = engine.div_rem(&x, &y).expect("no divisor is zero");
    let [q, r] = [q, r].map(|batch| batch.to_biguints().expect("comes back"));
    for (i, a) in a.iter().enumerate() {
        assert_eq!((&q[i], &r[i]), (&(a / &b), &(a % &b)), "number {i}");
    }
    let a = [mixed(n), power(32 * n) - 1u8, &b * &b - 1u8];
    let (root, rest) = engine.isqrt(&batch(&engine, &a, n)).expect("a device");
    let [root, rest] = [root, rest].map(|batch| batch.to_biguints().expect("comes back"));
    for (i, a) in a.iter().enumerate() {
        let expected = a.sqrt();
        assert_eq!(
            (&root[i], &rest[i]),
            (&expected, &(a - &expected * &expected))
        );
    }
}

/// A quotient of a number of 2^18 bits by one of half as many, whose reciprocal the host finds; and one whose reciprocal a step makes
/// twice as long, for ten launches more: a middle product takes five with its sums, what multiplies by it one, a difference two.
#[test]
fn one_long_quotient_takes_few_launches() {
    let name = "simulated_gpu::long::one_long_quotient_takes_few_launches";
    let counts = concat!(env!("CARGO_TARGET_TMPDIR"), "/launches-of-a-quotient");
    if on_simulator(name, &[("CUDA_SIM_COUNTS", counts)]) {
        for host_limbs in [4096, 1100] {
            let mut tuning = Tuning::default();
            tuning.div.newton_host_limbs = host_limbs;
            let engine = Engine::cuda(0).expect("a device").with_tuning(tuning);
            let (a, b) = (mixed(8192), mixed(4096));
            let (x, y) = (
                batch(&engine, std::slice::from_ref(&a), 8192),
                batch(&engine, std::slice::from_ref(&b), 4096),
            );
            let (q, r) = engine.div_rem(&x, &y).expect("few launches");
            let [q, r] = [q, r].map(|batch| batch.to_biguints().expect("comes back"));
            assert_eq!((&q[0], &r[0]), (&(&a / &b), &(&a % &b)));
        }
        return;
    }
    let launches = std::fs::read_to_string(counts).expect("the counts");
    std::fs::remove_file(counts).expect("is there");
    let of = |kernel: &str| launches.matches(kernel).count();
    // Twice four products, and the middle product of the step.
    assert_eq!(of("mul_fft_grid_forth"), 9, "{launches}");
    assert_eq!(launches.lines().count(), 2 * 45 + 10, "{launches}");
}

/// By one kind of divisor for each pair of widths, `first` for the first; in sweeps by all.
fn check_quotients_and_roots(engine: Engine, first: usize) {
    for (i, (n, m)) in [(1900, 1000), (2048, 1024), (1700, 600)]
        .into_iter()
        .enumerate()
    {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let divisors = [power(32 * m) - 1u8, power(32 * m - 1), mixed(m)];
        let divisors = divisors.into_iter().cycle().skip(first + i);
        for divisor in divisors.take(sweep(1, 3)) {
            let quotient = power(32 * (n - m)) - 1u8;
            a.extend([&quotient * &divisor + &divisor - 1u8, &quotient * &divisor]);
            a.extend([power(32 * n) - 1u8, mixed(n)]);
            // A quotient whose upper half is 0, or is followed by a remainder of 0.
            let half = power(16 * (n - m));
            a.extend([&divisor - 1u8, divisor.clone(), &half * &divisor]);
            a.extend([&half * &divisor - 1u8, BigUint::ZERO]);
            b.extend(vec![divisor; 9]);
        }
        let (x, y) = (batch(&engine, &a, n), batch(&engine, &b, m));
        let results = engine.div_rem(&x, &y).expect("no divisor is zero");
        let [q, r] = [results.0, results.1].map(|batch| batch.to_biguints().expect("comes back"));
        for (i, (a, b)) in a.iter().zip(&b).enumerate() {
            assert_eq!((&q[i], &r[i]), (&(a / b), &(a % b)), "number {i}");
        }
    }
    let x = [mixed(2048), power(32 * 2048) - 1u8];
    let (root, rest) = engine.isqrt(&batch(&engine, &x, 2048)).expect("a device");
    let [root, rest] = [root, rest].map(|batch| batch.to_biguints().expect("comes back"));
    for (i, x) in x.iter().enumerate() {
        assert_eq!(
            (&root[i], &rest[i]),
            (&x.sqrt(), &(x - &root[i] * &root[i]))
        );
    }
}

/// Trees of sixteen leaves of 64 limbs: full ones, ones with so much room on top that middle products
/// serve all levels, and ones with so little that they serve the upper levels only.
#[test]
fn remainders_of_trees_by_transforms_that_wrap_are_those_of_num_bigint() {
    let name =
        "simulated_gpu::long::remainders_of_trees_by_transforms_that_wrap_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = engine_of_transforms();
    engine.note_choices();
    for (i, (room, wraps)) in [(0, false), (5, true), (31, true)].into_iter().enumerate() {
        let leaves: Vec<BigUint> = (0..16u32)
            .map(|i| match i {
                0 => power(2048 - room) - 1u8,
                1 => power(2047 - room) + 1u8,
                2 => power(2047 - room),
                _ => (mixed(64) >> room) - i,
            })
            .collect();
        let product: BigUint = leaves.iter().product();
        let list = |numbers: &[BigUint]| Integers::from_biguints(numbers).expect("memory");
        let tree = ProductTree::new(&engine, &list(&leaves)).expect("no leaf is zero");
        let cofactors: Vec<BigUint> = leaves.iter().map(|leaf| &product / leaf % leaf).collect();
        engine.noted_choices();
        let found = tree.cofactors().expect("a device");
        let noted = engine.noted_choices().join(" ");
        assert_eq!(noted.contains("transforms that wrap"), wraps, "{noted}");
        assert_eq!(found, list(&cofactors));
        let numbers = [
            &product >> 1,
            BigUint::ZERO,
            &product - 1u8,
            product.clone() * 3u8 / 7u8,
            &leaves[0] * &leaves[5] * &leaves[9] - 1u8,
        ];
        // Each of them by one tree; in sweeps all by each.
        let numbers = numbers.into_iter().cycle().skip(2 * i);
        for x in numbers.take(sweep(2, 5)) {
            let expected: Vec<BigUint> = leaves.iter().map(|leaf| &x % leaf).collect();
            let found = tree.remainders(&list(std::slice::from_ref(&x)));
            assert_eq!(found.expect("a device"), list(&expected), "{x:x}");
        }
    }
}

/// Trees of as many leaves as two powers of two together, full ones, of all ones, of about one length and of several, some of which
/// share factors.
#[test]
fn divisors_by_trees_that_keep_transforms_are_those_of_num_bigint() {
    let name =
        "simulated_gpu::long::divisors_by_trees_that_keep_transforms_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    for (engine, is_by_primes) in [
        (engine_of_transforms(), true),
        (engine_of_complex_transforms(), false),
    ] {
        engine.note_choices();
        for lengths in [[64; 12], [64, 3, 64, 64, 64, 7, 64, 64, 64, 64, 20, 64]] {
            let leaf = |(i, limbs): (usize, usize)| match i {
                0 | 3 => power(32 * limbs) - 1u8,
                1 => power(32 * limbs - 1),
                4 => (mixed(limbs) >> 9) / 35u8 * 35u8,
                _ => mixed(limbs) - i as u32,
            };
            let leaves: Vec<BigUint> = lengths.into_iter().enumerate().map(leaf).collect();
            let product: BigUint = leaves.iter().product();
            let divisors = leaves.iter().map(|leaf| (&product / leaf).gcd(leaf));
            let divisors: Vec<BigUint> = divisors.collect();
            let list = |numbers: &[BigUint]| Integers::from_biguints(numbers).expect("memory");
            let how = BatchGcd::new(&engine).with_products();
            let found = how.find(&list(&leaves), &Integers::new(), &|_| ());
            let found = found.expect("a device");
            assert_eq!(found.divisors, list(&divisors));
            assert_eq!(found.products, list(&[product]));
        }
        let noted = engine.noted_choices().join(" ");
        assert_eq!(
            noted.contains("two products added"),
            is_by_primes,
            "{noted}"
        );
        let are_pairs = noted.contains("two products that have transforms in common");
        assert_eq!(are_pairs, !is_by_primes, "{noted}");
    }
}
