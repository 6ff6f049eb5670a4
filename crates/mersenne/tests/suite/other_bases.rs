//! Tests of `k b^n + c`, against trial division, num-bigint and primes that are known.

use crate::common::killed::run_and_kill;
use crate::common::outcome;
use crate::common::program::run;
use bigint_testing::sweep;
use mersenne::{
    Arithmetic, Backend, Cpu, Error, Folder, Multiplying, Number, Outcome, Residue, Runner, Saved,
    Squaring, Step, is_prime,
};
use num_bigint::BigUint;

fn value(number: Number) -> BigUint {
    let power = BigUint::from(number.base()).pow(number.n()) * number.k();
    match number.c() {
        c if c < 0 => power - c.unsigned_abs(),
        c => power + c.unsigned_abs(),
    }
}

fn low(x: &BigUint) -> u64 {
    x.iter_u64_digits().next().unwrap_or(0)
}

/// The outcomes of the tests that a number asks for, one after another.
fn outcomes(number: Number) -> Vec<Outcome> {
    let (backend, mut found) = (Cpu::default(), Vec::new());
    for worktype in Saved::worktypes(number) {
        let outcome = outcome(Saved::new(number, worktype), &backend);
        found.push(outcome);
        if !outcome.is_prime {
            break;
        }
    }
    found
}

#[test]
fn small_numbers_are_what_trial_division_finds_and_primes_are_proved() {
    let (mut tested, mut proved) = (0, 0);
    for (k, b, n, c) in [3u32, 5, 6, 7, 10, 12, 30, 1000]
        .into_iter()
        .flat_map(|b| (2..7).flat_map(move |n| (1..sweep(20, 40)).map(move |k| (k, b, n))))
        .flat_map(|(k, b, n)| [-1, 1, -2, 3].map(|c| (k, b, n, c)))
    {
        let Ok(number) = Number::of(k, b, n, c) else {
            continue;
        };
        let value = value(number);
        let Ok(small) = u32::try_from(&value) else {
            continue;
        };
        tested += 1;
        let found = outcomes(number);
        // Fermat's test says of some composite numbers that they are prime; the proofs do not.
        let fermat = BigUint::from(3u32).modpow(&(&value - 1u32), &value);
        assert_eq!(found[0].res64, low(&fermat), "{number}");
        assert_eq!(found[0].is_prime, fermat == BigUint::from(1u32), "{number}");
        let has_proof = number.has_proof() && !number.is_binary();
        if has_proof && found[0].is_prime {
            assert_eq!(found[1].is_prime, is_prime(small), "{number}");
            proved += 1;
        } else {
            assert!(found[0].is_prime || !is_prime(small), "{number}");
            assert_eq!(found.len(), 1);
        }
    }
    let [some, primes] = sweep([700, 150], [1500, 300]);
    assert!(tested > some && proved > primes, "{tested} {proved}");
}

#[test]
fn known_primes_and_no_others() {
    // Exponents of the primes 2 3^n - 1 (OEIS A003307), 2 3^n + 1 (A003306) and 4 5^n - 1 (A046865) that are
    // above 64.
    for (k, b, c, primes) in [
        (
            2,
            3,
            -1,
            &[7, 8, 12, 20, 23, 27, 35, 56, 62, 68, 131, 222][..],
        ),
        (
            2,
            3,
            1,
            &[4, 5, 6, 9, 16, 17, 30, 54, 57, 60, 65, 132, 180, 320],
        ),
        (4, 5, -1, &[9, 13, 15, 25, 39, 69, 165, 171]),
    ] {
        let last = *primes.last().unwrap();
        let found: Vec<u32> = (4..=last)
            .filter(|&n| {
                let found = outcomes(Number::of(k, b, n, c).unwrap());
                assert!(found.len() == 2 || !found[0].is_prime);
                found.last().unwrap().is_prime
            })
            .collect();
        assert_eq!(found, primes, "{k} {b} {c}");
    }
}

#[test]
fn residues_of_hundreds_of_longer_numbers_are_num_bigints() {
    let mut tested = 0;
    for (i, b) in [3u32, 5, 7, 10, 11, 22, 1000, 65_535, 4_294_967_291]
        .into_iter()
        .enumerate()
    {
        for (j, bits) in (100..1500).step_by(80).enumerate() {
            let n = (f64::from(bits) / f64::from(b).log2()) as u32;
            for c in [-1, 1, 13, -30, 2_147_483_647] {
                let k = [1, 2, 9, 1234, 4_294_967_294][(i + j) % 5];
                let [k, n] = [k, u64::from(n)];
                let Ok(number) =
                    Number::of(k, b, n as u32, c).or_else(|_| Number::of(k + 1, b, n as u32, c))
                else {
                    continue;
                };
                let value = value(number);
                let power = BigUint::from(3u32).modpow(&(&value - 1u32), &value);
                let found = outcome(Saved::new(number, "PRP"), &Cpu::default());
                assert_eq!(found.res64, low(&power), "{number}");
                assert_eq!(found.is_prime, power == BigUint::from(1u32), "{number}");
                tested += 1;
            }
        }
    }
    assert!(tested >= 500, "{tested}");
}

/// The CPU with transforms.
fn transforms() -> Cpu {
    Cpu {
        arithmetic: Arithmetic::Fp64,
        ..Cpu::default()
    }
}

#[test]
fn transforms_have_the_residues_of_exact_products() {
    let mut tested = 0;
    for (k, b, c) in [
        (3, 2, -1),
        (3, 2, 1),
        (315, 2, 1),
        (100_001, 2, -1),
        (100_001, 2, 1),
        (1, 2, 1),
        (2, 3, 1),
        (2, 3, -1),
        (4, 3, 5),
        (7, 6, 1),
        (6, 7, -5),
        (9, 10, -1),
        (9, 1000, 1),
        (1, 12, 1),
        (12, 10, 61),
        (8, 25, 3),
        (5, 22, -1),
    ] {
        for bits in [1500, 2200, 3700, 5200].into_iter().take(sweep(3, 4)) {
            let n = (f64::from(bits) / f64::from(b).log2()) as u32;
            let number = Number::of(k, b, n, c).unwrap();
            let worktype = Saved::worktypes(number)[0];
            let start = Saved::new(number, worktype);
            let backend = transforms();
            let has_transform = start.runner(&backend).unwrap().words().is_some();
            assert!(has_transform || bits < 3000, "{number}");
            let [exact, found] = [Arithmetic::Exact, Arithmetic::Fp64].map(|arithmetic| {
                let backend = Cpu {
                    arithmetic,
                    ..Cpu::default()
                };
                outcome(start.clone(), &backend)
            });
            assert_eq!(found, exact, "{number}");
            if worktype == "PRP" {
                let value = value(number);
                let power = BigUint::from(3u32).modpow(&(&value - 1u32), &value);
                assert_eq!(found.res64, low(&power), "{number}");
            }
            tested += u32::from(has_transform);
        }
    }
    assert!(tested > sweep(20, 40), "{tested}");
    // 9 2^2297 + 1, 3 2^1274 - 1, 2 3^1454 + 1 and 2 3^222 - 1 are primes.
    for (k, b, n, c) in [
        (9, 2, 2297, 1),
        (3, 2, 1274, -1),
        (2, 3, 1454, 1),
        (2, 3, 222, -1),
    ] {
        let number = Number::of(k, b, n, c).unwrap();
        for worktype in Saved::worktypes(number) {
            let found = outcome(Saved::new(number, worktype), &transforms());
            assert!(found.is_prime && found.errors == 0, "{number} {worktype}");
        }
    }
    // There is none for so great a k or c.
    for (k, b, n, c) in [(4_294_967_291, 2, 20_000, -1), (2, 3, 9000, 999)] {
        let number = Number::of(k, b, n, c).unwrap();
        let backend = transforms();
        let runner = Saved::new(number, "PRP").runner(&backend).unwrap();
        assert_eq!(runner.words(), None, "{number}");
    }
}

/// A test at some step, and a machine at work on it.
fn advanced(start: &Saved, to: u32) -> Saved {
    let backend = Cpu::default();
    let mut test = start.clone();
    let mut runner = test.runner(&backend).unwrap();
    while test.progress().0 < to {
        assert_eq!(test.advance(&mut runner, 10).unwrap(), Step::Going);
    }
    test.rest(&mut runner).unwrap();
    test
}

#[test]
fn tests_at_rest_are_taken_up_again() {
    for (k, b, n, c, worktype) in [
        (2, 3, 320, 1, "PRP"),
        (5, 7, 200, 4, "PRP"),
        (2, 3, 320, 1, "N-1"),
        (2, 3, 222, -1, "N+1"),
        (6, 1000, 50, -1, "N+1"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let files = Folder::new(folder.path());
        let start = Saved::new(Number::of(k, b, n, c).unwrap(), worktype);
        let whole = outcome(start.clone(), &Cpu::default());
        for to in [1, 57, 200] {
            let test = advanced(&start, to);
            files.save(&test).unwrap();
            let (loaded, wrong) = files.load(&start).unwrap();
            assert!(wrong.is_empty(), "{worktype} {wrong:?}");
            assert_eq!(loaded.as_ref(), Some(&test), "{worktype}");
            assert_eq!(outcome(loaded.unwrap(), &Cpu::default()), whole);
        }
        // A save of another number or test is not taken for it.
        let other = Saved::new(Number::of(k + 2, b, n, c).unwrap(), "PRP");
        std::fs::copy(
            folder.path().join(mersenne::Save::name(&start)),
            folder.path().join(mersenne::Save::name(&other)),
        )
        .unwrap();
        assert!(files.load(&other).is_err());
    }
}

/// Transforms that are too short at first.
struct Short;

impl Backend for Short {
    fn name(&self) -> &str {
        "short"
    }

    fn squaring(&self, number: Number, _: Option<usize>) -> Result<Box<dyn Squaring>, Error> {
        transforms().squaring(number, None)
    }

    fn multiplying(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Multiplying>, Error> {
        transforms().multiplying(number, Some(longer_than.unwrap_or(320)))
    }
}

#[test]
fn lucas_sequences_go_by_transforms_as_by_exact_products() {
    let exact = Cpu {
        arithmetic: Arithmetic::Exact,
        ..Cpu::default()
    };
    for (k, b, n) in [(2, 3, 5800), (3, 2, 9200), (9, 10, 2770), (1, 1000, 920)] {
        let number = Number::of(k, b, n, -1).unwrap();
        let terms = [2, 65_521].map(|x| Residue::from_u64(number, x));
        let bits: Vec<bool> = (0..60u32)
            .map(|i| 0x9e37_79b9u32 >> (i % 32) & 1 == 1)
            .collect();
        let modulus = value(number);
        let [mut v, mut next] = [2u32, 65_521].map(BigUint::from);
        for &bit in &bits {
            let between = (&v * &next + &modulus - 65_521u32) % &modulus;
            let doubled = if bit { &next } else { &v };
            let doubled = (doubled * doubled + &modulus - 2u32) % &modulus;
            (v, next) = if bit {
                (between, doubled)
            } else {
                (doubled, between)
            };
        }
        let expected = [v, next].map(|x| Residue::from_bytes(number, &x.to_bytes_le()));
        let machines: [&dyn Backend; 3] = [&exact, &transforms(), &Short];
        let [right, found, longer] = machines.map(|backend| {
            let mut runner = Runner::new(number, 0, backend).unwrap();
            let terms = runner.lucas(&terms, 65_521, &bits[..30]).unwrap();
            let terms = runner.lucas(&terms, 65_521, &bits[30..]).unwrap();
            (terms, runner.words(), runner.lengthened() > 0)
        });
        assert_eq!(
            (right.1, found.1.is_some(), longer.2),
            (None, true, true),
            "{number}"
        );
        assert!(
            [right.0, found.0, longer.0]
                .iter()
                .all(|terms| *terms == expected),
            "{number}"
        );
    }
}

#[test]
fn an_error_on_the_way_is_found_and_undone() {
    for (worktype, backend) in [
        ("PRP", Cpu::default()),
        ("N-1", Cpu::default()),
        ("PRP", transforms()),
    ] {
        let number = Number::of(2, 3, 320, 1).unwrap();
        let start = Saved::new(number, worktype);
        let whole = outcome(start.clone(), &Cpu::default());
        assert!(whole.is_prime && whole.errors == 0);
        for (at, bit) in [(3, 5), (250, 300), (495, 0)] {
            let mut test = start.clone();
            let mut runner = test.runner(&backend).unwrap();
            let mut has_erred = false;
            let found = loop {
                if let Step::Done(found) = test.advance(&mut runner, 1).unwrap() {
                    break found;
                }
                if test.progress().0 == at && !has_erred {
                    has_erred = true;
                    let wrong = runner.residue().unwrap().with_flipped_bit(bit);
                    runner.set(&wrong).unwrap();
                }
            };
            assert_eq!((found.is_prime, found.errors), (true, 1), "{worktype} {at}");
            assert_eq!(found.res64, whole.res64);
        }
    }
}

#[test]
fn the_program_tests_and_proves_them() {
    let folder = tempfile::tempdir().unwrap();
    for (number, worktypes, status) in [
        ("2*3^320+1", &["PRP", "N-1"][..], "P"),
        ("2*3^222-1", &["PRP", "N+1"], "P"),
        ("2*3^223-1", &["PRP"], "C"),
        ("1*10^99+289", &["PRP"], "P"),
        ("3*2^391-1", &["PRP", "LLR"], "P"),
        ("9*4^1148+1", &["Proth"], "C"),
    ] {
        let output = run(folder.path(), &["test", number, "--json"]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let found: Vec<&str> = lines
            .iter()
            .map(|line| line["worktype"].as_str().unwrap())
            .collect();
        assert_eq!(found, worktypes, "{number}");
        assert_eq!(lines.last().unwrap()["status"], status, "{number}");
        if worktypes[0] == "PRP" {
            let number = mersenne::number(number).unwrap();
            let (value, line) = (value(number), &lines[0]);
            let power = BigUint::from(3u32).modpow(&(&value - 1u32), &value);
            let old = (&power * 3u32 + &value - 3u32) % &value;
            assert_eq!(line["res64"], format!("{:016X}", low(&power)));
            assert_eq!(line["old64"], format!("{:016X}", low(&old)));
            let form = ["k", "b", "n"].map(|key| line[key].as_u64().unwrap() as u32);
            assert_eq!(form, [number.k(), number.base(), number.n()]);
            assert_eq!(line["c"], number.c());
        }
    }
    // What is there is not done again, and is said to be there.
    let results = folder.path().join("results.json.txt");
    let before = std::fs::read_to_string(&results).unwrap();
    let output = run(folder.path(), &["test", "2*3^320+1"]);
    assert!(
        output.status.success()
            && String::from_utf8_lossy(&output.stderr).contains("results.json.txt already"),
        "{output:?}"
    );
    assert_eq!(std::fs::read_to_string(&results).unwrap(), before);
    for (number, what) in [
        ("2*3^320", "form"),
        ("3*3^320+1", "even"),
        ("2*1^320+1", "above 1"),
        ("99*2^4+1", "below 2^n"),
        ("2*3^2+1", "small"),
        ("2*3^4000000000+1", "2^31"),
    ] {
        let output = run(folder.path(), &["test", number]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{number}: {said}");
        assert!(said.contains(what), "{number}: {said}");
    }
}

#[test]
fn tests_leave_proofs_that_others_check() {
    let folder = tempfile::tempdir().unwrap();
    for (number, name, status) in [
        ("3*2^391-1", "3x2^391-1", "P"),
        ("9*2^2297+1", "9x2^2297+1", "P"),
        ("2*3^1453+1", "2x3^1453+1", "C"),
    ] {
        let arguments = ["test", number, "--json", "--proof-power", "3"];
        let output = run(folder.path(), &arguments);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(line["proof"]["power"], 3, "{number}");
        let path = folder.path().join(format!("{name}-3.proof"));
        let file = path.to_str().unwrap();
        let output = run(folder.path(), &["verify", file, "--json"]);
        assert!(output.status.success(), "{output:?}");
        let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&line["status"], &line["proof-power"]),
            (&status.into(), &3.into())
        );
        assert_eq!(line["n"], mersenne::number(number).unwrap().n());
        // Its residues are of no more use.
        assert!(!folder.path().join(format!("{name}.residues")).exists());
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 2;
        bytes[last] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let output = run(folder.path(), &["verify", file]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
}

#[test]
fn a_test_that_is_killed_again_and_again_goes_on_to_its_proof() {
    let folder = tempfile::tempdir().unwrap();
    // 2 3^1454 + 1 is a prime (OEIS A003306).
    let arguments = ["test", "2*3^1454+1", "--save-every", "1ms"];
    for milliseconds in [20, 40, 60, 80] {
        run_and_kill(folder.path(), &arguments, milliseconds);
    }
    let output = run(folder.path(), &arguments);
    assert!(output.status.success(), "{output:?}");
    let results = std::fs::read_to_string(folder.path().join("results.json.txt")).unwrap();
    let worktypes: Vec<bool> = results
        .lines()
        .map(|line| line.contains(r#""N-1""#))
        .collect();
    assert_eq!(worktypes, [false, true], "{results}");
    assert_eq!(results.matches(r#""status":"P""#).count(), 2, "{results}");
}

#[test]
fn a_sieve_s_file_of_other_bases_is_done_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sieve.abc");
    let mut text = "ABC $a*$b^$c$d\n".to_owned();
    let mut numbers = Vec::new();
    for (k, b, n) in [
        (2, 3, 57),
        (2, 3, 100),
        (4, 5, 69),
        (6, 10, 50),
        (16, 15, 40),
    ] {
        for c in ["+1", "-1", "+11"] {
            text += &format!("{k} {b} {n} {c}\n");
            numbers.extend(mersenne::number(&format!("{k}*{b}^{n}{c}")));
        }
    }
    std::fs::write(&path, text + "3 3 9 +1\n").unwrap();
    for is_first in [true, false] {
        let output = run(folder.path(), &["file", path.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains("sieve.abc:17:1: 3*3^9+1: it is even"),
            "{said}"
        );
        assert_eq!(said.contains("res64"), is_first, "{said}");
    }
    let results = std::fs::read_to_string(folder.path().join("results.json.txt")).unwrap();
    let prps = results
        .lines()
        .filter(|line| line.contains(r#""PRP""#))
        .count();
    assert_eq!(prps, numbers.len());
    for number in numbers {
        let power = BigUint::from(3u32).modpow(&(value(number) - 1u32), &value(number));
        let res64 = format!("{:016X}", low(&power));
        assert!(results.contains(&res64), "{number}");
    }
}
