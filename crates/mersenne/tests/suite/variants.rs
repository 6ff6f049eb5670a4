//! Tests of `2^p - 1` in other ways: with shifted residues, and of what is left without known factors.

use std::fs;
use std::process::Output;

use crate::common::outcome;
use crate::common::program::run;
use mersenne::{
    Arithmetic, Cofactor, Cpu, Folder, LucasLehmer, Number, Prp, Residue, Runner, Saved, Step,
};
use num_bigint::BigUint;

fn cpu(arithmetic: Arithmetic) -> Cpu {
    Cpu {
        arithmetic,
        ..Cpu::default()
    }
}

fn last_json(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last();
    serde_json::from_str(line.unwrap_or_else(|| panic!("{output:?}"))).unwrap()
}

#[test]
fn every_shift_has_the_same_residue() {
    // 31, 61 and 89 with each shift; then long ones, whose words have two lengths.
    let all = [5, 7, 13, 31, 61, 89, 67].map(|p| (p, (0..p).collect()));
    let some = [607, 1277, 1279, 2203].map(|p| (p, vec![0, 1, 2, 17, p / 2, p - 2, p - 1]));
    for (p, shifts) in all.into_iter().chain(some) {
        for arithmetic in [Arithmetic::Exact, Arithmetic::Fp64] {
            if arithmetic == Arithmetic::Fp64 && p < 600 {
                continue;
            }
            let backend = cpu(arithmetic);
            for test in [
                Saved::LucasLehmer(LucasLehmer::new(p)),
                Saved::Prp(Prp::new(p)),
            ] {
                let expected = outcome(test.clone(), &cpu(Arithmetic::Exact));
                for &shift in &shifts {
                    let shifted = test.clone().with_shift(shift);
                    assert_eq!(shifted.shift(), shift);
                    assert_eq!(outcome(shifted, &backend), expected, "M{p} {shift}");
                }
            }
        }
    }
}

#[test]
fn a_machine_that_is_shifted_has_other_digits_and_the_number_s_residues() {
    let p = 1279;
    let start = Residue::from_u64(p, u64::MAX).with_flipped_bit(p - 2);
    for (minus, shift) in [(0, 1000), (2, 77), (2, 1278)] {
        let backend = cpu(Arithmetic::Fp64);
        let mut runner = Runner::new(p, minus, &backend).unwrap().with_shift(shift);
        runner.set(&start).unwrap();
        let mut right = start.clone();
        for (times, by) in [(1, 1), (5, 1), (2, 3), (40, 1)] {
            runner.square_by([(times, by)]).unwrap();
            (0..times).for_each(|_| right = right.square_minus(by, minus));
            assert_eq!(runner.residue().unwrap(), right, "{minus} {shift}");
        }
        // A longer transform begins with the shift again.
        runner.square(3).unwrap();
        runner.lengthen().unwrap();
        assert_eq!(runner.residue().unwrap(), right);
    }
    // Others have none.
    let number = Number::new(9, 2297, true).unwrap();
    let proth = Saved::Prp(Prp::new(number)).with_shift(5);
    assert_eq!(proth.shift(), 0);
    assert_eq!(Residue::from_u64(p, 1).shifted(p), Residue::from_u64(p, 1));
}

#[test]
fn a_save_keeps_the_shift_and_the_result_says_it() {
    let folder = tempfile::tempdir().unwrap();
    let files = Folder::new(folder.path());
    let backend = cpu(Arithmetic::Fp64);
    for start in [
        Saved::LucasLehmer(LucasLehmer::new(1277)),
        Saved::Prp(Prp::new(1277)),
    ] {
        let mut test = start.clone().with_shift(321);
        let mut runner = test.runner(&backend).unwrap();
        assert_eq!(test.advance(&mut runner, 30).unwrap(), Step::Going);
        test.rest(&mut runner).unwrap();
        files.save(&test).unwrap();
        let (found, wrong) = files.load(&start).unwrap();
        assert_eq!((found, wrong.len()), (Some(test), 0));
    }
    for word in ["ll", "prp"] {
        let mut residues = Vec::new();
        for shift in ["0", "321", "1276"] {
            let arguments = [word, "1277", "--json", "--shift-count", shift];
            let own = tempfile::tempdir().unwrap();
            let found = last_json(&run(own.path(), &arguments));
            assert_eq!(found["shift-count"].to_string(), shift);
            residues.push(found["res64"].clone());
        }
        assert!(residues.iter().all(|residue| *residue == residues[0]));
    }
    // The one that was saved goes on with its own shift.
    let found = last_json(&run(folder.path(), &["prp", "1277", "--json"]));
    assert_eq!(found["shift-count"], 321);
}

/// Known factors of `2^p - 1`, from Cunningham's tables.
const FACTORS: [(u32, &[u64]); 9] = [
    (11, &[23]),
    (23, &[47]),
    (29, &[233, 1103]),
    (29, &[233]),
    (67, &[193_707_721]),
    (83, &[167]),
    (101, &[7_432_339_208_719]),
    (239, &[479, 1913, 5737, 176_383]),
    (1277, &[]),
];

fn number(p: u32) -> BigUint {
    (BigUint::from(1u32) << p) - 1u32
}

#[test]
fn cofactors_are_what_their_own_test_says() {
    let three = BigUint::from(3u32);
    let mut primes = 0;
    for (p, factors) in FACTORS {
        let factors: Vec<BigUint> = factors.iter().map(|&factor| factor.into()).collect();
        if factors.is_empty() {
            assert!(Cofactor::new(p, factors).is_err());
            continue;
        }
        let divisor: BigUint = factors.iter().product();
        let left = number(p) / &divisor;
        let cofactor = Cofactor::new(p, factors.clone()).unwrap();
        assert_eq!((cofactor.p(), cofactor.factors()), (p, &factors[..]));
        let mut test = Prp::new(p);
        let backend = Cpu::default();
        let start = Saved::Prp(test.clone());
        let mut runner = start.runner(&backend).unwrap();
        assert_eq!(test.says_of(&cofactor), None);
        let found = loop {
            if let Step::Done(outcome) = test.advance(&mut runner, 100).unwrap() {
                break outcome;
            }
        };
        // Of type 5: 3^(N d - 1) modulo N d.
        let residue = three.modpow(&(number(p) - 1u32), &number(p));
        let low = residue.iter_u64_digits().next().unwrap_or(0);
        assert_eq!(found.res64, low, "M{p}");
        let is_prime = three.modpow(&(&left - 1u32), &left) == BigUint::from(1u32);
        assert_eq!(test.says_of(&cofactor), Some(is_prime), "M{p} / {divisor}");
        primes += u32::from(is_prime);
        assert!(!found.is_prime);
    }
    assert_eq!(primes, 6);
    for bad in [&[3u64][..], &[23, 23], &[23, 89], &[1], &[0]] {
        let factors = bad.iter().map(|&factor| factor.into()).collect();
        assert!(Cofactor::new(11, factors).is_err(), "{bad:?}");
    }
}

#[test]
fn assignments_with_known_factors_are_tested_and_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "PRP=N/A,1,2,239,-1,75,0,3,5,\"479,1913,5737,176383\"\n\
                 PRP=N/A,1,2,67,-1,\"193707721\"\n\
                 PRP=N/A,1,2,67,-1\n";
    fs::write(folder.path().join("worktodo.txt"), lines).unwrap();
    let output = run(folder.path(), &["work"]);
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(folder.path().join("results.json.txt")).unwrap();
    let found: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let expected = [
        // 134000609 and a prime of 48 digits are left.
        (
            239,
            "C",
            5,
            Some(["479", "1913", "5737", "176383"].to_vec()),
        ),
        (67, "P", 5, Some(["193707721"].to_vec())),
        (67, "C", 1, None),
    ];
    assert_eq!(found.len(), expected.len());
    for (line, (p, status, kind, factors)) in found.iter().zip(expected) {
        assert_eq!(line["exponent"], p);
        assert_eq!(
            (&line["status"], &line["residue-type"]),
            (&status.into(), &kind.into())
        );
        let known = factors.map_or(serde_json::Value::Null, Into::into);
        assert_eq!(
            line.get("known-factors").cloned().unwrap_or_default(),
            known
        );
    }
    let left = run(
        folder.path(),
        &["prp", "67", "--known-factors", "193707721", "--json"],
    );
    assert_eq!(last_json(&left)["status"], "P");
    let bad = run(
        folder.path(),
        &["prp", "67", "--known-factors", "193707723"],
    );
    assert_eq!(bad.status.code(), Some(2));
}
