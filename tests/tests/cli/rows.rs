//! Rows that have no value: each is told by its place in the input, or left out, or an empty
//! line, whatever chunks, groups and threads computed it.

use crate::common::{Workplace, ended};
use num_bigint::BigInt;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[test]
fn the_first_row_without_a_value_is_told_whatever_chunks_and_threads_there_are() {
    let place = Workplace::new();
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let mut text = String::new();
    let (mut quotients, mut lines) = (String::new(), 0);
    for row in 0..30_000 {
        if row % 100 == 7 {
            text += "# a line that is not a row\n";
            lines += 1;
        }
        lines += 1;
        // Of unlike widths, so that there are several groups.
        let limbs = if row % 50 == 3 { 40 } else { 1 };
        let digits: String = (0..limbs)
            .map(|_| rng.random_range(1..9).to_string())
            .collect();
        match row {
            20_000 => break,
            _ => text += &format!("{digits}\n"),
        }
        let number: BigInt = digits.parse().unwrap();
        quotients += &format!("{}\n", BigInt::from(10).pow(30) / (number * 2));
    }
    let told = format!("error: a:{lines}:3: division by zero\n");
    text += "  -0\n";
    for row in 0..10_000 {
        text += ["5\n", "0\n", "7777777777777777777777777777777777777777\n"][row % 3];
    }
    place.file("a", &text);
    // Nobody tells of the letter far behind the zero, either.
    place.file("b", text.clone() + "x\n");
    for (source, memory, threads) in [
        ("a", "512M", "1"),
        ("a", "1M", "1"),
        ("a", "1M", "3"),
        ("b", "2M", "2"),
        ("-", "1M", "2"),
    ] {
        let mut command = place.script(&format!(
            r#"cat a | "$bigint" calc '10^30 / (a*2)' --backend cpu --let a={source} --memory {memory}"#
        ));
        let ended = ended(command.env("RAYON_NUM_THREADS", threads).output().unwrap());
        let name = if source == "-" { "stdin" } else { source };
        assert_eq!(ended.stderr, told.replace("a:", &format!("{name}:")));
        assert_eq!(ended.code, 2);
        assert_eq!(ended.stdout, quotients, "{source} {memory} {threads}");
    }
}

/// Expressions of the files `a`, `b` and `k` below, what is told of them, and the exit code.
const REFUSED: &[(&str, &str, i32)] = &[
    ("isqrt(-1)", "expression:1:8: isqrt(a): a is negative", 2),
    (
        "powmod(3, 5, -7)",
        "expression:1:15: powmod(a, e, m): m is negative",
        2,
    ),
    (
        "powmod(3, 5, 0)",
        "expression:1:14: powmod(a, e, m): m is zero",
        2,
    ),
    ("1 << -2", "expression:1:7: a << bits: bits is negative", 2),
    (
        "jacobi(3, -7)",
        "expression:1:12: jacobi(a, n): n is negative",
        2,
    ),
    (
        "invmod(6, 9)",
        "expression:1:8: invmod(a, m): a and m have a common divisor",
        2,
    ),
    (
        "invmod(1, 0)",
        "expression:1:11: invmod(a, m): m is zero",
        2,
    ),
    (
        "2 ^ (10^30)",
        "expression:1:1: the result, or a part of it, is longer",
        1,
    ),
    // The zero is in the input, by way of a product too.
    ("1 / (a*2)", "a:4:2: division by zero\n", 2),
    ("b % (a*b)", "a:4:2: division by zero (with b:4:1)\n", 2),
    ("1 + b / a", "a:4:2: division by zero (with b:4:1)\n", 2),
    (
        "b / a + isqrt(b)",
        "a:4:2: division by zero (with b:4:1)\n",
        2,
    ),
    (
        "a + isqrt(b)",
        "b:4:1: isqrt(a): a is negative (with a:4:2)\n",
        2,
    ),
    (
        "isqrt(2*b) + a",
        "b:4:1: isqrt(a): a is negative (with a:4:2)\n",
        2,
    ),
    (
        "a << b",
        "b:4:1: a << bits: bits is negative (with a:4:2)\n",
        2,
    ),
    ("a ^ k", "k:1:1: a ^ e: e is negative (with a:1:1)\n", 2),
    (
        "5 / 0 + a",
        "expression:1:5: division by zero (with a:1:1)\n",
        2,
    ),
    // No input is what the operation refuses.
    ("1 / (a - 2)", "a:2:1: division by zero\n", 1),
    ("b / (a - a)", "a:1:1: division by zero (with b:1:1)\n", 1),
    ("isqrt(7 - b)", "b:5:1: isqrt(a): a is negative\n", 1),
    ("a ^ (2 - a)", "a:5:1: a ^ e: e is negative\n", 1),
    (
        "1 << (a << 40)",
        "a:1:1: the result, or a part of it, is longer",
        1,
    ),
    ("1 / sum(a - a)", "expression:1:1: division by zero\n", 1),
];

#[test]
fn a_row_is_told_by_the_places_of_all_its_numbers_in_the_words_of_the_command() {
    let place = Workplace::new();
    place.file("a", "1\n2\n\n 0\n4\n");
    place.file("b", "5\n7\n# none\n-9\n8\n");
    place.file("k", "-3 # for all\n");
    for &(text, told, code) in REFUSED {
        let mut arguments = vec!["calc", "--backend", "cpu", text];
        for (name, binding) in [("a", "a=a"), ("b", "b=b"), ("k", "k=k")] {
            let is_named = |word: &str| word == name;
            let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
            if words.any(is_named) {
                arguments.extend(["--let", binding]);
            }
        }
        let ended = place.run(&arguments);
        let error = ended
            .stderr
            .lines()
            .find(|line| !line.starts_with("note: "));
        let error = error.map_or(String::new(), |line| format!("{line}\n"));
        assert!(
            error.starts_with(&format!("error: {told}")),
            "{text}: {error}"
        );
        assert_eq!(ended.code, code, "{text}");
    }
}

/// What a row of random numbers has, and its value, if there is one.
fn row(rng: &mut ChaCha8Rng) -> ([String; 2], Option<BigInt>, Option<BigInt>) {
    let number = |rng: &mut ChaCha8Rng| {
        let digits = [1, 1, 3, 30, 200][rng.random_range(0..5)];
        let digits: String = (0..digits)
            .map(|_| rng.random_range(0..10).to_string())
            .collect();
        let sign = if rng.random_bool(0.2) { "-" } else { "" };
        format!("{sign}{digits}")
    };
    let mut texts = [number(rng), number(rng)];
    if rng.random_bool(0.05) {
        texts[rng.random_range(0..2)] += "?";
    }
    let [Ok(a), Ok(b)] = [0, 1].map(|i| texts[i].parse::<BigInt>()) else {
        return (texts, None, None);
    };
    let zero = BigInt::ZERO;
    let root = (b >= zero).then(|| b.sqrt() + &a);
    let quotient = (a != zero).then(|| {
        let rest = ((&b % &a) + &a) % &a;
        (&b - rest) / &a
    });
    (texts, quotient, root)
}

#[test]
fn rows_without_a_value_are_left_out_or_empty_lines_and_counted() {
    let place = Workplace::new();
    let mut rng = ChaCha8Rng::seed_from_u64(24);
    let rows: Vec<_> = (0..1500).map(|_| row(&mut rng)).collect();
    for i in 0..2 {
        let lines: String = rows.iter().map(|row| format!("{}\n", row.0[i])).collect();
        place.file(["a", "b"][i], lines);
    }
    let line = |value: &Option<BigInt>| match value {
        Some(value) => format!("{value}\n"),
        None => "\n".to_owned(),
    };
    let run = |on_error: &str, memory: &str| {
        let ended = place.run(&[
            "calc",
            "--column",
            "q=b/a",
            "--column",
            "r=isqrt(b)+a",
            "--column",
            "c=7",
            "--column",
            "s=sum(b/a)",
            "--let",
            "a=a",
            "--let",
            "b=b",
            "-o",
            "out-{name}",
            "--on-error",
            on_error,
            "--memory",
            memory,
            "--backend",
            "cpu",
        ]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let read = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
        let columns = ["out-q", "out-r", "out-c", "out-s"].map(read);
        (columns, ended.stderr)
    };
    let bad = rows.iter().filter(|row| row.1.is_none() || row.2.is_none());
    let told = format!("warning: {} rows", bad.count());
    for memory in ["512M", "1M"] {
        let ([q, r, c, s], stderr) = run("null", memory);
        assert_eq!(q, rows.iter().map(|row| line(&row.1)).collect::<String>());
        assert_eq!(r, rows.iter().map(|row| line(&row.2)).collect::<String>());
        let read = rows
            .iter()
            .map(|row| row.0.iter().all(|text| !text.ends_with('?')));
        assert_eq!(
            c,
            read.map(|is| if is { "7\n" } else { "\n" })
                .collect::<String>()
        );
        let sum: BigInt = rows.iter().filter_map(|row| row.1.clone()).sum();
        assert_eq!(s, format!("{sum}\n"));
        assert!(stderr.starts_with(&told), "{stderr}");
        let ([q, r, c, s], stderr) = run("skip", memory);
        let good: Vec<_> = rows
            .iter()
            .filter(|row| row.1.is_some() && row.2.is_some())
            .collect();
        assert_eq!(q, good.iter().map(|row| line(&row.1)).collect::<String>());
        assert_eq!(r, good.iter().map(|row| line(&row.2)).collect::<String>());
        assert_eq!(c, "7\n".repeat(good.len()));
        let sum: BigInt = good.iter().filter_map(|row| row.1.clone()).sum();
        assert_eq!(s, format!("{sum}\n"));
        assert!(stderr.starts_with(&told), "{stderr}");
    }
}

#[test]
fn of_nothing_but_rows_without_a_value_nothing_comes() {
    let place = Workplace::new();
    place.file("a", "0\n0\nx\n");
    let long = format!("3\n1z{}\n4\n", "0".repeat(300_000));
    place.file("long", long);
    place.file("one", "zero\n");
    for (text, source, on_error, stdout, told) in [
        (
            "1/a",
            "a",
            "skip",
            "",
            "3 rows were left out (the first: a:1:1: division by zero)",
        ),
        (
            "1/a",
            "a",
            "null",
            "\n\n\n",
            "3 rows have no value (the first: a:1:1: division by zero)",
        ),
        ("product(1/a)", "a", "skip", "1\n", "3 rows were"),
        (
            "1/sum(a)",
            "a",
            "null",
            "\n",
            "2 rows have no value (the first: a:3:1: 'x' is not",
        ),
        (
            "a",
            "one",
            "skip",
            "",
            "1 row was left out (the first: one:1:1: 'z' is not",
        ),
        (
            "isqrt(-2)",
            "",
            "null",
            "\n",
            "1 row has no value (the first: expression:1:8: isqrt",
        ),
        (
            "a",
            "long",
            "skip",
            "3\n4\n",
            "1 row was left out (the first: long:2:2: 'z' is not",
        ),
    ] {
        let binding = format!("a={source}");
        let mut arguments = vec!["calc", text, "--on-error", on_error, "--memory", "1M"];
        if !source.is_empty() {
            arguments.extend(["--let", &binding]);
        }
        let ended = place.run(&arguments);
        let told = format!("warning: {told}");
        assert!(ended.stderr.starts_with(&told), "{text}: {}", ended.stderr);
        assert_eq!((ended.code, ended.stdout.as_str()), (0, stdout), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_bad_line_of_a_pipe_that_stays_open_ends_the_command_at_once() {
    let place = Workplace::new();
    for (text, lines, stdout, told) in [
        (
            "a*2",
            r"1\n2\nz\n",
            "2\n4\n",
            "error: pipe:3:1: 'z' is not a decimal digit\n",
        ),
        (
            "6/a",
            r"1\n2\n0\n",
            "6\n3\n",
            "error: pipe:3:1: division by zero\n",
        ),
    ] {
        // The shell itself can write into the pipe, which so never ends.
        let script = format!(
            r#"rm -f pipe; mkfifo pipe; exec 3<>pipe; printf '{lines}' >&3
               timeout 60 "$bigint" calc '{text}' --let a=pipe --backend cpu"#
        );
        let ended = ended(place.script(&script).output().unwrap());
        assert_eq!(
            (ended.stderr.as_str(), ended.stdout.as_str()),
            (told, stdout)
        );
        assert_eq!(ended.code, 2);
    }
}

#[test]
fn a_word_like_an_option_is_no_expression() {
    let place = Workplace::new();
    for arguments in [
        &["calc", "--tme"][..],
        &["calc", "--tme", "a*b", "--let", "a=3"],
    ] {
        let ended = place.run(arguments);
        assert_eq!(ended.code, 2);
        assert!(
            ended.stderr.contains("unexpected argument '--tme'"),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains("'--time'"), "{}", ended.stderr);
    }
    for (arguments, value) in [
        (&["-5+3"][..], "-2\n"),
        (&["--5"], "5\n"),
        (&["-a", "--let", "a=3"], "-3\n"),
        (&["--(a+1)", "--let", "a=3"], "4\n"),
        (&["--let", "a=3", "--", "--a"], "3\n"),
    ] {
        assert_eq!(place.calc(arguments), value, "{arguments:?}");
    }
}
