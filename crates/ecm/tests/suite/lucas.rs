//! P-1 and P+1 beside plain arithmetic of num-bigint, and what they find beside what theory says.

use bigint_host::Engine;
use bigint_testing::simulator::on_simulator;
use ecm::{Continuation, LucasStage1, LucasStage2, Method, primes, scalar};
use num_bigint::BigUint;

const WAYS: [Continuation; 2] = [Continuation::Giants, Continuation::Polynomials];

fn number(text: &str) -> BigUint {
    ecm::evaluate(text).unwrap()
}

/// `V_k` by two terms of the sequence at a time.
fn value(v: &BigUint, k: &BigUint, n: &BigUint) -> BigUint {
    let two = BigUint::from(2u8);
    let (mut low, mut high) = (v.clone(), (v * v + n - &two) % n);
    for i in (0..k.bits() - 1).rev() {
        let both = (&low * &high + n - v) % n;
        let same = if k.bit(i) { &high } else { &low };
        let same = (same * same + n - &two) % n;
        (low, high) = if k.bit(i) { (both, same) } else { (same, both) };
    }
    low
}

fn stage1(n: &BigUint, method: Method, starts: u32, b1: u64) -> Vec<BigUint> {
    let mut stage = LucasStage1::new(n, method, starts, &scalar(b1)).unwrap();
    let mut times = 1;
    while !stage.is_done() {
        stage.advance(times);
        times = times * 3 + 1;
    }
    stage.finish()
}

fn divisors(mut stage: LucasStage2) -> Vec<Option<BigUint>> {
    while !stage.is_done() {
        stage.advance().unwrap();
    }
    let (done, of) = stage.progress();
    assert_eq!(done, of);
    stage.finish().unwrap()
}

fn stage2(
    by: Continuation,
    n: &BigUint,
    values: &[BigUint],
    (b1, b2): (u64, u64),
) -> Vec<Option<BigUint>> {
    divisors(LucasStage2::new_by(by, n, values, b1, b2).unwrap())
}

/// The divisors that both stages find.
fn found(
    by: Continuation,
    n: &BigUint,
    (method, starts): (Method, u32),
    bounds: (u64, u64),
) -> Vec<BigUint> {
    let (mut values, mut all) = (Vec::new(), Vec::new());
    for residue in stage1(n, method, starts, bounds.0) {
        match method.value(&residue, n) {
            Ok(value) => values.push(value),
            Err(divisor) => all.push(divisor),
        }
    }
    all.extend(stage2(by, n, &values, bounds).into_iter().flatten());
    all
}

#[test]
fn values_after_stage_1_are_num_bigints() {
    for text in [
        "(2^31-1)*1000003",
        "2^521-1",
        "2^1279-1",
        "(2^2203-1)",
        "2^89-1",
    ] {
        let n = number(text);
        let over = |top: u8, bottom: u8| BigUint::from(bottom).modinv(&n).unwrap() * top % &n;
        for b1 in [11, 100, 1000] {
            let s = scalar(b1);
            for (i, x) in stage1(&n, Method::PMinus1, 3, b1).into_iter().enumerate() {
                let a = BigUint::from(3 + 2 * i) * over(1, 2).modpow(&32u8.into(), &n) % &n;
                assert_eq!(x, a.modpow(&s, &n), "{text} {b1}");
            }
            let starts = [over(2, 7), over(6, 5), 3u8.into(), 4u8.into(), 5u8.into()];
            let found = stage1(&n, Method::PPlus1, 5, b1);
            for (start, v) in starts.iter().zip(found) {
                assert_eq!(v, value(start, &s, &n), "{text} {b1}");
            }
        }
    }
}

/// Whether `k` is a product of a divisor of the scalar and of one prime up to `b2`, or of none.
fn is_reached(k: u64, b1: u64, b2: u64) -> bool {
    let mut rest = k;
    primes(2, b1, |q| {
        let mut power = q;
        while power <= b1 && rest.is_multiple_of(q) {
            rest /= q;
            power *= q;
        }
    });
    let is_prime = |n: u64| (2..=n.isqrt()).all(|d| !n.is_multiple_of(d));
    rest == 1 || ((b1 + 1..=b2).contains(&rest) && is_prime(rest))
}

#[test]
fn every_prime_that_theory_says_is_found() {
    // A prime whose neighbours are as rough as can be.
    let rough = number("2^127-1");
    // Strides of 6, 30, 210 and 2310.
    for (b1, b2, low) in [
        (11, 60, 2_000),
        (35, 600, 20_000),
        (250, 3_000, 1_000_000),
        (2_400, 30_000, 300_000_000),
    ] {
        let mut counts = [0; 3];
        primes(low, low + 1_500, |p| {
            let n = &rough * p;
            let p_big = BigUint::from(p);
            let finds = |method, starts| {
                WAYS.into_iter()
                    .all(|by| found(by, &n, (method, starts), (b1, b2)).contains(&p_big))
            };
            if is_reached(p - 1, b1, b2) {
                assert!(finds(Method::PMinus1, 1), "p - 1: {p} {b1}");
                counts[0] += 1;
            }
            // The order divides p - 1 or p + 1 as v^2 - 4 is a square or not: of v = 6/5 it is -64/25, of 2/7
            // -192/49; -1 and -3 are squares modulo p = 1 mod 4, and mod 3.
            let is_reached = |is_square| is_reached(if is_square { p - 1 } else { p + 1 }, b1, b2);
            if is_reached(p % 3 == 1) {
                assert!(finds(Method::PPlus1, 1), "p + 1 of 2/7: {p} {b1}");
                counts[1] += 1;
            }
            if is_reached(p % 3 == 1) || is_reached(p % 4 == 1) {
                assert!(finds(Method::PPlus1, 2), "p + 1 of 2/7 and 6/5: {p} {b1}");
                counts[2] += 1;
            }
        });
        assert!(
            counts[0] >= 5 && counts[1] >= 5 && counts[2] > counts[1],
            "{counts:?}"
        );
    }
}

#[test]
fn a_last_prime_at_each_end_of_the_range_is_found() {
    // p - 1 = 2 3 q, with q the next prime from a place on.
    let rough = number("2^127-1");
    let is_prime = |n: u64| n > 1 && (2..=n.isqrt()).all(|d| !n.is_multiple_of(d));
    let next = |from: u64| {
        (from..)
            .find(|&q| is_prime(q) && is_prime(6 * q + 1))
            .unwrap()
    };
    let (b1, b2) = (2_310, 300_000);
    for q in [next(b1 + 1), next(150 * 2310 / 2), next(b2 - 2_000)] {
        assert!(q <= b2);
        let p = 6 * q + 1;
        let n = &rough * p;
        for by in WAYS {
            let finds = |b2| found(by, &n, (Method::PMinus1, 1), (b1, b2)).contains(&p.into());
            assert!(finds(b2), "{q}");
            // Some giants are done without a range, which are those next to it.
            assert!(q < 6 * b1 || !finds(b1), "{q}");
        }
    }
}

#[cfg(feature = "cuda")]
#[test]
fn a_device_finds_what_the_cpu_does() {
    if !on_simulator("lucas::a_device_finds_what_the_cpu_does", &[]) {
        return;
    }
    let engine = Engine::cuda(0).unwrap();
    for (text, p) in [
        ("(2^127-1)*300000007", 300_000_007u64),
        ("(2^521-1)*1000003", 1_000_003),
        ("(2^1279-1)*1000003", 1_000_003),
    ] {
        let n = number(text);
        let values = [
            3u8.into(),
            value(&7u8.into(), &number("10^40"), &n),
            // One whose order modulo p is a prime in stage 2's range, or not.
            value(&5u8.into(), &(BigUint::from(p - 1) / 6u8), &n),
        ];
        let [giants, polynomials] = WAYS;
        for (by, b1, b2) in [
            (giants, 100, 1_000),
            (giants, 2_400, 90_000),
            (polynomials, 100, 1_000),
            (polynomials, 2_400, 90_000),
        ] {
            // Long polynomials of long numbers take the simulator long.
            if by == polynomials && b2 * n.bits() > 5_000_000 {
                continue;
            }
            let stage = LucasStage2::on_device_by(by, &engine, &n, &values, b1, b2).unwrap();
            let found = divisors(stage.unwrap());
            assert_eq!(found, stage2(by, &n, &values, (b1, b2)), "{text} {b1}");
        }
    }
    let long = (BigUint::from(1u8) << 9300) + 1u8;
    let none = LucasStage2::on_device(&engine, &long, &[3u8.into()], 100, 1000);
    assert!(none.unwrap().is_none());
}
