//! Parquet and Arrow files, with the command that is built with the feature `arrow`.

use crate::common::Workplace;

#[test]
fn columns_of_parquet_and_arrow_are_sources_and_results() {
    let place = Workplace::new();
    let power = "340282366920938463463374607431768211456";
    place.file(
        "t.csv",
        format!("a,b,\"the: c\"\n7,-1,0x10\n,2,x\n{power},-3,\n-5,0,1\n"),
    );
    for form in ["parquet", "arrow"] {
        let file = |name: &str| format!("{name}.{form}");
        let run = |arguments: &[&str]| {
            let ended = place.run(arguments);
            assert_eq!((ended.code, &*ended.stderr), (0, ""), "{arguments:?}");
            ended.stdout
        };
        let table = file("t");
        run(&["convert", "t.csv:a", &file("a")]);
        let lines = format!("7\n\n{power}\n-5\n");
        assert_eq!(
            run(&["calc", "a", "--let", &format!("a={}", file("a"))]),
            lines
        );
        let ended = place.run(&["convert", "t.csv", &table]);
        assert_eq!(ended.code, 2);
        assert!(
            ended
                .stderr
                .contains("t.csv:3:4: 'x' is not a decimal digit"),
            "{}",
            ended.stderr
        );
        let ended = place.run(&[
            "convert",
            "t.csv",
            &table,
            "--on-error",
            "null",
            "--format",
            "hex",
        ]);
        assert_eq!(ended.code, 0);
        let [a, b, c] = ["a", "b", "the: c"].map(|column| format!("{table}:{column}"));
        let bind = |name: &str, source: &str| format!("{name}={source}");
        let (a, b, c) = (bind("a", &a), bind("b", &b), bind("c", &c));
        let sources = ["--let", &a, "--let", &b, "--let", &c];
        let found = run(&[&["calc", "a*b+c"], &sources[..]].concat());
        assert_eq!(found, "9\n\n\n1\n");
        let found = run(&[&["calc", "sum(a)", "--format", "hex"], &sources[..2]].concat());
        assert_eq!(found, "0x100000000000000000000000000000002\n");
        // A division by zero is told by its rows.
        let divided = [&["calc", "c/b"], &sources[2..]].concat();
        let ended = place.run(&divided);
        assert_eq!((ended.code, &*ended.stdout), (2, "-16\n\n\n"));
        let told = format!("error: {table}:b:4:1: division by zero (with {table}:the: c:4:1)\n");
        assert_eq!(ended.stderr, told);
        // The row of a bad cell has no number in any column.
        let columns = ["--column", "twice=a*2", "--column", "less=b-1", "-o"];
        let results = file("r");
        run(&[&["calc"], &columns[..], &[&results], &sources[..4]].concat());
        let head = run(&["head", &results]);
        let twice = "680564733841876926926749214863536422912";
        assert_eq!(
            head,
            format!("twice\tless\n14\t-2\nnull\tnull\n{twice}\t-4\n-10\t-1\n")
        );
        assert!(run(&["stats", &results]).contains("  least     -4 (3 bits)\n"));
        let ended = place.run(&["calc", "x", "--let", &format!("x={table}:d")]);
        assert_eq!(ended.code, 2);
        assert!(
            ended
                .stderr
                .contains("there is no column \"d\", but a, b, the: c"),
            "{}",
            ended.stderr
        );
    }
    place.file("bad.parquet", "7\n");
    let ended = place.run(&["calc", "x", "--let", "x=bad.parquet:x"]);
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.starts_with("error: bad.parquet:1:1: "),
        "{}",
        ended.stderr
    );
}

#[test]
fn rows_of_parquet_are_streamed() {
    let place = Workplace::new();
    let text: String = (0..40_000).map(|row| format!("{row}\n")).collect();
    place.file("lines", &text);
    place.calc(&["a^40", "--let", "a=lines", "-o", "p.parquet"]);
    let arguments = [
        "iroot(p, 40) - a",
        "--let",
        "p=p.parquet:result",
        "--let",
        "a=lines",
    ];
    for memory in ["1M", "512M"] {
        let found = place.calc(&[&arguments[..], &["--memory", memory]].concat());
        assert!(found == "0\n".repeat(40_000), "{memory}");
    }
}

#[test]
fn moduli_in_the_column_of_a_parquet_file_are_keys() {
    let place = Workplace::new();
    // The middle one, 4099 times 4111, shares nothing.
    place.file("t.csv", "n\n15\n16850989\n35\n");
    for file in ["t.parquet", "t.arrow"] {
        assert_eq!(place.run(&["convert", "t.csv:n", file]).code, 0);
        let ended = place.run(&["batch-gcd", file, "--json"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let lines: Vec<_> = ended.stdout.lines().collect();
        assert!(lines.len() == 2, "{}", ended.stdout);
        assert!(
            lines[0].contains("\"line\":1") && lines[1].contains("\"line\":3"),
            "{lines:?}"
        );
    }
}
