//! Tests of groups of numbers, of one engine and of one device each.

use super::*;
use crate::engine::rehearsal::{counts, meets};
use bigint_testing::simulator::on_simulator;
use num_integer::Integer;

fn compared(engine: &Engine) -> BatchGcd {
    BatchGcd {
        least_limbs: 1,
        ..BatchGcd::new(engine)
    }
}

#[test]
fn groups_whose_trees_are_kept_find_what_others_find() {
    let engine = Engine::cpu();
    let primes: Vec<u32> = small_primes().limbs()[100..].to_vec();
    let number = |i: usize| {
        let second = if i % 16 == 3 { i + 1 } else { i + 200 };
        u64::from(primes[i]) * u64::from(primes[second]) * u64::from(u32::MAX - 4)
    };
    let numbers: Integers = (0..100).map(number).collect();
    let all = BatchGcd::new(&engine);
    let find = |how: &BatchGcd| {
        let ticks = Cell::new(0);
        let tick = |_| ticks.set(ticks.get() + 1);
        let found = how.find(&numbers, &Integers::new(), &tick).expect("memory");
        (found, ticks.get())
    };
    let kept = BatchGcd {
        most_limbs: 40,
        ..all.clone()
    };
    let built_again = BatchGcd {
        memory: bytes(40, levels(100) + MORE_LEVELS),
        ..kept.clone()
    };
    let none = Integers::new();
    let run = |how| Run::new(how, &numbers, &none).expect("no folder");
    let runs = [&kept, &built_again].map(run);
    assert_eq!(runs.each_ref().map(|run| run.keeps_trees), [true, false]);
    assert!(runs.iter().all(|run| run.groups.len() > 2));
    let (expected, _) = find(&all);
    let [(by_kept, short), (by_others, long)] = [&kept, &built_again].map(find);
    assert_eq!([by_kept, by_others], [expected.clone(), expected]);
    assert!(short < long, "{short} {long}");
}

#[test]
fn groups_have_each_number_once() {
    let of = |lengths: &dyn Fn(usize) -> usize| {
        let number = |i| (BigUint::from(1u8) << (32 * lengths(i) - 1)) + i;
        let numbers: Vec<BigUint> = (0..100usize).map(number).collect();
        Integers::from_biguints(&numbers).expect("memory")
    };
    let alike = of(&|i| 9 - i % 2);
    let unlike = of(&|i| 1 + i % 11);
    for (numbers, follow) in [(&alike, true), (&unlike, false)] {
        for (most, least) in [(usize::MAX, 1), (usize::MAX, 3), (90, 1), (90, 4)] {
            let groups = groups(numbers, usize::MAX, most, least);
            assert!(groups.len() >= least, "{most} {least}");
            let mut all: Vec<usize> = groups.iter().flat_map(Which::iter).collect();
            assert!(!follow || all.is_sorted());
            all.sort_unstable();
            assert!(all.into_iter().eq(0..100), "{most} {least}");
        }
    }
}

#[test]
fn the_first_number_that_is_zero_or_negative_is_named() {
    let how = BatchGcd {
        most_limbs: 10,
        ..BatchGcd::new(&Engine::cpu())
    };
    let index_of = |at: &[usize], wrong: i64| {
        let numbers: Integers = (0..90)
            .map(|i| if at.contains(&i) { wrong } else { 3 })
            .collect();
        let found = how.find(&numbers, &Integers::new(), &|_| ());
        match found.expect_err("no tree has such") {
            Error::ZeroDivisor { index } | Error::Negative { index, .. } => index,
            other => panic!("{other}"),
        }
    };
    assert_eq!(index_of(&[71, 44], 0), 44);
    assert_eq!(index_of(&[71, 44], -3), 44);
}

/// Compares numbers with one another and with those of earlier runs, as num-bigint does.
fn check(how: &BatchGcd, lengths: &dyn Fn(u32) -> u32) {
    let prime = (BigUint::from(1u8) << 61u32) - 1u32;
    let number = |i: u32| match i % 17 {
        0 => &prime * BigUint::from(2 * i + 1).pow(lengths(i)),
        1 => (BigUint::from(1u8) << (8 * lengths(i) + i)) - 1u32,
        _ => BigUint::from(2 * i + 1).pow(lengths(i)),
    };
    let numbers: Vec<BigUint> = (1..=120).map(number).collect();
    let others: BigUint = BigUint::from(211u32).pow(80) * 127u32;
    let product: BigUint = numbers.iter().product::<BigUint>() * &others;
    let list = |numbers: &[BigUint]| Integers::from_biguints(numbers).expect("memory");
    let expected: Vec<BigUint> = numbers.iter().map(|n| (&product / n).gcd(n)).collect();
    let last = Cell::new(None);
    let found = how.find(&list(&numbers), &list(&[others]), &|told| {
        last.set(Some(told))
    });
    let found = found.unwrap_or_else(|error| panic!("{error}: {:?}", how.engine.warnings()));
    assert_eq!(found.divisors, list(&expected));
    let told = last.into_inner().expect("it is told of groups");
    assert_eq!(told.groups, told.of_groups);
}

const DEVICES: (&str, &str) = ("CUDA_SIM_DEVICES", "sm_90:1GiB,sm_90:1GiB,sm_90:1GiB");

#[test]
fn each_device_computes_groups_by_itself() {
    let name = "trees::batch_gcd::tests::each_device_computes_groups_by_itself";
    if on_simulator(name, &[DEVICES]) {
        let engine = Engine::all().expect("devices");
        let how = compared(&engine);
        check(&how, &|_| 18);
        check(&how, &|i| 9 + i % 20);
        // More groups than devices, whose trees are kept or built again.
        let more = BatchGcd {
            most_limbs: 200,
            ..how.clone()
        };
        check(&more, &|_| 18);
        check(&more.within(120_000), &|_| 18);
        assert_eq!(engine.warnings(), Vec::<String>::new());
        let numbers: Integers = (1..100u32).collect();
        let run = Run::new(&how, &numbers, &numbers).expect("no folder");
        assert_eq!((run.groups.len(), run.at_once), (3, 3));
    }
}

#[test]
fn the_groups_of_a_device_that_is_lost_are_computed_by_others() {
    let name =
        "trees::batch_gcd::tests::the_groups_of_a_device_that_is_lost_are_computed_by_others";
    // However few groups the others leave it, it has so many launches.
    for launch in [3, 15, 30] {
        let fault = format!("cuLaunchKernel:{launch}=CUDA_ERROR_LAUNCH_FAILED!@2");
        if on_simulator(name, &[DEVICES, ("CUDA_SIM_FAULT", &fault)]) {
            let engine = Engine::all().expect("devices");
            let how = BatchGcd {
                most_limbs: 200,
                ..compared(&engine)
            };
            check(&how, &|_| 18);
            let warnings = engine.warnings().join("\n");
            assert!(warnings.contains("CUDA device 2"), "{warnings}");
            assert!(warnings.contains("other devices"), "{warnings}");
            assert_eq!(engine.back_end().to_string(), "cuda:0,1");
            return;
        }
    }
}

#[test]
fn products_that_are_lost_with_the_only_device_are_made_again() {
    let name =
        "trees::batch_gcd::tests::products_that_are_lost_with_the_only_device_are_made_again";
    for launch in [60, 150, 250] {
        let device = ("CUDA_SIM_DEVICES", "sm_90:1GiB");
        let fault = format!("cuLaunchKernel:{launch}=CUDA_ERROR_LAUNCH_FAILED!@0");
        if on_simulator(name, &[device, ("CUDA_SIM_FAULT", &fault)]) {
            let engine = Engine::all().expect("a device");
            let how = BatchGcd {
                most_limbs: 200,
                ..compared(&engine)
            };
            check(&how, &|_| 18);
            let warnings = engine.warnings().join("\n");
            assert!(warnings.contains("CUDA device 0"), "{warnings}");
            return;
        }
    }
}

/// What a rehearsal meets is what the work loads: no kernel more, and those that are launched.
#[test]
fn a_rehearsal_meets_the_kernels_of_the_work() {
    let name = "trees::batch_gcd::tests::a_rehearsal_meets_the_kernels_of_the_work";
    let Some(counts) = counts(name) else {
        return;
    };
    let engine = Engine::cuda(0).expect("the simulated device");
    // Of 2048 bits, odd, and two share a factor.
    let number = |i: usize, limbs: &mut [Limb]| {
        limbs.iter_mut().zip(1u32..).for_each(|(limb, at)| {
            *limb = (i as u32 + 3)
                .wrapping_mul(0x9e37_79b9 ^ at)
                .rotate_left(at)
                | 1;
        });
        // Products of many have enough zeros on top for what is known of their lengths.
        limbs[63] = limbs[63] >> 8 | 1;
    };
    let numbers = Integers::from_fn(64, 64, |_| (64, false), number).expect("memory");
    let (how, none) = (BatchGcd::new(&engine), Integers::new());
    let run = Run::new(&how, &numbers, &none).expect("no folder");
    let rehearse = |engine: &Engine| {
        how.rehearse(engine, &run)
            .expect("a rehearsal goes through");
    };
    let perform = || how.find_in(&run, &|_| ()).expect("memory");
    let alone = meets(&engine, (&counts, 0), rehearse, perform);
    // Beside a rehearsal the same is found.
    let beside = how.find(&numbers, &none, &|_| ()).expect("memory");
    assert_eq!(alone, beside);
}
