//! Euclid's algorithm by halves on the CPU's engine, with parts of 32 limbs on its cores, beside num-bigint.

use super::Found;
use super::halves::{Halving, Pairs};
use crate::common::job::Job;
use crate::operations::forms::Form;
use crate::{Batch, BigUint, Engine, Error, Tuning};
use bigint_core::operation::Cost;
use bigint_core::{Layout, Operation};
use bigint_testing::oracle;

fn engine() -> Engine {
    let mut tuning = Tuning::default();
    tuning.euclid.cores_limbs = 32;
    tuning.euclid.cores_min_width = 32;
    Engine::cpu().with_tuning(tuning)
}

/// The operations that Euclid's algorithm computes.
fn euclids() -> impl Iterator<Item = Operation> {
    let all = Operation::ALL.into_iter();
    all.filter(|operation| operation.cost() == Cost::Euclid)
}

fn power(bits: usize) -> BigUint {
    BigUint::from(1u8) << bits
}

/// Limbs that follow no rule, others for each seed, the highest bit set.
fn mixed(limbs: usize, seed: u32) -> BigUint {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ u64::from(seed) << 17;
    let next = |_| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 32) as u32
    };
    BigUint::new((0..limbs).map(next).collect()) | power(32 * limbs - 1)
}

/// Two numbers of up to so many limbs, with these quotients and `divisor`, or as many of them as there is room for.
fn with_quotients(
    limbs: usize,
    quotients: impl Iterator<Item = BigUint>,
    divisor: BigUint,
) -> [BigUint; 2] {
    let (mut x, mut y) = (divisor, BigUint::ZERO);
    for quotient in quotients {
        let next = &x * quotient + &y;
        if next.bits() > 32 * limbs as u64 {
            break;
        }
        (x, y) = (next, x);
    }
    [x, y]
}

/// Pairs of up to so many limbs that meet all ends of the algorithm.
fn pairs(limbs: usize) -> Vec<[BigUint; 2]> {
    let (n, half) = (limbs, limbs / 2);
    let [a, b, g] = [(n, 1), (n, 2), (half, 3)].map(|(limbs, seed)| mixed(limbs, seed));
    let one = BigUint::from(1u8);
    let small = |i: u32| BigUint::from(i * i % 7 + 1);
    // A quotient of `s` limbs, wherever it stands among small ones.
    let large = |s: usize, at: u32| {
        let of = move |i| if i == at { mixed(s, i) } else { small(i) };
        with_quotients(n, (0..).map(of), one.clone())
    };
    let mut pairs = vec![
        [BigUint::ZERO, BigUint::ZERO],
        [a.clone(), BigUint::ZERO],
        [one.clone(), one.clone()],
        [a.clone(), one.clone()],
        [a.clone(), a.clone()],
        [a.clone(), &a - 1u8],
        [a.clone(), b.clone()],
        [&g * mixed(half, 4), g.clone()],
        [&g * mixed(half, 5), &g * mixed(half, 6)],
        [&g * 12u8, &g * 21u8],
        [a.clone(), mixed(half, 7)],
        [a.clone(), mixed(3, 8)],
        [a.clone(), mixed(n - 4, 9)],
        [a.clone(), mixed(n - 5, 9)],
        [mixed(40, 10), mixed(39, 11)],
        [power(32 * n - 1), power(32 * n - 1) - 1u8],
        [power(32 * n - 1) + 1u8, power(32 * n - 1) - 1u8],
        [power(32 * n) - 1u8, power(16 * n) - 1u8],
        [power(32 * n - 1), power(7 * n)],
        [power(32 * n) - 1u8, power(32 * n - 33) + 1u8],
        [a.clone() >> 1 << 1, &b - (&b % 2u8)],
        [a.clone() >> 40 << 40, b.clone()],
    ];
    // All quotients 1, and all alike; numbers with a divisor, too.
    for (quotient, divisor) in [
        (1u64, 1u32),
        (1, 1 << 31),
        (3, 1),
        (u64::MAX, 1),
        (1 << 33, 5),
    ] {
        let quotients = std::iter::repeat(BigUint::from(quotient));
        pairs.push(with_quotients(n, quotients, divisor.into()));
    }
    let ends = [
        (1, 0),
        (3, 500),
        (5, 1000),
        (20, 900),
        (half, 0),
        (half, 700),
        (half, 1500),
    ];
    pairs.extend(ends.map(|(limbs, at)| large(limbs, at)));
    pairs.extend((20..30).map(|seed| [mixed(n, seed), mixed(n, seed + 100)]));
    let turned = pairs.clone().into_iter().map(|[a, b]| [b, a]);
    pairs.extend(turned.collect::<Vec<_>>());
    pairs
}

fn batches(engine: &Engine, pairs: &[[BigUint; 2]], limbs: usize) -> [Batch; 2] {
    [0, 1].map(|i| {
        let numbers: Vec<BigUint> = pairs.iter().map(|pair| pair[i].clone()).collect();
        let batch = engine.batch_from_biguints_in(&numbers, limbs, Layout::Contiguous);
        batch.unwrap()
    })
}

fn found(engine: &Engine, operation: Operation, operands: [&Batch; 2]) -> Result<Found, Error> {
    let job: Job = engine.job(operation, Form::Exact, &operands)?;
    engine.euclid(job, &operands)
}

fn check(engine: &Engine, operation: Operation, pairs: &[[BigUint; 2]], limbs: usize) {
    let [a, b] = batches(engine, pairs, limbs);
    let Found { results, have_none } = found(engine, operation, [&a, &b]).unwrap();
    let results = results.to_biguints().unwrap();
    for (i, [a, b]) in pairs.iter().enumerate() {
        let expected = oracle::values(operation, &[a, b], &[limbs; 2]);
        assert_eq!(
            expected.is_empty(),
            have_none[i],
            "{operation:?} of pair {i}"
        );
        let expected = expected.into_iter().next().unwrap_or_default();
        assert_eq!(
            expected,
            results[i].clone().into(),
            "{operation:?} of pair {i}"
        );
    }
}

#[test]
fn all_that_euclids_algorithm_finds_is_what_num_bigint_finds() {
    let engine = engine();
    let pairs = pairs(300);
    for operation in euclids() {
        check(&engine, operation, &pairs, 300);
    }
}

#[test]
fn a_pair_alone_goes_as_pairs_in_step_do() {
    let engine = engine();
    for limbs in [65, 130, 521] {
        for pair in pairs(limbs).chunks(1).step_by(3) {
            for operation in euclids() {
                check(&engine, operation, pair, limbs);
            }
        }
    }
}

#[test]
fn one_number_stands_for_all_and_widths_may_differ() {
    let engine = engine();
    let modulus = engine.batch_from_biguints(&[mixed(150, 1)]).unwrap();
    let numbers: Vec<BigUint> = (2..6).map(|seed| mixed(220, seed)).collect();
    let a = engine.batch_from_biguints(&numbers).unwrap();
    for operation in euclids() {
        let found = found(&engine, operation, [&a, &modulus]).unwrap();
        let results = found.results.to_biguints().unwrap();
        for (x, result) in numbers.iter().zip(results) {
            let expected = oracle::values(operation, &[x, &mixed(150, 1)], &[220, 150]);
            assert_eq!(expected, [result.into()], "{operation:?}");
        }
    }
}

/// Of random numbers the host finishes what is short, and nothing before.
#[test]
fn random_pairs_stay_in_step_to_the_end() {
    let engine = engine();
    for (limbs, count) in [(200, 20), (1500, 3)] {
        let pairs: Vec<_> = (0..count)
            .map(|seed| [mixed(limbs, seed), mixed(limbs, seed + 50)])
            .collect();
        let [a, b] = batches(&engine, &pairs, limbs);
        let bits = vec![32 * limbs as u64; count as usize];
        let pairs = Pairs::new(engine.concatenate(&[&a, &b]).unwrap(), bits);
        let ended = Halving::new(&engine, count as usize, None)
            .run(pairs, None)
            .unwrap();
        assert_eq!(ended.len(), 1);
    }
}
