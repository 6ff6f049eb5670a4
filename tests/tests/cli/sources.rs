//! What a source may be: every common way to write integers, packed files, and pipes
//! whose writers pause.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::common::Workplace;

#[test]
fn integers_are_read_however_they_are_written() {
    let place = Workplace::new();
    let lines = "\u{feff}+5\n5 # a comment\n1_000\n-0x_ff\n0o17\n+0b1_01\n\r\n# 7\n8#9\n";
    place.file("bad", lines);
    let ended = place.run(&["calc", "a", "--let", "a=bad"]);
    assert_eq!(ended.code, 2);
    let fault = "error: bad:4:4: '_' may stand between two digits only";
    assert!(ended.stderr.starts_with(fault), "{}", ended.stderr);
    place.file("a", lines.replace("0x_ff", "0xf_f"));
    let results = place.calc(&["a", "--let", "a=a"]);
    assert_eq!(results, "5\n5\n1000\n-255\n15\n5\n8\n");
    assert_eq!(place.calc(&["+a - +0b11", "--let", "a=+0o1_0"]), "5\n");
}

#[test]
fn old_mac_line_ends_are_told_apart_from_junk() {
    let place = Workplace::new();
    place.file("mac", "1\r2\r3\r");
    let ended = place.run(&["calc", "a", "--let", "a=mac"]);
    assert_eq!(ended.code, 2);
    let fault = "error: mac:1:2: a carriage return inside a line";
    assert!(ended.stderr.starts_with(fault), "{}", ended.stderr);
}

#[test]
fn packed_files_are_sources() {
    let place = Workplace::new();
    let text: String = (0..300_000).map(|i| format!("{i}\n")).collect();
    let squares: String = (0..300_000_u64).map(|i| format!("{}\n", i * i)).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let fastest = ruzstd::encoding::CompressionLevel::Fastest;
    let zstd = ruzstd::encoding::compress_to_vec(text.as_bytes(), fastest);
    place.file("a.gz", &gzip);
    place.file("a.zst", &zstd);
    let results = place.calc(&["a*b", "--let", "a=a.gz", "--let", "b=a.zst"]);
    assert!(results == squares);

    place.file("cut.gz", &gzip[..gzip.len() / 2]);
    place.file("cut.zst", &zstd[..zstd.len() / 2]);
    for source in ["cut.gz", "cut.zst"] {
        let ended = place.run(&["calc", "a", "--let", &format!("a={source}"), "-o", "r"]);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        let fault = format!("error: {source}:1:1: cannot read: ");
        assert!(ended.stderr.starts_with(&fault), "{}", ended.stderr);
        assert_eq!(place.files().len(), 4);
    }
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf_8_is_a_name() {
    use std::os::unix::ffi::OsStrExt;

    let place = Workplace::new();
    let name = std::ffi::OsStr::from_bytes(b"n\xff");
    std::fs::write(place.path().join(name), "6\n7\n").unwrap();
    let mut command = place.command();
    command.args(["calc", "a*a", "--let"]);
    command.arg(std::ffi::OsStr::from_bytes(b"a=n\xff"));
    let ended = crate::common::ended(command.output().unwrap());
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "36\n49\n"));
}

/// Writes lines to the command one by one, each when the answer to the one before is
/// there: where an answer waits for more input, this waits for ever.
#[track_caller]
fn converse(command: &mut Command) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for i in 1..100_u64 {
        writeln!(questions, "{i}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), (i + 1).to_string());
    }
    drop(questions);
    assert!(answers.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_command_answers_line_by_line() {
    let place = Workplace::new();
    place.file("one", "1\n");
    converse(place.command().args(["calc", "a+1", "--let", "a=-"]));
    let with_one = ["calc", "a+b", "--let", "a=-", "--let", "b=one"];
    converse(place.command().args(with_one));
}
