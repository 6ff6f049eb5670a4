//! Bad input ends with exit code 2, the place of the fault, and no output file.

use crate::common::{Workplace, ended};

/// Runs `calc` in a place with two good files; it must fail, say where, and
/// leave nothing behind.
fn refused(place: &Workplace, arguments: &[&str], fault: &str) {
    place.file("good", "1\n2\n3\n");
    let before = place.files();
    let output = ["calc", "-o", "result", "--backend", "cpu"];
    let ended = place.run(&[&output, arguments].concat());
    assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.stderr);
    let expected = format!("error: {fault}");
    assert!(
        ended.stderr.starts_with(&expected),
        "{expected:?} is not in {:?}",
        ended.stderr
    );
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert_eq!((ended.stdout.as_str(), place.files()), ("", before));
}

#[test]
fn letters_in_a_number() {
    let place = Workplace::new();
    place.file("bad", "1\n# fine\n  12x4\n4\n");
    refused(
        &place,
        &["a", "--let", "a=bad"],
        "bad:3:5: 'x' is not a decimal digit",
    );
    place.file("bad", "0x1\n0x12g4\n3\n");
    refused(
        &place,
        &["a*b", "--let", "a=good", "--let", "b=bad"],
        "bad:2:5: 'g' is not a hex",
    );
    place.file("bad", "1\n2\n\n- 3\n");
    refused(
        &place,
        &["a*b", "--let", "a=good", "--let", "b=bad"],
        "bad:4:2: ' ' is not",
    );
    place.file("bad", "1\n0x\n3\n");
    refused(
        &place,
        &["a", "--let", "a=bad"],
        "bad:2:3: a number without digits",
    );
    place.file("bad", "1\n1e9\n3\n");
    refused(&place, &["a", "--let", "a=bad"], "bad:2:2: 'e' is not");
    place.file("bad", "1 2");
    refused(&place, &["a", "--let", "a=bad"], "bad:1:2: ' ' is not");
    refused(&place, &["a", "--let", "a=12x4"], "--let a:1:3: 'x' is not");
    refused(&place, &["7 + 12x4"], "expression:1:7: 'x' is not");
}

#[test]
fn a_wrong_line_far_into_a_long_file() {
    let place = Workplace::new();
    let mut text: String = (0..1_100_000).map(|i| format!("{i}\n")).collect();
    place.file("long", &text);
    text += "1\n";
    let at = text.find("\n1099990\n").unwrap() + 3;
    text.replace_range(at..at + 1, "O");
    place.file("bad", &text);
    let sources = ["a+b", "--let", "a=long", "--let", "b=bad"];
    // The letter comes before the end of the shorter file does.
    refused(
        &place,
        &sources,
        "bad:1099991:3: 'O' is not a decimal digit",
    );
}

#[test]
fn a_missing_file() {
    let place = Workplace::new();
    refused(
        &place,
        &["a", "--let", "a=missing"],
        "missing:1:1: cannot open: No such file",
    );
    refused(&place, &["a", "--let", "a=."], ".:1:1: cannot read");
}

#[test]
fn a_result_wider_than_any_number_may_be() {
    let place = Workplace::new();
    // 65 factors of 2^27 bits, and no number may have more than 2^33.
    place.file("a", format!("1\n0x{}\n", "f".repeat(1 << 25)));
    let power = ["a"; 65].join("*");
    let ended = place.run(&["calc", &power, "--let", "a=a", "-o", "r"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(
        ended.stderr.starts_with("error: a:2:1: "),
        "{}",
        ended.stderr
    );
}

#[test]
fn an_unequal_number_of_lines() {
    let place = Workplace::new();
    place.file("short", "1\n\n# two\n2");
    let fault = "short:4:2: only 2 numbers before the end of this file, but good has more";
    refused(
        &place,
        &["a*b", "--let", "a=good", "--let", "b=short"],
        fault,
    );
    refused(
        &place,
        &["a*b", "--let", "b=good", "--let", "a=short"],
        fault,
    );
    place.file("none", "");
    place.file("one", "1\n");
    for [a, b] in [["a=none", "b=one"], ["a=one", "b=none"]] {
        let fault = "none:1:1: there is no number in this file, but one has one";
        refused(&place, &["a*b", "--let", a, "--let", b], fault);
    }
    let fault = "none:1:1: only 0 numbers";
    refused(
        &place,
        &["a*b", "--let", "a=good", "--let", "b=none"],
        fault,
    );
}

#[cfg(unix)]
#[test]
fn a_stream_that_two_names_are_bound_to() {
    let place = Workplace::new();
    place.file("numbers", "1\n2\n3\n4\n");
    for script in [
        r#"cat numbers | "$bigint" calc a+b --let a=- --let b=/dev/stdin"#,
        r#"cat numbers | "$bigint" calc a+b --let a=/dev/fd/0 --let b=/dev/stdin"#,
        r#"echo 1 | "$bigint" calc a+b --let a=- --let b=-"#,
        r#""$bigint" calc a+b --let a=- --let b=/dev/stdin <numbers"#,
        r#"mkfifo pipe; cat numbers >pipe & "$bigint" calc a+b --let a=pipe --let b=pipe"#,
        r#"cat numbers >pipe & "$bigint" calc a+b --let a=- --let b=pipe <pipe"#,
    ] {
        let ended = ended(place.script(script).output().unwrap());
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{script}");
        assert!(ended.stderr.contains("read but once"), "{}", ended.stderr);
    }
    let script = r#""$bigint" calc a+b --let a=- --let b=numbers <numbers"#;
    let ended = ended(place.script(script).output().unwrap());
    assert_eq!(ended.stdout, "2\n4\n6\n8\n", "{}", ended.stderr);
}

#[test]
fn an_unknown_name() {
    let place = Workplace::new();
    let fault = "expression:1:5: \"bb\" is not bound";
    refused(&place, &["a * bb", "--let", "a=good"], fault);
}

#[test]
fn an_expression_that_is_none() {
    let place = Workplace::new();
    refused(&place, &[""], "expression:1:1: the expression is empty");
    refused(&place, &["  "], "expression:1:3: the expression is empty");
    refused(&place, &["a+", "--let", "a=1"], "expression:1:3: ");
    refused(&place, &["a b", "--let", "a=1"], "expression:1:3: ");
    refused(
        &place,
        &["a?2", "--let", "a=1"],
        "expression:1:2: unexpected character '?': there are +, -, *, ",
    );
    refused(
        &place,
        &["abacus(a, 3)", "--let", "a=1"],
        "expression:1:1: no such function: there are +, -, *, ",
    );
    refused(
        &place,
        &["(a", "--let", "a=1"],
        "expression:1:1: this '(' is never closed",
    );
    refused(
        &place,
        &["a)", "--let", "a=1"],
        "expression:1:2: this ')' closes nothing",
    );
}

#[test]
fn a_deeply_nested_expression() {
    let place = Workplace::new();
    let nested = format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000));
    refused(
        &place,
        &[&nested],
        "expression:1:1001: more than 1000 parentheses are open",
    );
}

#[test]
fn binary_junk() {
    let place = Workplace::new();
    let mut state = 1_u64;
    let byte = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8 | 0x80
    };
    let junk: Vec<u8> = (0..100_000).map(byte).collect();
    place.file("junk", &junk);
    refused(&place, &["a", "--let", "a=junk"], "junk:1:1: the byte 0x");
    place.file("zeros", vec![0; 40_000_000]);
    refused(
        &place,
        &["a", "--let", "a=zeros"],
        "zeros:1:1: the byte 0x00 is not",
    );
    place.file(
        "wide",
        "1\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>(),
    );
    refused(
        &place,
        &["a", "--let", "a=wide"],
        "wide:1:2: the byte 0x00 is not",
    );
}

#[test]
fn a_number_of_ten_million_digits_with_a_letter_at_its_end() {
    let place = Workplace::new();
    let digits = "7".repeat(10_000_000);
    place.file("bad", format!("{digits}q\n{digits}\n"));
    refused(
        &place,
        &["a", "--let", "a=bad"],
        "bad:1:10000001: 'q' is not a decimal digit",
    );
}

#[test]
fn usage_that_means_nothing() {
    let place = Workplace::new();
    for arguments in [
        &["calc"][..],
        &["calc", "a", "--let", "a"],
        &["calc", "a", "--let", "1a=3"],
        &["calc", "a", "--let", "a=1", "--let", "a=2"],
        &["calc", "a", "--let", "a=1", "--backend", "abacus"],
        &["calc", "a", "--let", "a=1", "--format", "octal"],
        &["calc", "a", "--let", "a=1", "--algorithm", "guess"],
        &["calc", "a+b", "--let", "a=-", "--let", "b=-"],
        &["calc", "a", "--let", "a=1", "-o", "no-such-folder/result"],
        &["calc", "a*a", "--let", "a=1", "--algorithm", "ripple"],
        &["calc", "a+a", "--let", "a=1", "--algorithm", "comba"],
        &["bench", "--backend", "cpu", "--level", "warp"],
        &["bench", "--backend", "cpu", "--lanes", "8"],
        &["bench", "--operations", "add", "--algorithm", "school"],
        &["calculate"],
        &[],
    ] {
        let ended = place.run(arguments);
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.stderr);
        assert_eq!(
            (ended.stdout.as_str(), place.files().len()),
            ("", 0),
            "{arguments:?}"
        );
    }
}
