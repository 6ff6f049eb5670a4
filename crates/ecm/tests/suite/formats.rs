//! `--format`: lines and exit codes of other programs.

use std::process::Output;

use crate::program::{run, run_gmp_ecm};

/// Primes of 11 and of 39 digits.
const PRIMES: [&str; 2] = ["70000000033", "170141183460469231731687303715884105727"];

fn product(factors: &[&str]) -> String {
    let factors = factors
        .iter()
        .map(|factor| factor.parse::<num_bigint::BigUint>().unwrap());
    factors.product::<num_bigint::BigUint>().to_string()
}

/// The lines that tell of factors, and the exit code.
fn told(output: &Output) -> (Vec<String>, Option<i32>) {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let tells = |line: &&str| {
        line.starts_with('*') || line.starts_with("Found") || line.contains("cofactor")
    };
    let lines = text.lines().filter(tells).map(str::to_owned);
    (lines.collect(), output.status.code())
}

#[test]
fn by_gmp_ecms_format_lines_and_exit_codes_are_gmp_ecms() {
    let n = product(&PRIMES);
    let of_three = product(&["2147483647", PRIMES[0], PRIMES[1]]);
    let together = product(&["1000003", "1000033"]);
    // Neither stage finds a factor, the second or the first does; what is left is composite; all is found at once.
    for (n, sigma, b1, b2, code) in [
        (&n, "10", "150", "30000", 0),
        (&n, "33", "150", "30000", 14),
        (&n, "33", "30000", "0", 14),
        (&of_three, "35", "150", "3000", 6),
        (&together, "10", "20000", "0", 8),
    ] {
        let ours = run(&[
            n, "--b1", b1, "--b2", b2, "--sigma", sigma, "--param", "3", "--format", "gmp-ecm",
        ]);
        assert_eq!(ours.status.code(), Some(code), "{n} sigma {sigma}");
        let (theirs_sigma, theirs_b2) = (format!("3:{sigma}"), if b2 == "0" { "1" } else { b2 });
        let arguments = ["-sigma", &theirs_sigma, b1, theirs_b2];
        if let Some(theirs) = run_gmp_ecm(&arguments, &format!("{n}\n")) {
            assert_eq!(told(&ours), told(&theirs), "{n} sigma {sigma}");
        }
    }
}

#[test]
fn small_primes_are_told_one_after_another_and_bad_input_has_code_1() {
    let output = run(&["2*101^2*103", "--b1", "100", "--format", "gmp-ecm"]);
    let (lines, code) = told(&output);
    assert_eq!(code, Some(14));
    let factors: Vec<_> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("********** Factor found in step 1: "))
        .collect();
    assert_eq!(factors, ["2", "101", "101"]);
    assert_eq!(lines.last().unwrap(), "Prime cofactor 103 has 3 digits");
    let bad = run(&["12x", "--format", "gmp-ecm"]);
    assert_eq!((bad.status.code(), told(&bad).0), (Some(1), vec![]));
    // The last number decides.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers");
    std::fs::write(&path, format!("91\n{}\n", product(&PRIMES))).unwrap();
    let output = run(&[
        path.to_str().unwrap(),
        "--b1",
        "11",
        "--b2",
        "0",
        "--format",
        "gmp-ecm",
    ]);
    assert_eq!((output.status.code(), told(&output).0.len()), (Some(0), 3));
}

#[test]
fn p_minus_1_and_resumed_lines_have_gmp_ecms_format_too() {
    let n = product(&["129905914711", PRIMES[1]]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("save");
    let save = path.to_str().unwrap();
    let expected = [
        "********** Factor found in step 2: 129905914711".to_owned(),
        "Found prime factor of 12 digits: 129905914711".to_owned(),
        format!("Prime cofactor {} has 39 digits", PRIMES[1]),
    ];
    let output = run(&[
        &n, "--method", "p-1", "--b1", "1100", "--b2", "31000", "--save", save, "--format",
        "gmp-ecm",
    ]);
    assert_eq!(told(&output), (expected.to_vec(), Some(14)));
    let output = run(&["--resume", save, "--b2", "31000", "--format", "gmp-ecm"]);
    assert_eq!(told(&output), (expected.to_vec(), Some(14)));
}

#[test]
fn by_yafus_format_factors_are_named_by_their_digits() {
    let output = run(&[
        "2*(2^101-1)",
        "--b1",
        "1e4",
        "--curves",
        "200",
        "--format",
        "yafu",
    ]);
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = "\n***factors found***\n\nP1 = 2\nP13 = 7432339208719\nP18 = 341117531003194129\n\nans = 1\n\n";
    assert_eq!((text.as_str(), output.status.code()), (expected, Some(0)));
    let n = product(&PRIMES);
    let output = run(&[&n, "--b1", "11", "--b2", "0", "--format", "yafu"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains(&format!("***co-factor***\nC50 = {n}\n\nans = {n}\n")),
        "{text}"
    );
}
