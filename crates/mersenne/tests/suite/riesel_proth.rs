//! Tests of `k 2^n - 1` and `k 2^n + 1`, against trial division, num-bigint and primes that
//! are known.

use crate::common::outcome;
use crate::common::program::run;
use mersenne::{Cpu, Folder, Number, Saved, Step, is_prime};
use num_bigint::BigUint;

fn number(k: u32, n: u32, is_plus: bool) -> Number {
    Number::new(k, n, is_plus).unwrap()
}

fn worktype(is_plus: bool) -> &'static str {
    if is_plus { "Proth" } else { "LLR" }
}

#[test]
fn all_small_numbers_are_what_trial_division_finds() {
    let backend = Cpu::default();
    for n in 3..20_u32 {
        let ks = (1..bigint_testing::sweep(100, 200)).step_by(2);
        for k in ks.take_while(|&k| u64::from(k) >> n == 0) {
            for is_plus in [false, true] {
                let value = if is_plus { (k << n) + 1 } else { (k << n) - 1 };
                let test = Saved::new(number(k, n, is_plus), worktype(is_plus));
                let found = outcome(test, &backend);
                assert_eq!(
                    found.is_prime,
                    is_prime(value),
                    "{value} = {}",
                    number(k, n, is_plus)
                );
                assert_eq!(found.errors, 0);
            }
        }
    }
}

#[test]
fn known_primes_and_their_neighbours() {
    // Exponents of the primes there are to the last: OEIS A002235, A001770, A002253, A002254.
    let lists: [(u32, bool, &[u32]); 4] = [
        (
            3,
            false,
            &[
                3, 4, 6, 7, 11, 18, 34, 38, 43, 55, 64, 76, 94, 103, 143, 206, 216, 306, 324, 391,
                458, 470,
            ],
        ),
        (
            5,
            false,
            &[
                4, 8, 10, 12, 14, 18, 32, 48, 54, 72, 148, 184, 248, 270, 274, 420,
            ],
        ),
        (
            3,
            true,
            &[
                5, 6, 8, 12, 18, 30, 36, 41, 66, 189, 201, 209, 276, 353, 408, 438, 534,
            ],
        ),
        (5, true, &[3, 7, 13, 15, 25, 39, 55, 75, 85, 127]),
    ];
    let backend = Cpu::default();
    for (k, is_plus, primes) in lists {
        let last = *primes.last().unwrap();
        let found = (3..=last).filter(|&n| {
            outcome(
                Saved::new(number(k, n, is_plus), worktype(is_plus)),
                &backend,
            )
            .is_prime
        });
        assert_eq!(found.collect::<Vec<_>>(), primes, "{k} {is_plus}");
    }
}

#[test]
fn last_residues_are_num_bigints() {
    let backend = Cpu::default();
    for (k, n) in [(3, 1000), (7, 1279), (4_294_967_295, 500), (12_345, 2_000)] {
        // Proth: a^((N - 1) / 2) for the least odd or even a from 3 on with (a / N) = -1.
        let proth = number(k, n, true);
        let value = (BigUint::from(k) << n) + 1u32;
        let a = (3..100).find(|&a| proth.jacobi(a) == -1).unwrap();
        let power = BigUint::from(a).modpow(&((&value - 1u32) / 2u32), &value);
        let found = outcome(Saved::new(proth, "Proth"), &backend);
        assert_eq!(found.res64, power.iter_u64_digits().next().unwrap());
        assert_eq!(found.is_prime, power == &value - 1u32);
        // Riesel: V_k by its recurrence of one step, for small k.
        if k < 20_000 {
            let riesel = number(k, n, false);
            let value = (BigUint::from(k) << n) - 1u32;
            let suits = |p: &u32| riesel.jacobi(p - 2) == 1 && riesel.jacobi(p + 2) == -1;
            let p = BigUint::from([4].into_iter().chain(3..100).find(suits).unwrap());
            let (mut v, mut next) = (BigUint::from(2u32), p.clone());
            for _ in 0..k {
                let after = (&p * &next + &value - &v) % &value;
                (v, next) = (next, after);
            }
            let s = (0..n - 2).fold(v, |s, _| (&s * &s + &value - 2u32) % &value);
            let found = outcome(Saved::new(riesel, "LLR"), &backend);
            assert_eq!(found.res64, s.iter_u64_digits().next().unwrap_or(0));
            assert_eq!(found.is_prime, s == BigUint::from(0u32));
        }
    }
}

#[test]
fn a_test_at_rest_is_taken_up_again() {
    let backend = Cpu::default();
    for is_plus in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let files = Folder::new(folder.path());
        let number = number(9, 2297, is_plus);
        let whole = outcome(Saved::new(number, worktype(is_plus)), &backend);
        let start = Saved::new(number, worktype(is_plus));
        let mut test = start.clone();
        let mut runner = test.runner(&backend).unwrap();
        while test.progress().0 < 1200 {
            assert_eq!(test.advance(&mut runner, 100).unwrap(), Step::Going);
        }
        test.rest(&mut runner).unwrap();
        files.save(&test).unwrap();
        let (loaded, wrong) = files.load(&start).unwrap();
        assert!(wrong.is_empty());
        assert_eq!(loaded.as_ref(), Some(&test));
        assert_eq!(outcome(loaded.unwrap(), &backend), whole);
        // 9 2^2297 + 1 is a prime.
        assert_eq!(whole.is_prime, is_plus);
    }
}

#[test]
fn the_program_tests_them_too() {
    let folder = tempfile::tempdir().unwrap();
    for (word, k, n, c, status, worktype) in [
        ("llr", "3", "391", -1, "P", "LLR"),
        ("llr", "3", "392", -1, "C", "LLR"),
        ("proth", "3", "353", 1, "P", "Proth"),
        ("proth", "1", "16", 1, "P", "Proth"),
        ("proth", "1", "32", 1, "C", "Proth"),
    ] {
        let output = run(folder.path(), &[word, k, n, "--json"]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let line: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(line["status"], status, "{word} {k} {n}");
        assert_eq!(
            (&line["n"], &line["c"], &line["worktype"]),
            (
                &n.parse::<u32>().unwrap().into(),
                &c.into(),
                &worktype.into()
            )
        );
        assert_eq!(line.get("exponent"), None);
    }
    let results = std::fs::read_to_string(folder.path().join("results.json.txt")).unwrap();
    assert_eq!(results.lines().count(), 5);
    for (bad, what) in [
        (&["llr", "4", "10"][..], "even"),
        (&["proth", "9", "3"], "not below 2^3"),
        (&["proth", "3", "2"], "3.."),
        (&["llr", "3", "20", "--proof-power", "2"], "proof"),
    ] {
        let output = run(folder.path(), bad);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{bad:?}: {said}");
        assert!(said.contains(what), "{bad:?}: {said}");
    }
}

/// The low bits of `3^(N - 1)` modulo `N = k 2^n - 1`, by num-bigint.
fn fermat(k: u64, n: u32) -> u64 {
    let value = (BigUint::from(k) << n) - 1u32;
    let power = BigUint::from(3u32).modpow(&(&value - 1u32), &value);
    power.iter_u64_digits().next().unwrap_or(0)
}

/// The last residue by num-bigint: of Riesel's test from `V_k(P)` on, or Proth's power.
fn residue(k: u64, n: u32, is_plus: bool) -> u64 {
    let value = (BigUint::from(k) << n) + 1u32;
    let value = if is_plus { value } else { value - 2u32 };
    let low = |x: &BigUint| x.iter_u64_digits().next().unwrap_or(0);
    let jacobi = |a: u32| number(k as u32, n, is_plus).jacobi(a);
    if is_plus {
        let a = (3u32..1 << 16).find(|&a| jacobi(a) == -1).unwrap_or(3);
        return low(&BigUint::from(a).modpow(&((&value - 1u32) >> 1u32), &value));
    }
    let suits = |p: &u32| jacobi(p - 2) == 1 && jacobi(p + 2) == -1;
    let p = [4].into_iter().chain(3..1 << 16).find(suits).unwrap_or(4);
    let (mut before, mut v) = (BigUint::from(2u32), BigUint::from(p));
    for _ in 1..k {
        let next = (&v * p + &value - &before) % &value;
        (before, v) = (v, next);
    }
    for _ in 0..n - 2 {
        v = (&v * &v + &value - 2u32) % &value;
    }
    low(&v)
}

#[test]
fn numbers_of_a_sieve_s_file_are_tested_and_their_residues_are_the_exact_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (mut abc, mut newpgen) = ("ABC $a*2^$b$c\n".to_owned(), "1000:M:1:2:258\n".to_owned());
    let mut expected = Vec::new();
    for (k, n) in (1..40u64)
        .step_by(6)
        .flat_map(|k| (70..700).step_by(47).map(move |n| (k, n)))
    {
        abc += &format!("{k} {n} +1\n");
        expected.push((k, n, 1, "Proth"));
        if k > 1 {
            newpgen += &format!("{k} {n}\n");
            expected.push((k, n, -1, "PRP"));
            // A probable prime is proved to be one.
            expected.extend((fermat(k, n) == 1).then_some((k, n, -1, "LLR")));
        }
    }
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let abc = write("sieve.abc", abc + "5 100 +4\n");
    let newpgen = write("sieve.npg", newpgen);
    // A line that is not for it makes the exit code 1; a second run does nothing twice.
    for (file, code, again) in [
        (&abc, 1, false),
        (&newpgen, 0, false),
        (&newpgen, 0, true),
        (&abc, 1, true),
    ] {
        let output = run(folder.path(), &["file", file]);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.contains("res64"), !again, "{said}");
    }
    let text = std::fs::read_to_string(folder.path().join("results.json.txt")).unwrap();
    assert_eq!(text.lines().count(), expected.len());
    for line in text.lines() {
        let found: serde_json::Value = serde_json::from_str(line).unwrap();
        let [k, n] = ["k", "n"].map(|key| found[key].as_u64().unwrap());
        let (n, c) = (n as u32, found["c"].as_i64().unwrap());
        let worktype = found["worktype"].as_str().unwrap();
        let at = expected
            .iter()
            .position(|&other| other == (k, n, c, worktype))
            .unwrap();
        expected.swap_remove(at);
        let res64 = match worktype {
            "PRP" => fermat(k, n),
            _ => residue(k, n, c > 0),
        };
        assert_eq!(found["res64"], format!("{res64:016X}"), "{line}");
    }
    let bad = write("bad.txt", "3 391\n".to_owned());
    assert_eq!(run(folder.path(), &["file", &bad]).status.code(), Some(2));
}
