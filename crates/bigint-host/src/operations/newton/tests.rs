//! Tests of quotients and reciprocals by Newton's steps.

use super::*;
use crate::engine::rehearsal::{self, Done, counts, meets};
use crate::{BigUint, Tuning};
use bigint_core::WIDEST_COUNTED;
use bigint_testing::simulator::on_simulator;

/// An engine whose kernels hold numbers of four limbs.
pub(crate) fn engine() -> Engine {
    let mut tuning = Tuning::default();
    tuning.div.device_max_width = 4;
    tuning.div.root_device_max_width = 4;
    tuning.div.newton_host_limbs = 0;
    Engine::cpu().with_tuning(tuning)
}

fn ones(limbs: usize) -> BigUint {
    (BigUint::from(1u8) << (32 * limbs)) - 1u8
}

/// Numbers of up to so many limbs: about powers of two, all ones, and anything between.
pub(crate) fn numbers(limbs: usize) -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let top = &one << (32 * limbs - 1);
    let mixed = ones(limbs) / 7u8 * 5u8;
    let mut all = vec![
        ones(limbs),
        top.clone(),
        &top + 1u8,
        &top - 1u8,
        mixed.clone(),
        ones(limbs) / 3u8,
    ];
    all.extend([
        &mixed >> 13,
        &mixed >> (16 * limbs),
        ones(limbs) - (ones(limbs.div_ceil(2)) - 5u8),
    ]);
    all.push((&one << (32 * limbs - 32)) + 1u8);
    all
}

#[test]
fn quotients_and_what_they_leave_are_those_of_num_bigint() {
    let engine = engine();
    for (n, m) in [
        (5, 5),
        (6, 5),
        (9, 9),
        (12, 5),
        (20, 9),
        (21, 10),
        (40, 20),
        (41, 20),
        (33, 31),
        (90, 6),
        (70, 33),
    ] {
        let mut pairs: Vec<(BigUint, BigUint)> = Vec::new();
        for b in numbers(m) {
            for mut a in numbers(n) {
                pairs.push((a.clone(), b.clone()));
                // Remainders of 0 and of the divisor less 1.
                a = (a / &b) * &b;
                pairs.push((a.clone(), b.clone()));
                pairs.push((if a == BigUint::ZERO { a } else { a - 1u8 }, b.clone()));
            }
        }
        let batch = |of: fn(&(BigUint, BigUint)) -> &BigUint, width| {
            let numbers: Vec<BigUint> = pairs.iter().map(|pair| of(pair).clone()).collect();
            engine
                .batch_from_biguints_in(&numbers, width, Layout::Contiguous)
                .unwrap()
        };
        let (a, b) = (batch(|pair| &pair.0, n), batch(|pair| &pair.1, m));
        let [q, r] = engine
            .newton_quotient(&a, &b, Wanted::First)
            .unwrap()
            .unwrap();
        let (q, r) = (q.to_biguints().unwrap(), r.to_biguints().unwrap());
        for (i, (a, b)) in pairs.iter().enumerate() {
            assert_eq!((&q[i], &r[i]), (&(a / b), &(a % b)), "{a:x} by {b:x}");
        }
        // One divisor for all, and numbers of one length, of which none is shifted by limbs.
        let one = engine.slice(&b, 0..1).unwrap();
        let [q, r] = engine
            .newton_quotient(&a, &one, Wanted::First)
            .unwrap()
            .unwrap();
        let (q, r) = (q.to_biguints().unwrap(), r.to_biguints().unwrap());
        for (i, (a, _)) in pairs.iter().enumerate() {
            let b = &pairs[0].1;
            assert_eq!((&q[i], &r[i]), (&(a / b), &(a % b)), "{a:x} by {b:x}");
        }
    }
}

#[test]
fn a_reciprocal_is_too_great_by_few_of_its_last_place() {
    for m in [1usize, 3, 5, 9, 20, 40] {
        for k in [1, 3, 4, 5, 6, 7, 8, 9, 17, 40, 77] {
            check_reciprocals(&engine(), m, k);
        }
    }
}

/// A simulated device that multiplies by transforms modulo primes wherever it can.
pub(crate) fn by_primes() -> Engine {
    let mut tuning = engine().tuning().clone();
    tuning.mul.grid.launch_nanoseconds = 0.0;
    tuning.mul.grid.digit_nanoseconds = 1e6;
    tuning.mul.grid.far_digit_nanoseconds = 1e6;
    tuning.mul.ntt.shortest = 0;
    tuning.mul.ntt.launch_nanoseconds = 0.0;
    tuning.mul.ntt.limb_nanoseconds = 1e-6;
    Engine::cuda(0).expect("a device").with_tuning(tuning)
}

#[test]
fn what_is_left_is_told_by_products_modulo_a_power_less_one() {
    let name =
        "operations::newton::tests::what_is_left_is_told_by_products_modulo_a_power_less_one";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = by_primes();
    let batch = |numbers: &[BigUint], width| {
        let batch = engine.batch_from_biguints_in(numbers, width, Layout::Contiguous);
        batch.unwrap()
    };
    let (n, m) = (900, 400);
    let divisors = numbers(m);
    let mut dividends = numbers(n);
    for (i, b) in divisors.iter().enumerate() {
        // Remainders of 0 and of the divisor less 1, and quotients of ones.
        let a = (&dividends[i] / b) * b;
        dividends[i] = match i % 3 {
            0 => a,
            1 if a > BigUint::ZERO => a - 1u8,
            _ => b * ones(n - m) + (b - 1u8),
        };
    }
    let (a, b) = (batch(&dividends, n), batch(&divisors, m));
    let wrapped = engine.product_that_wraps([&b, &engine.limbs_from(&a, m, n - m).unwrap()], m + 1);
    let (_, middle) = wrapped.unwrap().expect("a transform wraps");
    assert_eq!(middle.sign_of_above(), Operation::Add);
    let [q, r] = engine
        .newton_quotient(&a, &b, Wanted::First)
        .unwrap()
        .unwrap();
    let (q, r) = (q.to_biguints().unwrap(), r.to_biguints().unwrap());
    for (i, (a, b)) in dividends.iter().zip(&divisors).enumerate() {
        assert_eq!((&q[i], &r[i]), (&(a / b), &(a % b)), "{a:x} by {b:x}");
    }
}

/// By kernels for short products, and by transforms, which wrap, over the complex numbers and modulo primes.
#[test]
fn steps_on_a_device_make_reciprocals_and_inverse_roots() {
    let name = "operations::newton::tests::steps_on_a_device_make_reciprocals_and_inverse_roots";
    if !on_simulator(name, &[]) {
        return;
    }
    let on_device = |engine: Engine| {
        let device = Engine::cuda(0).expect("a device");
        device.with_tuning(engine.tuning().clone())
    };
    let by_kernels = on_device(engine());
    for (m, k) in [(3, 9), (9, 77), (40, 20), (40, 41)] {
        check_reciprocals(&by_kernels, m, k);
        root::tests::check_inverse_roots(&by_kernels, 2 * m, k);
    }
    let mut tuning = engine().tuning().clone();
    tuning.mul.grid.launch_nanoseconds = 0.0;
    tuning.mul.grid.digit_nanoseconds = 1e-6;
    let complex = on_device(Engine::cpu().with_tuning(tuning));
    for engine in [complex, by_primes()] {
        check_reciprocals(&engine, 600, 510);
        root::tests::check_inverse_roots(&engine, 300, 510);
    }
}

fn check_reciprocals(engine: &Engine, m: usize, k: usize) {
    let top = BigUint::from(1u8) << (32 * m - 1);
    let given: Vec<BigUint> = numbers(m).into_iter().map(|d| d | &top).collect();
    let d = engine
        .batch_from_biguints_in(&given, m, Layout::Contiguous)
        .unwrap();
    let found = engine.reciprocal(&d, k).unwrap().to_biguints().unwrap();
    assert_eq!(found.len(), given.len());
    for (x, d) in found.iter().zip(&given) {
        let power = BigUint::from(1u8) << (32 * (k + m));
        let least = x * d >= &power + d;
        let most = x * d <= &power + 16u8 * d;
        assert!(least && most, "{d:x} to {k} limbs");
    }
}

/// What quotients and roots of one number rehearse is what they launch.
#[test]
fn rehearsals_meet_the_kernels_of_quotients_and_roots() {
    let name = "operations::newton::tests::rehearsals_meet_the_kernels_of_quotients_and_roots";
    let Some(counts) = counts(name) else {
        return;
    };
    let engine = Engine::cuda(0).expect("the simulated device");
    let number =
        |limbs: u32| BigUint::new((1..=limbs).map(|i| i.wrapping_mul(0x9e37_79b9)).collect());
    let (a, b) = (number(10_000), number(5000));
    let [of_a, of_b] =
        [&a, &b].map(|x| engine.batch_from_biguints(std::slice::from_ref(x)).unwrap());
    let shapes = [of_a.shape(), of_b.shape()];
    let rehearse = |engine: &Engine| {
        let operands = stand_ins(engine, &shapes).unwrap();
        let steps = engine.newton_quotient(&operands[0], &operands[1], Wanted::Nothing);
        assert!(steps.expect("a rehearsal goes through").is_some());
    };
    let perform = || {
        engine
            .newton_quotient(&of_a, &of_b, Wanted::Nothing)
            .unwrap()
    };
    // A remainder is corrected there, which happens hardly ever.
    let [q, r] = meets(&engine, (&counts, 2), rehearse, perform).expect("quotients");
    assert_eq!(q.to_biguints().unwrap(), [&a / &b]);
    assert_eq!(r.to_biguints().unwrap(), [&a % &b]);
}

/// One number alone of so many limbs, its top bit set, which a device has.
fn on_device(engine: &Engine, width: usize) -> Batch {
    let top = engine.of_limbs(&[1 << 31]).expect("memory");
    let top = engine.add_in(1, &top, &engine.of_limbs(&[0]).expect("memory"));
    let top = top.expect("a device");
    engine.lifted(&top, width - 1, width).expect("a device")
}

/// What a device does for a quotient of a number of so many bits by one of half as many, and for a root: launches, pieces of memory,
/// copies to it, and copies from it, for each of which the host waits. As rehearsed, by remainders that are corrected.
#[test]
fn one_quotient_and_one_root_take_no_more_than_counted() {
    let name = "operations::newton::tests::one_quotient_and_one_root_take_no_more_than_counted";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let counts = |work: fn(&Engine, &Batch, &Batch), bits: usize| {
        let n = 1 << (bits - 5);
        let made = |engine: &Engine| [n, n / 2].map(|width| on_device(engine, width));
        let count = |done: Vec<Done>| {
            let mut counts = [0_i32; 4];
            for done in done {
                let which = match done {
                    Done::Launch(_) => 0,
                    Done::Allocation => 1,
                    Done::Upload => 2,
                    Done::Download => 3,
                };
                counts[which] += 1;
            }
            counts
        };
        let before = count(rehearsal::done(&engine, |engine| drop(made(engine))));
        let all = count(rehearsal::done(&engine, |engine| {
            let [a, b] = made(engine);
            work(engine, &a, &b);
        }));
        [0, 1, 2, 3].map(|which: usize| all[which] - before[which])
    };
    let quotient = |engine: &Engine, a: &Batch, b: &Batch| {
        engine.div_rem(a, b).expect("a device");
    };
    let root = |engine: &Engine, a: &Batch, _: &Batch| {
        engine.isqrt(a).expect("a device");
    };
    let found = [20, 22, 24, 26].map(|bits| [counts(quotient, bits), counts(root, bits)]);
    let expected = [
        [[110, 116, 10, 4], [148, 146, 14, 5]],
        [[136, 138, 10, 4], [186, 178, 14, 5]],
        [[162, 160, 10, 4], [224, 210, 14, 5]],
        [[188, 182, 10, 4], [262, 242, 14, 5]],
    ];
    assert_eq!(found, expected);
}

/// Nothing is computed: it is seen that no step refuses numbers that have more bits than a limb counts.
#[test]
fn numbers_of_more_bits_than_a_limb_counts_are_divided_on_a_device() {
    let name = "operations::newton::tests::numbers_of_more_bits_than_a_limb_counts_are_divided_on_a_device";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = Engine::cuda(0).expect("a device");
    let done = rehearsal::done(&engine, |engine| {
        let m = WIDEST_COUNTED + 65;
        let [a, d] = [m + m / 4, m].map(|width| on_device(engine, width));
        let made = engine.newton_quotient(&a, &d, Wanted::First);
        assert!(made.expect("a quotient").is_some());
        let x = on_device(engine, m / 2);
        let fraction = engine.newton_fraction(&x, &d, m / 2, None);
        assert!(fraction.expect("a fraction").is_some());
        assert!(engine.prepared(&d, None).expect("a reciprocal").is_some());
    });
    assert!(done.len() > 1000);
}
