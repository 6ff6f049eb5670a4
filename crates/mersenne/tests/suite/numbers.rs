//! Primes, composites and residues.

use crate::common::outcome;
use bigint_testing::sweep;
use mersenne::{Arithmetic, Cpu, KNOWN_PRIMES, LucasLehmer, Outcome, Prp, Saved, is_prime};
use num_bigint::BigUint;

fn cpu(arithmetic: Arithmetic) -> Cpu {
    Cpu {
        arithmetic,
        ..Cpu::default()
    }
}

/// Both tests of `2^p - 1`.
fn both(p: u32, backend: &Cpu) -> [Outcome; 2] {
    let ll = outcome(Saved::LucasLehmer(LucasLehmer::new(p)), backend);
    [ll, outcome(Saved::Prp(Prp::new(p)), backend)]
}

#[test]
fn mersenne_primes_to_4423_are_prime_by_either_arithmetic() {
    for p in KNOWN_PRIMES.into_iter().filter(|p| (3..=4423).contains(p)) {
        for arithmetic in [Arithmetic::Exact, Arithmetic::Fp64] {
            if arithmetic == Arithmetic::Fp64 && p < 521 {
                continue;
            }
            let found = both(p, &cpu(arithmetic));
            let prime = |res64| Outcome {
                is_prime: true,
                res64,
                errors: 0,
            };
            assert_eq!(found, [prime(0), prime(1)], "M{p} {arithmetic:?}");
        }
    }
}

#[test]
fn every_other_prime_exponent_to_2000_is_composite() {
    let backend = cpu(Arithmetic::Auto);
    let mut tested = 0;
    let others = (3..2000).filter(|&p| is_prime(p) && !KNOWN_PRIMES.contains(&p));
    // Every third; in sweeps all.
    for p in others.step_by(sweep(3, 1)) {
        assert!(
            both(p, &backend).iter().all(|found| !found.is_prime),
            "M{p}"
        );
        tested += 1;
    }
    assert_eq!(tested, (303 - 15) / sweep(3, 1));
}

#[test]
fn residues_are_those_of_python() {
    let mut tested = 0;
    for (i, line) in include_str!("../residues.txt").lines().enumerate() {
        let [p, ll, prp] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("three fields a line");
        };
        let p: u32 = p.parse().unwrap();
        // All of them: `mersenne selftest --to 20000`.
        if p > 4000 && i % sweep(50, 25) != 0 {
            continue;
        }
        let expected = [ll, prp].map(|hex| u64::from_str_radix(hex, 16).unwrap());
        for arithmetic in [Arithmetic::Exact, Arithmetic::Fp64] {
            if arithmetic == Arithmetic::Exact && p > 4000
                || arithmetic == Arithmetic::Fp64 && p < 600
            {
                continue;
            }
            let found = both(p, &cpu(arithmetic)).map(|found| found.res64);
            assert_eq!(found, expected, "M{p} {arithmetic:?}");
            tested += 1;
        }
    }
    assert!(tested > sweep(25, 50));
}

#[test]
fn residues_are_those_of_num_bigint() {
    for p in [11, 23, 67, 101, 137, 257, 641, 1009, 1277] {
        let m: BigUint = (BigUint::from(1u32) << p) - 1u32;
        let mut s = BigUint::from(4u32);
        for _ in 0..p - 2 {
            s = (s.pow(2) + m.clone() - 2u32) % m.clone();
        }
        let exponent: BigUint = m.clone() - 1u32;
        let x = BigUint::from(3u32).modpow(&exponent, &m);
        let low = |x: &BigUint| x.iter_u64_digits().next().unwrap_or(0);
        let found = both(p, &cpu(Arithmetic::Auto)).map(|found| found.res64);
        assert_eq!(found, [low(&s), low(&x)], "M{p}");
    }
}
