//! Every operator and function that the declarations write, on signed numbers, beside
//! num-bigint.

use crate::common::Workplace;
use num_bigint::BigInt;

fn abs(a: &BigInt) -> BigInt {
    BigInt::from(a.magnitude().clone())
}

/// `a / 2^bits`, rounded down.
fn floor_shift(a: &BigInt, bits: u32) -> BigInt {
    let divisor = BigInt::from(1) << bits;
    let rest = ((a % &divisor) + &divisor) % &divisor;
    (a - rest) / divisor
}

/// Numbers around zero, around limbs' ends, and long ones, of both signs; a zero with a
/// sign too.
fn numbers() -> Vec<(String, BigInt)> {
    let one = BigInt::from(1);
    let mut numbers = vec![
        ("-0".to_owned(), BigInt::ZERO),
        ("0".to_owned(), BigInt::ZERO),
    ];
    for bits in [0, 1, 3, 31, 32, 33, 64, 100, 1000] {
        for near in [-1, 0, 1_i32] {
            for sign in [-1, 1] {
                let number: BigInt = ((&one << bits) + BigInt::from(near)) * sign;
                numbers.push((number.to_string(), number));
            }
        }
    }
    numbers
}

/// Computes `text` over all pairs of numbers, and compares.
fn check(text: &str, meaning: impl Fn(&BigInt, &BigInt) -> BigInt) {
    let place = Workplace::new();
    let numbers = numbers();
    let (mut a, mut b, mut expected) = (String::new(), String::new(), String::new());
    for (x_text, x) in &numbers {
        for (y_text, y) in numbers.iter().step_by(5) {
            a += &format!("{x_text}\n");
            b += &format!("{y_text}\n");
            expected += &format!("{}\n", meaning(x, y));
        }
    }
    place.file("a", a);
    place.file("b", b);
    let mut arguments = vec!["--backend", "cpu", text, "--let", "a=a"];
    if text.contains('b') {
        arguments.extend(["--let", "b=b"]);
    }
    assert_eq!(place.calc(&arguments), expected, "{text}");
}

#[test]
fn functions_of_signed_numbers_are_those_of_num_bigint() {
    check("min(a, b)", |a, b| a.min(b).clone());
    check("max(a, b) - a", |a, b| a.max(b) - a);
    check("cmp(a, b)", |a, b| BigInt::from(a.cmp(b) as i8));
    check("abs(a - b)", |a, b| abs(&(a - b)));
    check("a * b + b", |a, b| a * b + b);
    check("a + a - b * b", |a, b| a + a - b * b);
}

#[test]
fn bits_are_of_the_magnitude() {
    let place = Workplace::new();
    let numbers = numbers();
    let text: String = numbers
        .iter()
        .map(|(text, _)| format!("{text}\n"))
        .collect();
    let bits = numbers
        .iter()
        .map(|(_, number)| format!("{}\n", number.bits()));
    place.file("n", text);
    assert_eq!(
        place.calc(&["bits(n)", "--let", "n=n"]),
        bits.collect::<String>()
    );
}

#[test]
fn shifts_round_down_as_pythons_do() {
    for bits in [0, 1, 31, 32, 33, 70] {
        check(&format!("a >> {bits} << 0"), |a, _| floor_shift(a, bits));
        check(&format!("(a << {bits}) - 1"), |a, _| (a << bits) - 1);
    }
    let place = Workplace::new();
    place.file("a", "-7\n7\n-1\n-8\n5\n");
    place.file("k", "1\n1\n100\n3\n64\n");
    let shifted = place.calc(&["a >> k", "--let", "a=a", "--let", "k=k"]);
    assert_eq!(shifted, "-4\n3\n-1\n-1\n0\n");
    let shifted = place.calc(&["a << k", "--let", "a=a", "--let", "k=k", "--format", "hex"]);
    assert_eq!(
        shifted,
        format!(
            "-0xe\n0xe\n-0x1{}\n-0x40\n0x5{}\n",
            "0".repeat(25),
            "0".repeat(16)
        )
    );
}

/// `a / b` rounded down, and what it leaves.
fn floor_division(a: &BigInt, b: &BigInt) -> (BigInt, BigInt) {
    let rest = ((a % b) + b) % b;
    ((a - &rest) / b, rest)
}

#[test]
fn quotients_and_remainders_are_pythons() {
    // Odd, and so not zero.
    let divisor = |b: &BigInt| b * BigInt::from(2) + BigInt::from(1);
    check("a / (2*b + 1)", |a, b| floor_division(a, &divisor(b)).0);
    check("a % (2*b + 1)", |a, b| floor_division(a, &divisor(b)).1);
    let place = Workplace::new();
    place.file("a", "-7\n7\n-7\n7\n-6\n");
    place.file("b", "2\n-2\n-2\n2\n3\n");
    let divided = |text| place.calc(&[text, "--let", "a=a", "--let", "b=b"]);
    assert_eq!(divided("a / b"), "-4\n-4\n3\n3\n-2\n");
    assert_eq!(divided("a % b"), "1\n-1\n-1\n1\n0\n");
    assert_eq!(place.calc(&["10 - 7 / 2 % 2 * 3"]), "7\n");
}

#[test]
fn a_divisor_of_zero_is_told_with_its_line() {
    let place = Workplace::new();
    place.file("a", "1\n2\n-3\n");
    place.file("b", "1\n# none\n2\n  -0\n");
    for text in ["a / b", "a % b"] {
        let ended = place.run(&["calc", text, "--let", "a=a", "--let", "b=b", "-o", "r"]);
        assert!(
            ended.stderr.starts_with("error: b:4:3: "),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains("zero"), "{}", ended.stderr);
        assert_eq!((ended.code, place.files().len()), (2, 2));
        let text = format!("{text} * (a - b)").replace("b *", "(b - b) *");
        let ended = place.run(&["calc", &text, "--let", "a=a", "--let", "b=b"]);
        assert!(ended.stderr.contains("zero"), "{}", ended.stderr);
        assert_eq!(ended.code, 1);
    }
}

#[test]
fn divisors_roots_and_symbols_are_pythons() {
    let place = Workplace::new();
    place.file("a", "-12\n18\n0\n0x10000000000000000\n");
    place.file("b", "18\n-12\n0\n-24\n");
    let of_both = |text| place.calc(&[text, "--let", "a=a", "--let", "b=b"]);
    assert_eq!(of_both("gcd(a, b)"), "6\n6\n0\n8\n");
    assert_eq!(of_both("lcm(a, b)"), "36\n36\n0\n55340232221128654848\n");
    place.file(
        "n",
        "0\n1\n15\n16\n17\n340282366920938463463374607431768211455\n",
    );
    let roots = place.calc(&["isqrt(n)", "--let", "n=n"]);
    assert_eq!(roots, "0\n1\n3\n4\n4\n18446744073709551615\n");
    let roots = place.calc(&["iroot(n, 3)", "--let", "n=n"]);
    assert_eq!(roots, "0\n1\n2\n2\n2\n6981463658331\n");
    place.file("x", "3\n-3\n1\n0\n-8\n");
    place.file("m", "7\n7\n2\n1\n15\n");
    let of_moduli = |text| place.calc(&[text, "--let", "x=x", "--let", "m=m"]);
    assert_eq!(of_moduli("invmod(x, m)"), "5\n2\n1\n0\n13\n");
    let symbols = place.calc(&["jacobi(x, 15 + 2*abs(x) - 2*abs(x))", "--let", "x=x"]);
    assert_eq!(symbols, "0\n0\n1\n0\n-1\n");
}

#[test]
fn powers_are_pythons_and_bind_as_they_do() {
    let power = |a: &BigInt, e: u32| (0..e).fold(BigInt::from(1), |power, _| power * a);
    for e in [0, 1, 2, 3, 7] {
        check(&format!("a^{e}"), |a, _| power(a, e));
        check(&format!("-a^{e} + b"), |a, b| b - power(a, e));
    }
    let place = Workplace::new();
    assert_eq!(place.calc(&["2^3^2 - -2^2"]), "516\n");
    assert_eq!(place.calc(&["(0 - 1)^(2^60)"]), "1\n");
    let power = BigInt::from(10).pow(1000);
    assert_eq!(place.calc(&["10^1000 + 0"]), format!("{power}\n"));
    place.file("a", "-2\n10\n0\n3\n");
    place.file("e", "3\n20\n0\n1\n");
    let powers = place.calc(&["a^e", "--let", "a=a", "--let", "e=e"]);
    assert_eq!(powers, "-8\n100000000000000000000\n1\n3\n");
    assert_eq!(
        place.calc(&["sum(2^e)", "--let", "e=e"]),
        format!("{}\n", 8 + (1 << 20) + 1 + 2)
    );
}

#[test]
fn an_exponent_below_zero_is_told_with_its_line() {
    let place = Workplace::new();
    place.file("e", "3\n-1\n");
    let ended = place.run(&["calc", "2^e", "--let", "e=e", "-o", "r"]);
    let told = "error: e:2:1: a ^ e: e is negative";
    assert!(ended.stderr.starts_with(told), "{}", ended.stderr);
    assert_eq!((ended.code, place.files().len()), (2, 1));
    let ended = place.run(&["calc", "3^(2^70)"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
}

#[test]
fn primes_are_told_and_found() {
    let place = Workplace::new();
    let prime: BigInt = (BigInt::from(1) << 127u32) - 1u32;
    let square = &prime * &prime;
    place.file("n", format!("-7\n0\n1\n2\n3\n561\n{prime}\n{square}\n"));
    let told = place.calc(&["is_prime(n)", "--let", "n=n"]);
    assert_eq!(told, "0\n0\n0\n1\n1\n0\n1\n0\n");
    place.file("n", "-7\n0\n1\n2\n3\n561\n1000000\n18446744073709551615\n");
    let next = place.calc(&["next_prime(n)", "--let", "n=n"]);
    assert_eq!(next, "2\n2\n2\n3\n5\n563\n1000003\n18446744073709551629\n");
    assert_eq!(place.calc(&["is_prime(next_prime(10^30)) + 1"]), "2\n");
}

#[test]
fn what_has_no_inverse_root_or_symbol_is_told_with_its_line() {
    let place = Workplace::new();
    place.file("a", "1\n\n6\n");
    place.file("m", "9\n9\n");
    place.file("k", "1\n0\n");
    for (text, told) in [
        (
            "invmod(a, m)",
            "error: a:3:1: invmod(a, m): a and m have a common divisor (with m:2:1)",
        ),
        (
            "jacobi(m, a)",
            "error: a:3:1: jacobi(a, n): n is even (with m:2:1)",
        ),
        (
            "iroot(a, k)",
            "error: k:2:1: iroot(a, k): k is zero (with a:3:1)",
        ),
        (
            "powmod(a, 5, k)",
            "error: k:2:1: powmod(a, e, m): m is zero (with a:3:1)",
        ),
    ] {
        let ended = place.run(&["calc", text, "--let", "a=a", "--let", "m=m", "--let", "k=k"]);
        assert!(ended.stderr.contains(told), "{text}: {}", ended.stderr);
        assert_eq!(ended.code, 2);
    }
}

#[test]
fn totals_are_one_line_of_all_lines() {
    let place = Workplace::new();
    let numbers: Vec<BigInt> = numbers().into_iter().map(|(_, number)| number).collect();
    let text: String = numbers.iter().map(|number| format!("{number}\n")).collect();
    place.file("n", text);
    let sum: BigInt = numbers.iter().sum();
    assert_eq!(place.calc(&["sum(n)", "--let", "n=n"]), format!("{sum}\n"));
    let odd: BigInt = numbers.iter().map(|n| n * 2u32 + 1u32).product();
    let text = "product(2*n + 1) - sum(n) * 3";
    let expected = format!("{}\n", odd - sum * 3u32);
    assert_eq!(place.calc(&[text, "--let", "n=n"]), expected);
    // Numbers of unlike widths are in several groups and windows.
    let many: Vec<String> = (0..20_000_u64)
        .map(|i| format!("-0x{:x}", i << (i % 40)))
        .collect();
    place.file("many", many.join("\n"));
    let sum: i128 = (0..20_000).map(|i: i128| i << (i % 40)).sum();
    assert_eq!(
        place.calc(&["sum(m)", "--let", "m=many"]),
        format!("-{sum}\n")
    );
    place.file("none", "");
    assert_eq!(place.calc(&["sum(n)", "--let", "n=none"]), "0\n");
    assert_eq!(place.calc(&["product(n) + 1", "--let", "n=none"]), "2\n");
    assert_eq!(place.calc(&["sum(3) + product(4)"]), "7\n");
}

#[test]
fn a_negative_shift_is_told_with_its_line() {
    let place = Workplace::new();
    place.file("a", "1\n2\n3\n");
    place.file("k", "1\n# two\n-0\n  -2\n");
    for text in ["a << k", "a >> k"] {
        let ended = place.run(&["calc", text, "--let", "a=a", "--let", "k=k", "-o", "r"]);
        let written = text.replace('k', "bits");
        let told = format!("error: k:4:3: {written}: bits is negative (with a:3:1)\n");
        assert_eq!(ended.stderr, told);
        assert_eq!((ended.code, place.files().len()), (2, 2));
    }
    let ended = place.run(&["calc", "a << (a - 2)", "--let", "a=a"]);
    let told = "error: a:1:1: a << bits: bits is negative\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (1, told));
}

#[test]
fn lines_beside_a_total_are_refused() {
    let place = Workplace::new();
    place.file("a", "1\n2\n3\n");
    let ended = place.run(&["calc", "a - sum(a)", "--let", "a=a"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .starts_with("error: expression:1:1: rows cannot")
    );
}

#[test]
fn help_names_what_the_declarations_write() {
    let place = Workplace::new();
    let help = place.run(&["calc", "--help"]).stdout;
    let help: String = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for known in [
        "+, -, *, /, %",
        "^, abs(a), is_prime(a), next_prime(a)",
        "gcd(a, b)",
        "<<, >>",
        "min(a, b)",
        "cmp(a, b)",
        "bits(a)",
        "abs(a)",
        "sum(a)",
    ] {
        assert!(help.contains(known), "{known} is not in {help}");
    }
}

#[test]
fn an_algorithm_that_only_a_part_has_is_taken() {
    let place = Workplace::new();
    for (text, algorithm) in [
        ("a*a", "school"),
        ("a*a+3", "karatsuba"),
        ("a*b+3", "school"),
    ] {
        let arguments = [
            text,
            "--let",
            "a=5",
            "--let",
            "b=5",
            "--algorithm",
            algorithm,
        ];
        let expected = if text == "a*a" { "25\n" } else { "28\n" };
        let ended = place.run(&[&["calc"], &arguments[..]].concat());
        assert_eq!(ended.stdout, expected, "{}", ended.stderr);
    }
}
