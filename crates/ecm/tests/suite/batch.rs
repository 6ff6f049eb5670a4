//! Curves on many numbers at once, each modulo its own; and planted primes, found as often as theory says.

use bigint_host::{BigUint, Engine};
use bigint_testing::{sweep, sweep_all};
use ecm::{Bounds, Ecm, Family, Outcome, Stage1, Stage2, chance, scalar};

/// The first prime above a number of so many digits, another one for each `i`.
fn planted(digits: u32, count: u32) -> Vec<BigUint> {
    let engine = Engine::cpu();
    let least = BigUint::from(10u8).pow(digits - 1);
    let of = |i: u32| {
        // From 1 to 10 times the least number, spread evenly: the golden section.
        let part = BigUint::from(i.wrapping_mul(0x9e37_79b9)) * 9u8 * &least;
        &least + (part >> 32)
    };
    let from: Vec<_> = (1..=count).map(of).collect();
    let from = engine.batch_from_biguints(&from).unwrap();
    engine.next_prime(&from).unwrap().to_biguints().unwrap()
}

#[test]
fn numbers_of_all_lengths_at_once_come_apart_as_one_by_one() {
    let engine = Engine::cpu();
    let bounds = Bounds {
        b1: 50,
        b2: 900,
        curves: 3,
    };
    let ecm = Ecm::new(&engine, bounds);
    let p = planted(6, 60);
    // From 63 to 512 bits.
    let q: Vec<_> = [61u32, 89, 107, 127, 521]
        .map(|e| (BigUint::from(1u8) << e) - 1u8)
        .into();
    let q = |i: usize| match i % 7 {
        0 => p[(i + 1) % 60].pow(3),
        5 => &q[3] * &q[2] * &q[1],
        6 => &q[0] * &q[1],
        k => q[k - 1].clone(),
    };
    let mut numbers: Vec<_> = (0..60).map(|i| &p[i] * q(i)).collect();
    for small in (0u8..80).chain([121, 143, 169]) {
        numbers.push(small.into());
    }
    let found = ecm.batch(&numbers, 5).unwrap();
    let mut both = [0; 2];
    for (n, found) in numbers.iter().zip(&found) {
        if let Some(divisor) = found {
            assert!(divisor.bits() > 1 && divisor < n, "{n}: {divisor}");
            assert_eq!(n % divisor, BigUint::ZERO);
        }
        if n.bits() > 16 {
            // A curve modulo this number alone.
            let mut alone = None;
            for sigma in 5..8 {
                alone = alone.or_else(|| one(n, sigma, bounds));
            }
            assert_eq!(found, &alone, "{n}");
            both[usize::from(found.is_some())] += 1;
        }
    }
    assert!(both[0] > 5 && both[1] > 5, "{both:?}");
    assert!(ecm.batch(&[], 5).unwrap().is_empty());
}

/// The divisor that both stages of one curve find modulo one number.
fn one(n: &BigUint, sigma: u64, bounds: Bounds) -> Option<BigUint> {
    let is_proper = |divisor: &BigUint| divisor != n;
    let outcome = stage1(n, Family::Param3, sigma, 1, bounds.b1).remove(0);
    match outcome {
        Outcome::Factor(divisor) => Some(divisor).filter(is_proper),
        Outcome::Point(point) => stage2(n, &[point], bounds).remove(0).filter(is_proper),
    }
}

fn stage1(n: &BigUint, family: Family, first: u64, count: usize, b1: u64) -> Vec<Outcome> {
    let mut stage = Stage1::new(n, family, first, count, &scalar(b1)).unwrap();
    while !stage.is_done() {
        stage.advance(10_000).unwrap();
    }
    stage.finish().unwrap()
}

fn stage2(n: &BigUint, points: &[ecm::Point], bounds: Bounds) -> Vec<Option<BigUint>> {
    let mut stage = Stage2::new(n, points, bounds.b1, bounds.b2).unwrap();
    while !stage.is_done() {
        stage.advance().unwrap();
    }
    stage.finish()
}

/// The number that planted primes are multiplied by: a prime.
fn cofactor() -> BigUint {
    (BigUint::from(1u8) << 127) - 1u8
}

/// The places of planted primes, and the curves of a family that find them.
fn found(
    family: Family,
    primes: &[BigUint],
    (first, count): (u64, u64),
    bounds: (u64, u64),
) -> Vec<(usize, u64)> {
    let (b1, b2) = bounds;
    let bounds = Bounds { b1, b2, curves: 1 };
    let numbers: Vec<_> = primes.iter().map(|p| p * cofactor()).collect();
    let mut pairs = Vec::new();
    let mut take = |i: usize, sigma: u64, divisor: Option<BigUint>| {
        if divisor.as_ref() == Some(&primes[i]) {
            pairs.push((i, sigma));
        }
    };
    match family {
        Family::Param3 => {
            let ecm = Ecm::new(&Engine::cpu(), bounds);
            for sigma in (first..).take(count as usize) {
                let divisors = ecm.batch(&numbers, sigma as u32).unwrap();
                for (i, divisor) in divisors.into_iter().enumerate() {
                    take(i, sigma, divisor);
                }
            }
        }
        Family::Edwards => {
            for (i, n) in numbers.iter().enumerate() {
                let (mut points, mut sigmas) = (Vec::new(), Vec::new());
                let outcomes = stage1(n, family, first, count as usize, b1);
                for (sigma, outcome) in (first..).zip(outcomes) {
                    match outcome {
                        Outcome::Factor(divisor) => take(i, sigma, Some(divisor)),
                        Outcome::Point(point) => {
                            points.push(point);
                            sigmas.push(sigma);
                        }
                    }
                }
                for (sigma, divisor) in sigmas.into_iter().zip(stage2(n, &points, bounds)) {
                    take(i, sigma, divisor);
                }
            }
        }
    }
    pairs
}

/// The places of the first 100 primes of 15 digits, and the curves 500,000 to 500,011 whose starting point has an
/// order that is a product of prime powers up to 2000 and of at most one prime up to 147,396: PARI's `ellorder`.
const SMOOTH_OF_PARAM3: [(usize, u64); 31] = [
    (0, 500_007),
    (6, 500_000),
    (10, 500_005),
    (10, 500_009),
    (10, 500_010),
    (11, 500_002),
    (12, 500_003),
    (14, 500_011),
    (15, 500_001),
    (21, 500_005),
    (25, 500_004),
    (25, 500_005),
    (27, 500_000),
    (28, 500_007),
    (35, 500_009),
    (38, 500_004),
    (45, 500_006),
    (51, 500_009),
    (60, 500_000),
    (61, 500_004),
    (64, 500_001),
    (64, 500_005),
    (76, 500_001),
    (80, 500_000),
    (80, 500_006),
    (82, 500_004),
    (83, 500_009),
    (85, 500_006),
    (87, 500_000),
    (91, 500_009),
    (95, 500_011),
];

/// The same of the Edwards curves 3000 to 3011.
const SMOOTH_OF_EDWARDS: [(usize, u64); 51] = [
    (4, 3009),
    (7, 3001),
    (11, 3005),
    (11, 3007),
    (12, 3004),
    (16, 3000),
    (19, 3003),
    (20, 3001),
    (25, 3003),
    (26, 3000),
    (31, 3009),
    (32, 3005),
    (34, 3000),
    (36, 3010),
    (37, 3011),
    (38, 3007),
    (41, 3009),
    (43, 3010),
    (50, 3000),
    (51, 3001),
    (51, 3004),
    (51, 3009),
    (52, 3000),
    (56, 3004),
    (57, 3001),
    (58, 3010),
    (59, 3006),
    (66, 3001),
    (67, 3002),
    (68, 3007),
    (69, 3002),
    (69, 3011),
    (72, 3008),
    (79, 3007),
    (81, 3005),
    (81, 3006),
    (82, 3006),
    (84, 3002),
    (84, 3008),
    (85, 3009),
    (86, 3005),
    (87, 3008),
    (88, 3000),
    (88, 3004),
    (90, 3008),
    (92, 3000),
    (95, 3002),
    (95, 3004),
    (97, 3005),
    (98, 3001),
    (98, 3010),
];

#[test]
fn curves_find_what_the_order_of_their_point_says() {
    let primes = planted(15, 100);
    for (family, first, smooth) in [
        (Family::Param3, 500_000, &SMOOTH_OF_PARAM3[..]),
        (Family::Edwards, 3_000, &SMOOTH_OF_EDWARDS[..]),
    ] {
        let found = found(family, &primes, (first, 12), (2_000, 147_396));
        for pair in smooth {
            assert!(found.contains(pair), "{family:?}: {pair:?} is missed");
        }
        // Stage 2 finds some more by chance: where the rest of an order divides a number between its primes.
        assert!(found.len() <= smooth.len() + 2, "{family:?}: {found:?}");
    }
}

/// Whether hits among so many independent trials are within two standard deviations of what is expected: the
/// mean of [`chance`] for these primes. A prime `10^(d - 1/2)` has `d` digits.
fn is_as_expected(
    hits: usize,
    curves: u64,
    family: Family,
    primes: &[BigUint],
    bounds: (u64, u64),
) {
    let of = |p: &BigUint| {
        let log = p.to_string().parse::<f64>().unwrap().log10();
        chance(family, log + 0.5, bounds.0, bounds.1)
    };
    let chance = primes.iter().map(of).sum::<f64>() / primes.len() as f64;
    let mean = (primes.len() as u64 * curves) as f64 * chance;
    let deviation = (mean * (1.0 - chance)).sqrt();
    assert!(
        (hits as f64 - mean).abs() <= 2.0 * deviation,
        "{hits} hits, {mean:.1} expected, deviation {deviation:.1}"
    );
}

#[test]
fn planted_primes_are_found_as_often_as_theory_says() {
    let all = [
        (15, 400, 10, (2_000, 147_396)),
        (20, 400, 6, (11_000, 1_900_000)),
        (25, 2000, 2, (50_000, 13_000_000)),
    ];
    for &(digits, count, curves, bounds) in &all[..sweep_all(1, 2, 3)] {
        let primes = planted(digits, count);
        let hits = found(Family::Param3, &primes, (1000, curves), bounds).len();
        is_as_expected(hits, curves, Family::Param3, &primes, bounds);
    }
}

#[test]
fn planted_primes_are_found_by_edwards_curves_as_often_as_theory_says() {
    let bounds = (2_000, 147_396);
    let primes = planted(15, sweep(50, 300));
    let hits = found(Family::Edwards, &primes, (100, 40), bounds).len();
    is_as_expected(hits, 40, Family::Edwards, &primes, bounds);
}
