//! Files with columns: CSV, JSON lines, NumPy's arrays, and text that is packed; as sources, as
//! results, copied and looked at.

use crate::common::{Workplace, ended};

const TABLE: &str = "id,price,\"the \"\"other\"\"\"\r\n1,0x10,-5\r\n2,,7\r\n3, 340282366920938463463374607431768211456 ,\"-1_000\"\r\n";

#[test]
fn columns_of_a_file_are_read_together_by_name_and_number() {
    let place = Workplace::new();
    place.file("t.csv", TABLE);
    place.file("t.tsv", TABLE.replace(',', "\t"));
    for file in ["t.csv", "t.tsv"] {
        let other = format!("b={file}:the \"other\"");
        let other = other.as_str();
        let (price, second) = (format!("a={file}:price"), format!("a={file}:2"));
        for a in [price, second] {
            // Of a null comes a null.
            let found = place.calc(&["a*2 + b", "--let", &a, "--let", other]);
            let (first, third) = (32 - 5, "680564733841876926926749214863536421912");
            assert_eq!(found, format!("{first}\n\n{third}\n"));
        }
        let total = place.calc(&[
            "sum(a)",
            "--let",
            &format!("a={file}:price"),
            "--format",
            "hex",
        ]);
        assert_eq!(total, "0x100000000000000000000000000000010\n");
    }
    // Beside a file of lines, in step with it.
    place.file("lines", "# three\n7\n8\n9\n");
    let found = place.calc(&["a + b", "--let", "a=lines", "--let", "b=t.csv:id"]);
    assert_eq!(found, "8\n10\n12\n");
    // Names stand for their columns, whichever file is read first, and however files take turns.
    place.file("u.csv", "v,w\n100,1000\n200,2000\n300,3000\n");
    let [lines, id] = ["lines", "t.csv:id"];
    for (a, b, found) in [
        (lines, id, "6\n6\n6\n"),
        (id, lines, "-6\n-6\n-6\n"),
        ("u.csv:w", lines, "993\n1992\n2991\n"),
    ] {
        let (a, b) = (format!("a={a}"), format!("b={b}"));
        assert_eq!(place.calc(&["a - b", "--let", &a, "--let", &b]), found);
    }
    let turns = ["a=u.csv:w", "b=t.csv:id", "c=u.csv:v", "d=lines"].map(|of| ["--let", of]);
    let found = place.calc(&[&["a*8 + b*4 - c*2 - d"], turns.as_flattened()].concat());
    assert_eq!(found, "7797\n15600\n23403\n");
    // Without names of columns.
    place.file("n.csv", "5,6\n7,8\n\n");
    assert_eq!(
        place.calc(&["a-b", "--let", "a=n.csv:2", "--let", "b=n.csv:1"]),
        "1\n1\n"
    );
    place.file("one.csv", "12\n-34\n");
    assert_eq!(place.calc(&["-a", "--let", "a=one.csv"]), "-12\n34\n");
}

#[test]
fn objects_of_json_are_read_by_key() {
    let place = Workplace::new();
    let lines = "{\"a\": 123456789012345678901234567890, \"b\": {\"c\": 1}}\n\n\
                 {\"b\": 2, \"a\": \"-0xff\"}\n{\"a\": null}\n{\"b\": 3}\n";
    place.file("t.jsonl", lines);
    let found = place.calc(&["a+1", "--let", "a=t.jsonl:a"]);
    assert_eq!(found, "123456789012345678901234567891\n-254\n\n\n");
    place.file(
        "bad.jsonl",
        "{\"a\": 1}\n{\"a\": 1.5}\n{\"a\" 7}\n12\n{\"a\": 9}\n",
    );
    let ended = place.run(&["calc", "a", "--let", "a=bad.jsonl:a", "--on-error", "null"]);
    assert_eq!((ended.code, &*ended.stdout), (0, "1\n\n\n\n9\n"));
    let told = "3 rows have no value (the first: bad.jsonl:2:8: '.' is not a decimal digit)";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
}

#[test]
fn a_cell_that_is_no_number_is_told_where_it_stands_or_left_out() {
    let place = Workplace::new();
    place.file("t.csv", "name,n\nx,1\n\"y,\nz\",  2x\n\nw,\nv,\"3\"\nu\n");
    let run = |on_error| place.run(&["calc", "n*10", "--let", "n=t.csv:n", "--on-error", on_error]);
    let told = "t.csv:4:7: 'x' is not a decimal digit";
    let ended = run("stop");
    assert_eq!((ended.code, &*ended.stdout), (2, "10\n"));
    assert_eq!(ended.stderr, format!("error: {told}\n"));
    let ended = run("skip");
    assert_eq!((ended.code, &*ended.stdout), (0, "10\n\n30\n\n"));
    assert_eq!(
        ended.stderr,
        format!("warning: 1 row was left out (the first: {told})\n")
    );
    let ended = run("null");
    assert_eq!((ended.code, &*ended.stdout), (0, "10\n\n\n30\n\n"));
    // A division by zero in a row, behind a null.
    place.file("d.csv", "a,b\n,0\n6,3\n1,0\n");
    let ended = place.run(&["calc", "a/b", "--let", "a=d.csv:a", "--let", "b=d.csv:b"]);
    assert_eq!((ended.code, &*ended.stdout), (2, "\n2\n"));
    assert!(
        ended
            .stderr
            .starts_with("error: d.csv:4:3: division by zero"),
        "{}",
        ended.stderr
    );
    place.file("empty.csv", "");
    for (source, told) in [
        ("n=t.csv", "t.csv: say which column: t.csv:NAME, of name, n"),
        ("n=t.csv:m", "t.csv: there is no column \"m\", but name, n"),
        ("n=none.csv:m", "none.csv:1:1: cannot open"),
        ("n=t.parquet:n", "t.parquet:1:1: cannot open"),
        (
            "n=empty.csv:n",
            "there is no column \"n\", as there is none",
        ),
        ("n=", "n= names no source"),
    ] {
        let ended = place.run(&["calc", "n", "--let", source]);
        assert_eq!(ended.code, 2, "{source}");
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
    }
}

#[test]
fn results_are_a_table_where_the_name_of_their_file_says_so() {
    let place = Workplace::new();
    place.file("t.csv", TABLE);
    let columns = ["--column", "twice=p*2", "--column", "id=i"];
    let sources = ["--let", "p=t.csv:price", "--let", "i=t.csv:id"];
    let run = |output: &str, more: &[&str]| {
        let arguments = [&["-o", output], &columns[..], &sources, more].concat();
        assert_eq!(place.calc(&arguments), "");
        std::fs::read(place.path().join(output)).unwrap()
    };
    let power = "680564733841876926926749214863536422912";
    let csv = format!("twice,id\n32,1\n,2\n{power},3\n");
    assert_eq!(run("r.csv", &[]), csv.as_bytes());
    assert_eq!(run("r.tsv", &[]), csv.replace(',', "\t").as_bytes());
    let objects = format!(
        "{{\"twice\":\"32\",\"id\":\"1\"}}\n{{\"twice\":null,\"id\":\"2\"}}\n{{\"twice\":\"{power}\",\"id\":\"3\"}}\n"
    );
    assert_eq!(run("r.jsonl", &[]), objects.as_bytes());
    let hexadecimal = run("h.csv", &["--format", "hex"]);
    assert!(hexadecimal.starts_with(b"twice,id\n0x20,0x1\n,0x2\n"));
    // What is packed is read again; so is what others pack.
    for packing in ["gz", "zst", "xz", "bz2"] {
        let name = format!("r.csv.{packing}");
        assert_ne!(run(&name, &[]), csv.as_bytes());
        let again = place.calc(&["a", "--let", &format!("a={name}:twice")]);
        assert_eq!(again, format!("32\n\n{power}\n"));
        let lines = format!("lines.{packing}");
        place.calc(&["a", "--let", "a=t.csv:id", "-o", &lines]);
        assert_eq!(
            place.calc(&["a", "--let", &format!("a={lines}")]),
            "1\n2\n3\n"
        );
    }
    // One total for many rows is no column beside them.
    let mixed = [
        "calc",
        "-o",
        "m.csv",
        "--column",
        "a=p",
        "--column",
        "s=sum(p)",
        "--let",
        "p=t.csv:1",
    ];
    let ended = place.run(&mixed);
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("as many totals as rows"),
        "{}",
        ended.stderr
    );
    assert!(!place.path().join("m.csv").exists());
}

/// A file of NumPy's.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

#[test]
fn arrays_of_numpy_are_rows_of_words() {
    let place = Workplace::new();
    let words: Vec<u8> = [1_u32, 0, 0, u32::MAX, u32::MAX, 7]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    place.file("u.npy", npy("<u4", "(2, 3)", &words));
    let found = place.calc(&["a", "--let", "a=u.npy", "--format", "hex"]);
    assert_eq!(found, "0x1\n0x7ffffffffffffffff\n");
    place.file("i.npy", npy(">i2", "(3,)", &[0xff, 0xff, 0x80, 0, 1, 2]));
    assert_eq!(place.calc(&["a", "--let", "a=i.npy"]), "-1\n-32768\n258\n");
    place.calc(&["a*a", "--let", "a=u.npy", "-o", "r.npy"]);
    let written = std::fs::read(place.path().join("r.npy")).unwrap();
    assert_eq!(written.len() % 64, 2 * 5 * 4);
    let header = "{'descr': '<u4', 'fortran_order': False, 'shape': (2, 5), }";
    assert!(written[10..].starts_with(header.as_bytes()));
    let found = place.calc(&["a", "--let", "a=r.npy", "--format", "hex"]);
    assert_eq!(found, "0x1\n0x3ffffffffffffffff00000000000000001\n");
    for (output, told) in [("-a", "row 1 is negative"), ("a/(a-1)", "row 1 is null")] {
        let ended = place.run(&[
            "calc",
            output,
            "--let",
            "a=u.npy",
            "-o",
            "n.npy",
            "--on-error",
            "null",
        ]);
        assert_eq!(ended.code, 1);
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
        assert!(!place.path().join("n.npy").exists());
    }
    place.file("short.npy", npy("<u4", "(2, 3)", &words[..20]));
    place.file("f.npy", npy("<f8", "(1,)", &[0; 8]));
    for (file, told) in [
        ("short.npy", "short.npy:1:1: cannot read"),
        ("f.npy", "f.npy:1:1: an array of"),
    ] {
        let ended = place.run(&["calc", "a", "--let", &format!("a={file}")]);
        assert_eq!(ended.code, 2);
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
    }
}

#[test]
fn files_are_copied_from_form_to_form_and_looked_at() {
    let place = Workplace::new();
    place.file("t.csv", TABLE);
    let run = |arguments: &[&str]| {
        let ended = place.run(arguments);
        assert_eq!((ended.code, &*ended.stderr), (0, ""), "{arguments:?}");
        ended.stdout
    };
    run(&["convert", "t.csv", "t.jsonl.gz"]);
    run(&["convert", "t.jsonl.gz", "back.tsv"]);
    let power = "340282366920938463463374607431768211456";
    let back = std::fs::read_to_string(place.path().join("back.tsv")).unwrap();
    assert_eq!(
        back,
        format!("id\tprice\t\"the \"\"other\"\"\"\n1\t16\t-5\n2\t\t7\n3\t{power}\t-1000\n")
    );
    run(&["convert", "t.csv:id", "id.npy"]);
    run(&["convert", "id.npy", "id.txt", "--format", "hex"]);
    assert_eq!(
        std::fs::read_to_string(place.path().join("id.txt")).unwrap(),
        "0x1\n0x2\n0x3\n"
    );
    let head = run(&["head", "t.csv", "-n", "2"]);
    assert_eq!(head, "id\tprice\tthe \"other\"\n1\t0x10\t-5\n2\tnull\t7\n");
    place.file("long", format!("{}\n", "7".repeat(1000)));
    let long = format!("number\n{0}...{0} (1000 characters)\n", "7".repeat(20));
    assert_eq!(run(&["head", "long"]), long);
    let stats = run(&["stats", "t.csv:price"]);
    let expected = format!(
        "price\n  rows      3\n  nulls     1\n  negative  0\n  least     16 (5 bits)\n  \
         greatest  {power} (129 bits)\n         0 bits            0 \n        32 bits            1 \
         {bar}\n        64 bits            0 \n       128 bits            0 \n       256 bits            1 {bar}\n",
        bar = "#".repeat(40)
    );
    assert_eq!(stats, expected);
    let stats = run(&["stats", "t.csv:the \"other\""]);
    assert!(
        stats.contains("  least     -1000 (10 bits)\n  greatest  7 (3 bits)\n"),
        "{stats}"
    );
    let script = "printf '1\n22\n' | \"$bigint\" head - && printf 7 | \"$bigint\" stats -";
    let looked = ended(place.script(script).output().unwrap()).stdout;
    assert!(
        looked.starts_with("number\n1\n22\nnumber\n  rows      1\n"),
        "{looked}"
    );
}

#[test]
fn names_of_columns_do_not_lead_out_of_the_folder() {
    let place = Workplace::new();
    place.file("evil.csv", "a,x/../../outside,b\n1,2,3\n");
    std::fs::create_dir_all(place.path().join("in/x")).unwrap();
    let before = place.files();
    let ended = place.run(&["convert", "evil.csv", "in/{name}.txt"]);
    assert_eq!((ended.code, &*ended.stdout), (2, ""));
    let told = "the name of the column \"x/../../outside\" cannot be a part of a file's name";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    assert_eq!(place.files(), before);
    place.file("twice.csv", "a,a\n1,2\n");
    let ended = place.run(&["convert", "twice.csv", "out.csv"]);
    assert_eq!(ended.code, 2);
    let told = "two columns have the name \"a\"";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
}

#[test]
fn rows_are_read_in_blocks_of_any_size() {
    let place = Workplace::new();
    let mut text = "a,b\n".to_owned();
    let mut expected = String::new();
    for row in 0..6_000_u64 {
        let long = if row % 2_000 == 7 {
            "9".repeat(50_000)
        } else {
            "1".to_owned()
        };
        text += &format!("{row},\"{long}\"\n");
        expected += &format!("{}\n", if long == "1" { row + 1 } else { row });
    }
    place.file("t.csv", text);
    let nines = format!("10^{}-1", 50_000);
    let b = format!("min(b, b % ({nines}))");
    for memory in ["1M", "512M"] {
        let arguments = [
            "--let",
            "a=t.csv:a",
            "--let",
            "b=t.csv:b",
            "--memory",
            memory,
        ];
        let found = place.calc(&[&[&*format!("a + {b}")], &arguments[..]].concat());
        let lines = found.lines().zip(expected.lines()).enumerate();
        let mut unlike = lines.filter(|(_, (found, expected))| found != expected);
        assert_eq!(unlike.next(), None, "{memory}");
        assert_eq!(found.len(), expected.len());
    }
}
