//! `calc` computes what num-bigint computes, whatever the numbers look like.

use std::fs::File;

use crate::common::Workplace;
use num_bigint::{BigInt, BigUint, Sign};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A number of at most `bits` bits, often of an awkward pattern.
fn number(rng: &mut ChaCha8Rng, bits: u64) -> BigInt {
    let one = BigUint::from(1u32);
    let magnitude = match rng.random_range(0..8) {
        0 => BigUint::ZERO,
        1 => &one << rng.random_range(0..bits),
        2 => (&one << rng.random_range(0..=bits)) - &one,
        3 => (&one << rng.random_range(0..bits)) + &one,
        _ => {
            let limbs = (0..bits.div_ceil(32)).map(|_| rng.random()).collect();
            let excess = bits.div_ceil(32) * 32 - bits;
            BigUint::new(limbs) >> (excess + rng.random_range(0..=bits.min(40)))
        }
    };
    let sign = if rng.random() {
        Sign::Minus
    } else {
        Sign::Plus
    };
    BigInt::from_biguint(sign, magnitude)
}

/// The number's line, in a form chosen at random.
fn line(rng: &mut ChaCha8Rng, number: &BigInt) -> String {
    let sign = match number.sign() {
        Sign::Minus => "-",
        _ => "",
    };
    let magnitude = number.magnitude();
    let zeros = "0".repeat(rng.random_range(0..3) * rng.random_range(0..10));
    match rng.random_range(0..3) {
        0 => format!("{sign}{zeros}{magnitude}"),
        1 => format!("{sign}0x{zeros}{magnitude:x}"),
        _ => format!("  {sign}0X{zeros}{magnitude:X}\t\r"),
    }
}

fn lines(rng: &mut ChaCha8Rng, numbers: &[BigInt]) -> String {
    let mut text = String::new();
    for number in numbers {
        text += match rng.random_range(0..12) {
            0 => "\n",
            1 => "# 17\n",
            2 => " \t \r\n",
            _ => "",
        };
        text += &line(rng, number);
        text += "\n";
    }
    if rng.random() {
        text.pop();
    }
    text
}

fn decimal(results: &[BigInt]) -> String {
    results.iter().map(|result| format!("{result}\n")).collect()
}

fn hexadecimal(results: &[BigInt]) -> String {
    results
        .iter()
        .map(|result| format!("{result:#x}\n"))
        .collect()
}

/// An expression, and what it means.
type Case = (&'static str, fn(&BigInt, &BigInt, &BigInt) -> BigInt);

const CASES: [Case; 9] = [
    ("a", |a, _, _| a.clone()),
    ("-a", |a, _, _| -a),
    ("a+b", |a, b, _| a + b),
    ("a-b", |a, b, _| a - b),
    ("a*b", |a, b, _| a * b),
    ("a*a - b*b", |a, b, _| a * a - b * b),
    ("(a+b)*(a-b)*c", |a, b, c| (a + b) * (a - b) * c),
    (
        "-(a - -b) * (c + c - 0xffffffffffffffffffffffff) + 10000000000",
        |a, b, c| {
            let mask = (BigInt::from(1) << 96) - 1;
            -(a + b) * (c + c - mask) + 10_000_000_000_i64
        },
    ),
    ("a*b - b*a", |a, b, _| a * b - b * a),
];

fn compare(rng: &mut ChaCha8Rng, a: &[BigInt], b: &[BigInt], c: &BigInt, case: Case) {
    let place = Workplace::new();
    place.file("a.txt", lines(rng, a));
    place.file("b.txt", lines(rng, b));
    let c_source = if rng.random() {
        line(rng, c).trim().to_owned()
    } else {
        place
            .file("c.txt", lines(rng, std::slice::from_ref(c)))
            .to_owned()
    };
    let (expression, meaning) = case;
    let results: Vec<_> = a.iter().zip(b).map(|(a, b)| meaning(a, b, c)).collect();
    let mut arguments = vec!["--backend", "cpu", expression];
    let c_binding = format!("c={c_source}");
    for (name, binding) in [("a", "a=a.txt"), ("b", "b=b.txt"), ("c", &c_binding)] {
        if expression.contains(name) {
            arguments.extend(["--let", binding]);
        }
    }
    assert_eq!(place.calc(&arguments), decimal(&results), "{expression}");
    arguments.extend(["--format", "hex"]);
    assert_eq!(
        place.calc(&arguments),
        hexadecimal(&results),
        "{expression}"
    );
}

#[test]
fn every_expression_agrees_with_num_bigint_on_signed_numbers_of_like_widths() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for case in CASES {
        for bits in [31, 32, 33, 64, 1000, 1024, 2100] {
            let count = rng.random_range(2..300);
            let mut numbers = |_| number(&mut rng, bits);
            let a: Vec<_> = (0..count).map(&mut numbers).collect();
            let b: Vec<_> = (0..count).map(&mut numbers).collect();
            let c = numbers(0);
            compare(&mut rng, &a, &b, &c, case);
        }
    }
}

#[test]
fn numbers_of_wildly_different_widths_come_out_right_and_in_order() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for case in CASES {
        let mut numbers = |_| {
            let magnitude = rng.random_range(0..15);
            let bits = rng.random_range(1..=1 << magnitude);
            number(&mut rng, bits)
        };
        let a: Vec<_> = (0..400).map(&mut numbers).collect();
        let b: Vec<_> = (0..400).map(&mut numbers).collect();
        let c = numbers(0);
        compare(&mut rng, &a, &b, &c, case);
    }
}

#[test]
fn a_source_longer_than_a_chunk_comes_out_whole_and_in_order() {
    let place = Workplace::new();
    // More lines than a chunk holds, and more text than is read at once.
    let count = bigint_testing::sweep(1_200_000_u64, 2_500_000);
    let number = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i % 60);
    place.file(
        "a",
        (0..count)
            .map(|i| format!("{}\n", number(i)))
            .collect::<String>(),
    );
    place.file(
        "b",
        (0..count)
            .map(|i| format!("{:#x}\n", i % 7))
            .collect::<String>(),
    );
    let results = place.calc(&["a-b", "--let", "a=a", "--let", "b=b"]);
    let mut expected = (0..count).map(|i| i128::from(number(i)) - i128::from(i % 7));
    for line in results.lines() {
        assert_eq!(
            line.parse(),
            Ok(expected.next().expect("no more lines than numbers"))
        );
    }
    assert_eq!(expected.next(), None);
}

#[test]
fn literals_alone_give_one_line() {
    let place = Workplace::new();
    assert_eq!(place.calc(&["2*3 - 0x10"]), "-10\n");
    assert_eq!(place.calc(&["-5"]), "-5\n");
    assert_eq!(
        place.calc(&["a*b", "--let", "a=-5", "--let", "b=0xFF"]),
        "-1275\n"
    );
    assert_eq!(place.calc(&["0-0", "--format", "hex"]), "0x0\n");
}

#[test]
fn one_number_stands_for_all_wherever_it_comes_from() {
    let place = Workplace::new();
    place.file("many", "1\n2\n3\n");
    place.file("one", "# the only one\n\n10\n");
    let ended = place.run(&["calc", "a*b", "--let", "a=many", "--let", "b=one"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "10\n20\n30\n"));
    assert_eq!(
        ended.stderr,
        "note: one has one number, which stands for each line of many\n"
    );
    assert_eq!(
        place.calc(&["b-a", "--let", "a=many", "--let", "b=10"]),
        "9\n8\n7\n"
    );
    assert_eq!(
        place.calc(&["a+b", "--let", "a=one", "--let", "b=one"]),
        "20\n"
    );
}

#[test]
fn a_source_without_numbers_gives_no_lines() {
    let place = Workplace::new();
    place.file("none", "# nothing\n\n");
    place.file("empty", "");
    assert_eq!(
        place.calc(&["a*b + 1", "--let", "a=none", "--let", "b=empty"]),
        ""
    );
    assert_eq!(place.calc(&["a*b", "--let", "a=none", "--let", "b=7"]), "");
}

#[test]
fn standard_input_is_a_source() {
    let place = Workplace::new();
    place.file("numbers", "3\n-0x4\n");
    let mut command = place.command();
    command.args(["calc", "x*x", "--let", "x=-"]);
    command.stdin(File::open(place.path().join("numbers")).unwrap());
    let ended = crate::common::ended(command.output().unwrap());
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "9\n16\n"));
}

#[test]
fn every_algorithm_gives_the_same_lines() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let place = Workplace::new();
    let numbers: Vec<_> = (0..20).map(|_| number(&mut rng, 5000)).collect();
    place.file("a", decimal(&numbers));
    let expected: Vec<_> = numbers.iter().map(|a| a * a - a).collect();
    for algorithm in [
        "auto",
        "ripple",
        "carry_lookahead",
        "school",
        "comba",
        "karatsuba",
        "ntt",
    ] {
        let results = place.calc(&["a*a-a", "--let", "a=a", "--algorithm", algorithm]);
        assert_eq!(results, decimal(&expected), "{algorithm}");
    }
}

#[test]
fn a_long_sum_and_a_deep_difference_are_computed() {
    let place = Workplace::new();
    let chain = vec!["a"; 5000].join("+");
    assert_eq!(place.calc(&[&chain, "--let", "a=-3"]), "-15000\n");
    let nested = format!("{}a{}", "a-(".repeat(999), ")".repeat(999));
    assert_eq!(place.calc(&[&nested, "--let", "a=7"]), "0\n");
}

/// A long string of digits below `base`, without a pattern.
fn digits(count: u64, base: u64) -> String {
    let digit = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % base;
    let text = (0..count).map(|i| char::from(b"0123456789abcdef"[digit(i) as usize]));
    text.collect()
}

#[test]
fn a_number_of_ten_million_digits_is_a_number() {
    let place = Workplace::new();
    let long = digits(10_000_000, 10);
    place.file("a", format!("1\n9{long}5\n-2\n"));
    let results = place.calc(&["a+1", "--let", "a=a"]);
    assert!(results == format!("2\n9{long}6\n-1\n"));
    let long = digits(10_000_000, 16);
    place.file("a", format!("1\n-0xa{long}7\n-2\n"));
    let results = place.calc(&["a+1", "--let", "a=a", "--format", "hex"]);
    assert!(results == format!("0x2\n-0xa{long}6\n-0x1\n"));
}

#[test]
fn one_long_number_does_not_widen_a_hundred_thousand_short_ones() {
    let place = Workplace::new();
    let long = digits(1_000_000, 16);
    let mut text: String = (0..100_000).map(|i| format!("{i}\n")).collect();
    text += &format!("0xf{long}\n");
    place.file("a", &text);
    // As wide as the last they would take 40 GB.
    let results = place.calc(&["-a", "--let", "a=a", "--format", "hex"]);
    let mut expected: String = (1..100_000).map(|i| format!("-{i:#x}\n")).collect();
    expected = format!("0x0\n{expected}-0xf{long}\n");
    assert!(results == expected);
}

#[test]
fn results_that_do_not_fit_together_are_computed_piece_by_piece() {
    let place = Workplace::new();
    // 25,000 limbs: some two hundred results make a piece.
    let factor = format!("0x9{}", digits(200_000, 16));
    let line = |i: u64| match i % 3 {
        0 => format!("{i}"),
        1 => format!("-0x{i}{}", digits(8000, 16)),
        _ => format!("0x{i}{}", digits(300, 16)),
    };
    let lines: Vec<String> = (1..260).map(line).collect();
    place.file("a", lines.join("\n"));
    place.file("factor", &factor);
    let arguments = [
        "a*f", "--let", "a=a", "--let", "f=factor", "--format", "hex",
    ];
    let results = place.calc(&arguments);
    let number = |text: &str| {
        let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
        let magnitude = match text.strip_prefix("0x") {
            Some(digits) => BigInt::parse_bytes(digits.as_bytes(), 16),
            None => BigInt::parse_bytes(text.as_bytes(), 10),
        };
        magnitude.expect("a number") * sign
    };
    let factor = number(&factor);
    let mut results = results.lines();
    for line in &lines {
        let expected = format!("{:#x}", number(line) * &factor);
        assert!(results.next() == Some(&expected), "{line}");
    }
    assert_eq!(results.next(), None);
}
