//! Weeks without anybody who looks: lines that nobody understands, locks, signals, damaged saves.

use std::fs::{self, File};
use std::path::Path;
use std::process::Output;

use crate::common::program::run;
use crate::common::running::Running;
use mersenne::{Cpu, Folder, LucasLehmer, Proof, Prp, Residue, Saved, Step};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn results(folder: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(folder.join("results.json.txt")).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn lines_that_ask_for_something_else_are_told_with_their_place_and_left() {
    let folder = tempfile::tempdir().unwrap();
    let worktodo = folder.path().join("worktodo.txt");
    let cases = [
        ("Factor=N/A,1279,61,60", "1:20"),
        ("Factor=N/A,1279,60", "1:8"),
        ("Factor=N/A,1279,0,60", "1:17"),
        ("Factor=N/A,1279,60,96", "1:20"),
        ("Factor=N/A,1280,60,61", "1:12"),
        ("Factor=N/A,3,1,95", "1:16"),
        ("ECM2=N/A,1,2,1279,-1,100,0,0", "1:28"),
        ("ECM2=N/A,1,2,1279,-1,100,0", "1:6"),
        ("ECM2=N/A,1,2,1279,-1,100,0,1,5", "1:30"),
        ("ECM2=N/A,1,10,1279,-1,100,0,1", "1:12"),
        ("ECM2=N/A,1,2,1277,-1,100,0,1,\"7\"", "1:31"),
        ("ECM=N/A,1279,100,0,1", "1:1"),
        ("\n  DoubleCheck=N/A,608,60,1", "2:19"),
        ("PRP=N/A,1,2,1279,1", "1:18"),
        ("PRP=N/A,1,2,1279,-1,75,0,3,5", "1:28"),
        ("PRP=N/A,1,2,1277,-1,\"12345\"", "1:22"),
        ("PRP=N/A,1,2,1277,-1,\"x\"", "1:22"),
        ("PRP=N/A,1,2,11,-1,\"23,89\"", "1:20"),
        ("PRP=N/A,1,2,11,-1,75,0,3,1,\"23\"", "1:26"),
        ("Cert=N/A,1,2,1279,-1", "1:6"),
        ("Cert=N/A,1,2,1279,-1,0", "1:22"),
        ("Cert=N/A,1,2,1279,-1,1280", "1:22"),
        ("Pminus1=N/A,1,2,1279,-1", "1:9"),
        ("Pminus1=N/A,1,2,1279,-1,1,0", "1:25"),
        ("Pminus1=N/A,1,2,1279,-1,100,99", "1:29"),
        ("Pminus1=N/A,1,2,1279,-1,100,1000000000001", "1:29"),
        ("PFactor=N/A,1,2,1279,-1,0,2", "1:25"),
        ("PFactor=N/A,1,2,1279,-1,75,0", "1:28"),
        ("PFactor=N/A,1,2,1279,-1,75", "1:9"),
        ("B1=1000,B2=20000;PRP=N/A,1,2,1279,-1,75,0", "1:1"),
        ("[Worker #1]", "1:1"),
        ("; mine", "1:1"),
        ("hello", "1:1"),
        ("Test=", "1:6"),
    ];
    // All at once, before and behind what can be done.
    let lines: Vec<&str> = cases.iter().map(|(line, _)| *line).collect();
    let bad = lines.join("\r\n");
    let mut text = b"\xef\xbb\xbfPRP=,1,2,521,-1\n".to_vec();
    text.extend(
        bad.bytes()
            .chain(*b"\nTest=607,60,1\n\xff\xfe=1\n# the end"),
    );
    fs::write(&worktodo, &text).unwrap();
    let output = run(folder.path(), &["work"]);
    assert!(output.status.success(), "{}", said(&output));
    let said_at_once = said(&output);
    for (line, place) in cases {
        let column = place.split_once(':').unwrap().1;
        let row = text.split(|&byte| byte == b'\n');
        let row = row.zip(1..).find(|(row, _)| {
            let row = row.trim_ascii();
            row == line.trim().as_bytes()
        });
        let row = row.unwrap().1;
        let found = said_at_once
            .matches(&format!("worktodo.txt:{row}:{column}: "))
            .count();
        // The first line goes while the program runs, and told is told.
        assert_eq!(found, 1, "{line}: {said_at_once}");
    }
    let left = [bad.as_bytes(), b"\n\xff\xfe=1\n# the end"].concat();
    assert_eq!(fs::read(&worktodo).unwrap(), left);
    let found: Vec<_> = results(folder.path());
    let exponents: Vec<_> = found.iter().map(|line| &line["exponent"]).collect();
    assert_eq!(exponents, [521, 607]);
}

#[test]
fn a_line_that_fails_is_passed_over_and_makes_the_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let worktodo = folder.path().join("worktodo.txt");
    // No residue to certify from; B1 that finds all factors.
    let bad = "Cert=N/A,1,2,1279,-1,100\nPminus1=N/A,1,2,11,-1,100,0\n";
    fs::write(&worktodo, format!("{bad}Test=607,60,1\n")).unwrap();
    let output = run(folder.path(), &["work"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("M1279.cert") && said(&output).contains("are left: 2"));
    assert_eq!(fs::read_to_string(&worktodo).unwrap(), bad);
    assert_eq!(results(folder.path()).len(), 1);
}

#[test]
fn a_certification_from_zero_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("worktodo.txt"),
        "Cert=N/A,1,2,1279,-1,100\n",
    )
    .unwrap();
    let mut modulus = vec![0xff; 160];
    modulus[159] = 0x7f;
    for start in [vec![0; 160], modulus, vec![0xff; 160]] {
        fs::write(folder.path().join("M1279.cert"), start).unwrap();
        let output = run(folder.path(), &["work"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains("nothing can be certified"));
        assert_eq!(results(folder.path()).len(), 0);
    }
}

#[test]
fn the_second_of_two_hunts_in_a_folder_is_told_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let worktodo = folder.path().join("worktodo.txt");
    fs::write(&worktodo, "PRP=N/A,1,2,216091,-1\n").unwrap();
    let mut first = Running::new(folder.path(), &["work", "--report-every", "1ms"]);
    first.wait_for("ms/iteration");
    let process = format!("process {}", first.child.id());
    // The same hunt, and its test alone; others may be run.
    for arguments in [&["work"][..], &["prp", "216091"]] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains(&process), "{}", said(&output));
    }
    assert!(run(folder.path(), &["prp", "521"]).status.success());
    // A terminal that is closed saves the test as Ctrl-C does.
    // Unless that was to be ignored, as under nohup.
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
    let (name, code) = match ignored & 1 {
        0 => ("-HUP", 129),
        _ => ("-TERM", 143),
    };
    first.signal(name);
    first.wait_for("saved at iteration");
    assert_eq!(first.code(), Some(code));
    assert!(folder.path().join("m216091.prp").exists());
    assert!(!folder.path().join("mersenne.lck").exists());
}

#[test]
fn a_kill_leaves_no_lock_that_stands_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("worktodo.txt"), "Test=607,60,1\n").unwrap();
    let mut hunt = Running::new(folder.path(), &["ll", "216091", "--report-every", "1ms"]);
    hunt.wait_for("ms/iteration");
    hunt.signal("-KILL");
    assert_eq!(hunt.code(), None);
    let left = folder.path().join("m216091.ll.lck");
    assert!(left.exists());
    for name in [
        "mersenne.lck",
        "m607.ll.lck",
        "worktodo.txt.lck",
        "results.json.txt.lck",
    ] {
        fs::copy(&left, folder.path().join(name)).unwrap();
    }
    assert!(run(folder.path(), &["work"]).status.success());
    assert_eq!(results(folder.path()).len(), 1);
}

#[test]
fn what_another_program_has_is_waited_for_and_no_test_is_run_twice() {
    let folder = tempfile::tempdir().unwrap();
    let [worktodo, lock] =
        ["worktodo.txt", "worktodo.txt.lck"].map(|name| folder.path().join(name));
    let id = "0123456789ABCDEF0123456789ABCDEF";
    fs::write(&worktodo, format!("PRP={id},1,2,1279,-1\n")).unwrap();
    // AutoPrimeNet's, of an hour ago.
    let file = File::create(&lock).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3600))
        .unwrap();
    let mut hunt = Running::new(folder.path(), &["work"]);
    let told = hunt.wait_for("waiting");
    assert!(
        told.contains("worktodo.txt.lck: another program has it"),
        "{told}"
    );
    assert_eq!(results(folder.path()).len(), 1);
    // A stop while it waits: the result stands, and the line too.
    hunt.signal("-TERM");
    assert_eq!(hunt.code(), Some(143));
    assert!(fs::read_to_string(&worktodo).unwrap().contains(id));
    // Another hunt: no test, the line only.
    let mut hunt = Running::new(folder.path(), &["work"]);
    hunt.wait_for("waiting");
    fs::remove_file(&lock).unwrap();
    let told = hunt.wait_for("no more lines");
    assert!(!told.contains("probable prime"), "{told}");
    assert_eq!(hunt.code(), Some(0));
    assert_eq!(fs::read_to_string(&worktodo).unwrap(), "");
    assert_eq!(results(folder.path()).len(), 1);
}

#[test]
fn a_kill_behind_the_end_of_a_test_leaves_the_rest_to_the_next_start() {
    let id = "0123456789ABCDEF0123456789ABCDEF";
    for line in [
        "Pminus1=N/A,1,2,2017,-1,1000,0\n".to_owned(),
        format!("PRP={id},1,2,1279,-1\n"),
        "Factor=N/A,29,10,12\n".to_owned(),
    ] {
        for is_taken_out in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let [worktodo, lock] =
                ["worktodo.txt", "worktodo.txt.lck"].map(|name| folder.path().join(name));
            fs::write(&worktodo, &line).unwrap();
            File::create(&lock).unwrap();
            let mut hunt = Running::new(folder.path(), &["work", "--save-every", "0ms"]);
            hunt.wait_for("waiting");
            hunt.signal("-KILL");
            assert_eq!(hunt.code(), None);
            let names = || fs::read_dir(folder.path()).unwrap().flatten();
            assert!(names().any(|entry| entry.file_name().to_string_lossy().starts_with('m')));
            // The kill may come before the line is taken out, or behind that.
            if is_taken_out {
                fs::write(&worktodo, "").unwrap();
            }
            fs::remove_file(&lock).unwrap();
            let output = run(folder.path(), &["work"]);
            assert!(output.status.success() && !said(&output).contains("taken up"));
            assert_eq!(fs::read_to_string(&worktodo).unwrap(), "");
            assert_eq!(results(folder.path()).len(), 1);
            let proofs = usize::from(folder.path().join("proof").exists());
            let left = names().count() - proofs;
            assert_eq!(
                left, 3,
                "results, worktodo.txt and the log are left of {line}"
            );
        }
    }
}

#[test]
fn saves_that_are_all_damaged_are_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("worktodo.txt"),
        "PRP=N/A,1,2,1279,-1\nFactor=N/A,1279,1,20\n",
    )
    .unwrap();
    let names = ["m1279.prp", "m1279.prp.old", "m1279.1-20.tf"];
    for name in names {
        fs::write(folder.path().join(name), "mersenne save 1\nno more").unwrap();
    }
    let output = run(folder.path(), &["work"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("begins anew"));
    assert_eq!(results(folder.path()).len(), 2);
    for name in names {
        assert!(folder.path().join(format!("{name}.damaged")).exists());
    }
}

/// The save file of this test, with this in its second line in place of that.
fn with_header(test: &Saved, from: &str, to: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    Folder::new(folder.path()).save(test).unwrap();
    let bytes = fs::read(folder.path().join("m1279.prp")).unwrap();
    let line = bytes
        .iter()
        .enumerate()
        .filter(|&(_, &byte)| byte == b'\n')
        .nth(1)
        .unwrap()
        .0;
    let header = String::from_utf8(bytes[..line].to_vec()).unwrap();
    assert!(header.contains(from), "{header}");
    let mut changed = header.replace(from, to).into_bytes();
    changed.extend(&bytes[line..bytes.len() - 4]);
    changed.extend(crc32fast::hash(&changed).to_le_bytes());
    changed
}

#[test]
fn headers_that_no_test_can_have_are_damage() {
    let start = Saved::Prp(Prp::new(1279));
    let mut test = start.clone();
    let cpu = Cpu::default();
    let mut runner = test.runner(&cpu).unwrap();
    while test.progress().0 < 100 {
        assert_eq!(test.advance(&mut runner, 1000).unwrap(), Step::Going);
    }
    test.rest(&mut runner).unwrap();
    let (iteration, _) = test.progress();
    let iteration = format!("\"iteration\":{iteration}");
    let cases = [
        ("\"block\":35", "\"block\":4000000000"),
        ("\"block\":35", "\"block\":10001"),
        ("\"block\":35", "\"block\":0"),
        ("\"verified\":0", "\"verified\":34"),
        ("\"verified\":0", "\"verified\":4200"),
        ("\"verified\":0", "\"verified\":35000"),
        (&iteration, "\"iteration\":4294967295"),
        (&iteration, "\"iteration\":1295"),
        (&iteration, "\"iteration\":1279"),
        (&iteration, "\"iteration\":0"),
        ("\"has_last\":false", "\"has_last\":true"),
        ("\"exponent\":1279", "\"exponent\":1277"),
        ("\"exponent\":1279", "\"k\":3,\"exponent\":1279"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m1279.prp");
    for (from, to) in cases {
        fs::write(&path, with_header(&test, from, to)).unwrap();
        assert!(Folder::new(folder.path()).load(&start).is_err(), "{to}");
    }
    fs::write(&path, with_header(&test, "\"errors\":0", "\"errors\":0")).unwrap();
    let (found, _) = Folder::new(folder.path()).load(&start).unwrap();
    assert_eq!(found, Some(test));
}

#[test]
fn a_test_that_is_done_is_saved_as_such() {
    for start in [
        Saved::LucasLehmer(LucasLehmer::new(607)),
        Saved::Prp(Prp::new(607)),
    ] {
        let (mut test, cpu) = (start.clone(), Cpu::default());
        let mut runner = test.runner(&cpu).unwrap();
        let outcome = loop {
            if let Step::Done(outcome) = test.advance(&mut runner, 1000).unwrap() {
                break outcome;
            }
        };
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder::new(folder.path());
        fs::create_dir_all(folder.file("")).unwrap();
        folder.save(&test).unwrap();
        let mut again = folder.load(&start).unwrap().0.unwrap();
        let mut runner = again.runner(&cpu).unwrap();
        assert_eq!(
            again.advance(&mut runner, 1000).unwrap(),
            Step::Done(outcome)
        );
    }
}

#[test]
fn a_proof_that_is_checked_heeds_signals() {
    let folder = tempfile::tempdir().unwrap();
    // Half of the squarings of a long exponent.
    let p = 216_091;
    let x = Residue::from_u64(p, 5);
    let mut bytes =
        format!("PRP PROOF\nVERSION=2\nHASHSIZE=64\nPOWER=1\nNUMBER=M{p}\n").into_bytes();
    bytes.extend([x.to_bytes(), x.to_bytes()].concat());
    assert!(Proof::from_bytes(&bytes).is_ok());
    let path = folder.path().join("long.proof");
    fs::write(&path, bytes).unwrap();
    let arguments = ["verify", path.to_str().unwrap(), "--report-every", "1ms"];
    let mut verify = Running::new(folder.path(), &arguments);
    verify.wait_for("ms/iteration");
    verify.signal("-TERM");
    assert_eq!(verify.code(), Some(143));
}
