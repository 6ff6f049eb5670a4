//! Tests that forge proofs by algebra. Each forgery's claim is true, or is true for the challenge
//! that it was made for; and each is refused.

use std::collections::BTreeMap;

use num_bigint::BigUint;

use super::tests::value;
use super::{Challenges, Flaw, Proof};
use crate::{Cpu, Residue};

fn big(x: u64) -> BigUint {
    BigUint::from(x)
}

fn modulus(p: u32) -> BigUint {
    (big(1) << p) - 1u32
}

fn residue(p: u32, x: &BigUint) -> Residue {
    Residue::from_bytes(p, &(x % modulus(p)).to_bytes_le())
}

fn of(last: Residue, middles: Vec<Residue>) -> Proof {
    Proof { last, middles }
}

/// The proof of an honest test.
fn honest(p: u32, power: u32) -> Proof {
    ending(p, power, |last| last)
}

/// The proof of a test but for its last residue, to which every middle is fitted.
fn ending(p: u32, power: u32, change: fn(Residue) -> Residue) -> Proof {
    let (mut x, mut at, mut kept) = (Residue::from_u64(p, 3), 0, BTreeMap::new());
    for iteration in Proof::iterations(p, power) {
        for _ in at..iteration {
            x = x.square_minus(1, 0);
        }
        at = iteration;
        kept.insert(iteration, x.clone());
    }
    let last = kept.remove(&p).unwrap();
    kept.insert(p, change(last));
    Proof::build(p, power, |iteration| Ok(kept[&iteration].clone())).unwrap()
}

/// Whether the claim that the proof leaves is true.
fn claims_truly(proof: &Proof) -> bool {
    proof.certificate().unwrap().holds(&Cpu::default()).unwrap()
}

/// Whether the proof's file is accepted.
fn is_taken(proof: &Proof) -> bool {
    let read = Proof::from_bytes(&proof.to_bytes());
    read.is_ok_and(|proof| proof.flaw().unwrap().is_none() && claims_truly(&proof))
}

#[test]
fn residues_of_zero_prove_nothing() {
    for p in [1277, 8209] {
        let [zero, nine, one] = [0, 9, 1].map(|x| Residue::from_u64(p, x));
        let ends = [&nine, &zero, &one];
        for last in ends {
            for power in 1..=Proof::most_power(p) as usize {
                let mut middles = vec![one.clone(); power];
                middles[0] = zero.clone();
                let forged = of(last.clone(), middles);
                assert!(claims_truly(&forged), "0 = 0");
                assert!(!is_taken(&forged));
                assert!(forged.flaw().unwrap().is_some());
            }
        }
    }
}

#[test]
fn a_residue_that_is_not_below_the_modulus_is_refused_wherever_it_stands() {
    // 1277 bits end in the midst of a byte, 1279 in that of another.
    for p in [1277u32, 1279] {
        let good = honest(p, 3).to_bytes();
        let length = p.div_ceil(8) as usize;
        let header = good.len() - 4 * length;
        for i in 0..4 {
            let zero = big(0);
            for x in [
                zero,
                modulus(p),
                modulus(p) + 1u32,
                (big(1) << (8 * length)) - 1u32,
            ] {
                let mut bytes = good.clone();
                let place = &mut bytes[header + i * length..][..length];
                place.fill(0);
                place[..x.to_bytes_le().len()].copy_from_slice(&x.to_bytes_le());
                let told = Proof::from_bytes(&bytes).unwrap_err();
                let name = ["last residue", "middle 1", "middle 2", "middle 3"][i];
                assert!(told.contains(name), "{told}");
            }
        }
    }
}

#[test]
fn middles_that_are_zero_modulo_one_factor_each_prove_nothing() {
    let cases: [(u32, &[u64]); 3] = [
        (37, &[223, 616_318_177]),
        (41, &[13_367, 164_511_353]),
        (67, &[193_707_721, 761_838_257_287]),
    ];
    for (p, factors) in cases {
        let product: BigUint = factors.iter().map(|&q| big(q)).product();
        assert_eq!(product, modulus(p));
        let middles = factors.iter().map(|&q| residue(p, &big(q))).collect();
        let forged = of(Residue::from_u64(p, 9), middles);
        assert!(claims_truly(&forged) && forged.is_prime());
        assert!(!is_taken(&forged));
        assert_eq!(forged.flaw().unwrap(), Some(Flaw::SharedFactor(product)));
    }
    // One factor in one place is seen as well.
    let (p, q) = (8243, 16_487u64);
    assert_eq!(modulus(p) % q, big(0));
    let one = Residue::from_u64(p, 1);
    for at in 0..3 {
        let mut residues = vec![one.clone(); 3];
        residues[at] = residue(p, &big(q * 12_345));
        let forged = of(residues.remove(0), residues);
        assert_eq!(forged.flaw().unwrap(), Some(Flaw::SharedFactor(big(q))));
    }
}

#[test]
fn a_prime_is_not_hidden_behind_minus_one_or_a_power_of_two() {
    let honest = honest(9689, 2);
    assert!(is_taken(&honest) && honest.is_prime());
    // The first claim is of the square.
    let minus = |last: Residue| Residue::from_u64(last.number(), 0).minus(&last);
    for (p, flaw) in [
        (9689, Flaw::Disguised),
        (1279, Flaw::Wrong),
        (1277, Flaw::Wrong),
    ] {
        let hidden = ending(p, 2, minus);
        assert!(claims_truly(&hidden) && !hidden.is_prime());
        assert_eq!(hidden.flaw().unwrap(), Some(flaw));
        assert!(!is_taken(&hidden));
    }
    for p in [5, 7, 61, 67, 127, 131] {
        for j in 1..p {
            let x = residue(p, &(big(9) << j));
            let minus = residue(p, &(modulus(p) - value(&x)));
            assert!(of(x, Vec::new()).is_disguised(), "{p} {j}");
            assert!(of(minus, Vec::new()).is_disguised(), "{p} {j}");
        }
        assert!(!of(Residue::from_u64(p, 9), Vec::new()).is_disguised());
    }
    for x in [1, 3, 5, 7, 10, 17, 33, 64] {
        assert!(
            !of(Residue::from_u64(127, x), Vec::new()).is_disguised(),
            "{x}"
        );
    }
}

/// 2^11 - 1 = 23 89, where every element is of small order: some middle fits every challenge.
#[test]
fn no_middle_makes_a_prime_of_2047() {
    let fits = |x: &u64| {
        let forged = of(Residue::from_u64(11, 9), vec![Residue::from_u64(11, *x)]);
        let fits = claims_truly(&forged);
        assert!(!fits || !is_taken(&forged), "{x}");
        fits
    };
    assert!((0..2047).filter(fits).count() > 10);
}

#[test]
fn a_middle_that_was_solved_for_a_challenge_does_not_fit_its_own() {
    // With 3^x for the middle, and h = 2^m - 1 for the challenge, the claim
    // (3^h 3^x)^(2^m) = 3^(h x) 9^2 is true for x = 4 - h 2^m.
    for p in [59u32, 67, 101] {
        let (n, m) = (modulus(p), p.div_ceil(2));
        let h = (big(1) << m) - 1u32;
        let x = (&h << m) - 4u32;
        let middle = big(3).modpow(&x, &n).modinv(&n).unwrap();
        let left = (big(3).modpow(&h, &n) * &middle).modpow(&(big(1) << m), &n);
        assert_eq!(left, middle.modpow(&h, &n) * 81u32 % &n);
        let forged = of(Residue::from_u64(p, 9), vec![residue(p, &middle)]);
        let own = Challenges::new(&forged.last).next(&forged.middles[0]);
        assert_ne!(big(own), h);
        assert!(!claims_truly(&forged) && !is_taken(&forged));
    }
}

#[test]
fn whatever_is_taken_ends_with_the_residue_of_the_test() {
    for (p, power) in [(1277, 3), (1279, 3), (8209, 4)] {
        let (n, honest) = (modulus(p), honest(p, power));
        assert!(is_taken(&honest));
        let changes: [fn(&BigUint, &BigUint) -> BigUint; 7] = [
            |x, n| n - x,
            |x, n| x * x % n,
            |x, n| x * 2u32 % n,
            |x, n| x * 9u32 % n,
            |x, n| x.modinv(n).unwrap(),
            |_, _| BigUint::from(1u32),
            |_, n| n - 1u32,
        ];
        for change in changes {
            for at in 0..=power as usize {
                let mut residues = vec![honest.last.clone()];
                residues.extend(honest.middles.iter().cloned());
                residues[at] = residue(p, &change(&value(&residues[at]), &n));
                let forged = of(residues.remove(0), residues);
                if !is_taken(&forged) {
                    continue;
                }
                assert_eq!(forged.is_prime(), honest.is_prime(), "{p} {at}");
                // To a proof of a composite that is not short its negative is the same.
                let is_negative = p > 8192 && value(&forged.last) == &n - value(&honest.last);
                assert!(forged.last == honest.last || is_negative, "{p} {at}");
            }
            // All middles alike.
            let x = residue(p, &change(&value(&honest.middles[0]), &n));
            let nine = Residue::from_u64(p, 9);
            assert!(!is_taken(&of(nine, vec![x; power as usize])), "{p}");
        }
    }
}
