//! Several columns of results from one pass over the sources.

use std::path::Path;

use crate::common::Workplace;

#[test]
fn each_column_has_its_own_file() {
    let place = Workplace::new();
    place.file("a", "7\n-7\n100\n");
    place.file("b", "2\n2\n-7\n");
    let columns = [
        "--column",
        "q=a/b",
        "--column",
        "r = a % b",
        "--column",
        "all=sum(a)",
    ];
    let rest = [
        "--let",
        "a=a",
        "--let",
        "b=b",
        "-o",
        "{name}.of.{name}",
        "--time",
    ];
    let ended = place.run(&[&["calc"], &columns[..], &rest[..]].concat());
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (0, ""),
        "{}",
        ended.stderr
    );
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
    assert_eq!(read("q.of.q"), "3\n-4\n-15\n");
    assert_eq!(read("r.of.r"), "1\n1\n-5\n");
    assert_eq!(read("all.of.all"), "100\n");
    assert_eq!(place.files().len(), 5);
    // One table: how long each stage took, and not who did what.
    assert!(ended.stderr.contains("all, overlapped"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("back end"), "{}", ended.stderr);
}

#[test]
fn one_column_may_go_anywhere() {
    let place = Workplace::new();
    place.file("a", "3\n4\n");
    let square = ["--column", "x=a*a", "--let", "a=a"];
    assert_eq!(place.calc(&square), "9\n16\n");
    place.calc(&[&square[..], &["-o", "plain"]].concat());
    place.calc(&[&square[..], &["-o", "{name}"]].concat());
    assert_eq!(place.files(), ["a", "plain", "x"].map(Path::new));
}

#[test]
fn columns_of_lines_of_unlike_lengths_keep_their_order() {
    let place = Workplace::new();
    let number = |i: u64| format!("{}{}\n", i % 9 + 1, "5".repeat((i * i % 700) as usize));
    place.file("a", (0..500).map(number).collect::<String>());
    let square = place.calc(&["a*a + 1", "--let", "a=a"]);
    let double = place.calc(&["a << 1", "--let", "a=a"]);
    let columns = [
        "--column",
        "s=a*a + 1",
        "--column",
        "d=a << 1",
        "--let",
        "a=a",
    ];
    place.calc(&[&columns[..], &["-o", "{name}", "--memory", "1M"]].concat());
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
    assert!(read("s") == square);
    assert!(read("d") == double);
}

#[test]
fn what_is_wrong_with_a_column_is_told_and_leaves_no_file() {
    let place = Workplace::new();
    place.file("a", "1\n0\n");
    for (columns, told) in [
        (&["--column", "x=a", "--column", "y=a"][..], "{name}"),
        (
            &["--column", "x=a", "--column", "x=1/a", "-o", "{name}"],
            "two columns",
        ),
        (&["--column", "x", "-o", "{name}"], "NAME=EXPR"),
        (&["--column", "1x=a", "-o", "{name}"], "not a name"),
        (&["--column", "x=a+", "-o", "{name}"], "--column x:1:3"),
        (&["--column", "x=a+b", "-o", "{name}"], "--column x:1:3"),
        (
            &["--column", "x=a", "--column", "y=5/a", "-o", "{name}"],
            "a:2:1",
        ),
        (&["a", "--column", "x=a"], "cannot be used with"),
        (&[], "required"),
        (&["a", "--memory", "3"], "at least"),
        (&["a", "--memory", "3Q"], "2G"),
    ] {
        let arguments = [&["calc"], columns, &["--let", "a=a"]].concat();
        let ended = place.run(&arguments);
        assert_eq!(ended.code, 2, "{columns:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(told), "{columns:?}: {}", ended.stderr);
        assert_eq!(place.files(), [Path::new("a")], "{columns:?}");
    }
}
