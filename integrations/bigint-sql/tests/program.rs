//! The program, as users run it.

use std::path::Path;
use std::process::Command;

struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

fn run(folder: &Path, arguments: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bigint-sql"));
    let output = command
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    Ended {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A folder with `t.csv`, whose first row a machine integer holds and the second does not.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = "name,n,k\na,12,1\nb,340282366920938463463374607431768211456,2\nc,,3\n";
    std::fs::write(folder.path().join("t.csv"), text).unwrap();
    folder
}

#[test]
fn answers_go_from_form_to_form() {
    let folder = folder();
    let squares = "SELECT name, big(n) * big(n) AS square, k FROM t";
    let expected = "name,square,k\na,144,1\n\
                    b,115792089237316195423570985008687907853269984665640564039457584007913129639936,2\n\
                    c,,3\n";
    let ended = run(folder.path(), &[squares, "--table", "t=t.csv"]);
    assert_eq!(
        (ended.code, &ended.stdout[..]),
        (0, expected),
        "{}",
        ended.stderr
    );
    let mut before = "t.csv".to_owned();
    for after in ["r.parquet", "r.arrow", "r.tsv", "r.jsonl", "r.csv"] {
        let query = match before.as_str() {
            "t.csv" => squares,
            "r.parquet" | "r.arrow" => {
                "SELECT name, square * 1 AS square, k FROM t ORDER BY square"
            }
            _ => "SELECT name, big(square) * 1 AS square, k FROM t ORDER BY k",
        };
        let table = format!("t={before}");
        let ended = run(folder.path(), &[query, "--table", &table, "-o", after]);
        assert_eq!(
            (ended.code, &ended.stdout[..]),
            (0, ""),
            "{after}: {}",
            ended.stderr
        );
        before = after.to_owned();
    }
    assert_eq!(
        std::fs::read_to_string(folder.path().join("r.csv")).unwrap(),
        expected
    );
}

#[test]
fn one_table_of_many_files_and_many_tables() {
    let folder = folder();
    std::fs::copy(folder.path().join("t.csv"), folder.path().join("u.csv")).unwrap();
    let query = "SELECT -sum(-big(t.n)) AS s, count(*) AS c FROM t JOIN u ON big(t.n) = big(u.n)";
    let tables = ["--table", "t=t.csv", "u.csv", "--table", "u=t.csv"];
    let ended = run(folder.path(), &[&[query][..], &tables].concat());
    let expected = "s,c\n680564733841876926926749214863536422936,4\n";
    assert_eq!(
        (ended.code, &ended.stdout[..]),
        (0, expected),
        "{}",
        ended.stderr
    );
    let literal = "SELECT k + big('1') + 123456789012345678901234567890 AS x FROM t LIMIT 1";
    let ended = run(folder.path(), &[literal, "--table", "t=t.csv"]);
    assert_eq!(
        ended.stdout, "x\n123456789012345678901234567892\n",
        "{}",
        ended.stderr
    );
}

#[test]
fn no_rows_are_a_header_or_a_file_without_rows() {
    let folder = folder();
    let none = "SELECT big(n) AS n FROM t WHERE k > 5";
    let ended = run(folder.path(), &[none, "--table", "t=t.csv"]);
    assert_eq!(
        (ended.code, &ended.stdout[..]),
        (0, "n\n"),
        "{}",
        ended.stderr
    );
    for file in ["e.parquet", "e.arrow", "e.jsonl"] {
        let ended = run(folder.path(), &[none, "--table", "t=t.csv", "-o", file]);
        assert_eq!(ended.code, 0, "{file}: {}", ended.stderr);
    }
    let sum = "SELECT big_sum(n) AS s, big_product(n) AS p FROM e";
    let ended = run(folder.path(), &[sum, "--table", "e=e.parquet"]);
    assert_eq!(
        (ended.code, &ended.stdout[..]),
        (0, "s,p\n,\n"),
        "{}",
        ended.stderr
    );
}

#[test]
fn exit_codes_are_the_commands_and_no_file_is_left() {
    let folder = folder();
    std::fs::write(folder.path().join("bad.csv"), "n\n12\n1o\n").unwrap();
    let before = std::fs::read_dir(folder.path()).unwrap().count();
    for (query, table, code, part) in [
        ("SELEC 1", "t=t.csv", 2, "SELEC"),
        ("SELECT x FROM t", "t=t.csv", 2, "x"),
        ("SELECT 1 FROM t", "t=gone.csv", 2, "gone.csv"),
        ("SELECT 1 FROM t", "t=t.txt", 2, "t.txt"),
        ("SELECT 1 FROM t", "t.csv", 2, "NAME="),
        ("SELECT big(n) FROM t", "t=bad.csv", 2, "row 1"),
        ("SELECT big(n) + 1.5 FROM t", "t=t.csv", 2, "fraction"),
        (
            "SELECT big(n) / (k - 1) FROM t",
            "t=t.csv",
            1,
            "big_div: number 0 is divided by zero",
        ),
        ("SELECT k / (k - 1) FROM t", "t=t.csv", 1, "zero"),
    ] {
        let arguments = [query, "--table", table, "-o", "r.parquet"];
        let ended = run(folder.path(), &arguments);
        assert_eq!(ended.code, code, "{query}: {}", ended.stderr);
        assert!(ended.stderr.contains(part), "{query}: {}", ended.stderr);
        let after = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(before, after, "{query}");
    }
    let ended = run(folder.path(), &["SELECT 1", "-o", "r.xlsx"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
}
