//! The program as hunters meet it: kills, worktodo.txt, results.json.txt.

use std::fs;
use std::process::Output;

use crate::common::killed::run_and_kill;
use crate::common::program::run;
use mersenne::{Folder, LucasLehmer, PMinus1, Proof, Prp, Saved, Step};
use num_bigint::BigUint;
use sha3::{Digest, Sha3_256};

fn last_json(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let line = text
        .lines()
        .last()
        .unwrap_or_else(|| panic!("no output: {stderr}"));
    serde_json::from_str(line).unwrap()
}

#[test]
fn one_json_object_ends_a_test() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("ll", 2, "P", "0000000000000000", "LL"),
        ("prp", 2, "P", "0000000000000000", "PRP-3"),
        ("ll", 3, "P", "0000000000000000", "LL"),
        ("prp", 3, "P", "0000000000000001", "PRP-3"),
        ("ll", 1279, "P", "0000000000000000", "LL"),
        ("prp", 1279, "P", "0000000000000001", "PRP-3"),
        // 2^11 - 1 = 2047: 4, 14, 194, 788, 701, 119, 1877, 240, 282, 1736 = 0x6c8.
        ("ll", 11, "C", "00000000000006C8", "LL"),
        // 3^2046 mod 2047 = 1013 = 0x3f5.
        ("prp", 11, "C", "00000000000003F5", "PRP-3"),
    ];
    for (word, p, status, res64, worktype) in cases {
        let output = run(folder.path(), &[word, &p.to_string(), "--json"]);
        assert!(output.status.success());
        let found = last_json(&output);
        assert_eq!(found["exponent"], p);
        assert_eq!(found["status"], status);
        assert_eq!(found["res64"], res64, "{word} {p}");
        assert_eq!(found["worktype"], worktype);
    }
    for bad in [&["ll", "2047"][..], &["prp", "9"], &["ll", "x"], &["ll"]] {
        assert_eq!(run(folder.path(), bad).status.code(), Some(2), "{bad:?}");
    }
    let missing = folder.path().join("nowhere");
    assert_eq!(run(&missing, &["ll", "7"]).status.code(), Some(2));
}

#[test]
fn a_test_that_is_killed_again_and_again_goes_on_and_is_right() {
    for (word, res64) in [("ll", "0000000000000000"), ("prp", "0000000000000001")] {
        let folder = tempfile::tempdir().unwrap();
        let arguments = [word, "9689", "--json", "--save-every", "1ms"];
        for milliseconds in [3, 20, 40, 60, 80] {
            run_and_kill(folder.path(), &arguments, milliseconds);
        }
        let found = last_json(&run(folder.path(), &arguments));
        assert_eq!(
            (&found["status"], &found["res64"]),
            (&"P".into(), &res64.into())
        );
        // Nothing but the result stays, and the proof, which holds.
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        let proof = folder.path().join("proof/9689-6.proof");
        if word == "prp" {
            assert_eq!(names, ["proof", "results.json.txt"]);
            assert_eq!(found["proof"]["power"], 6);
            let verified = run(
                folder.path(),
                &["verify", proof.to_str().unwrap(), "--json"],
            );
            assert_eq!(last_json(&verified)["status"], "P");
        } else {
            assert_eq!(names, ["results.json.txt"]);
        }
    }
}

/// A test after so many steps.
fn after(test: &Saved, steps: u32) -> Saved {
    let backend = mersenne::Cpu::default();
    let mut test = test.clone();
    let mut runner = test.runner(&backend).unwrap();
    for _ in 0..steps {
        assert_eq!(test.advance(&mut runner, 7).unwrap(), Step::Going);
    }
    test.rest(&mut runner).unwrap();
    test
}

#[test]
fn between_any_two_writes_of_a_save_one_of_the_files_is_whole() {
    for start in [
        Saved::LucasLehmer(LucasLehmer::new(607)),
        Saved::Prp(Prp::new(607)),
        Saved::PMinus1(PMinus1::new(607, 1000).unwrap()),
    ] {
        let (earlier, later) = (after(&start, 6), after(&start, 30));
        let stem = match start.worktype() {
            "LL" => "m607.ll",
            "P-1" => "m607.1000.pm1",
            _ => "m607.prp",
        };
        let written = |test: &Saved| {
            let folder = tempfile::tempdir().unwrap();
            Folder::new(folder.path()).save(test).unwrap();
            fs::read(folder.path().join(stem)).unwrap()
        };
        let (old, new) = (written(&earlier), written(&later));
        // What is there after each step of the second save: name, .new, .old.
        let cut = |length: usize| Some(&new[..length]);
        let whole = Some(&new[..]);
        let before = Some(&old[..]);
        let mut states = vec![
            ([before, None, None], &earlier),
            ([before, whole, None], &later),
            ([None, whole, before], &later),
            ([whole, None, before], &later),
        ];
        states.extend((0..new.len()).map(|length| ([before, cut(length), None], &earlier)));
        // The first save, cut short, leaves nothing to take up.
        let states = states.into_iter().map(|(files, test)| (files, Some(test)));
        let first = (0..new.len()).map(|length| ([None, cut(length), None], None));
        for (files, expected) in states.chain(first) {
            let folder = tempfile::tempdir().unwrap();
            for (file, end) in files.into_iter().zip(["", ".new", ".old"]) {
                if let Some(bytes) = file {
                    fs::write(folder.path().join(format!("{stem}{end}")), bytes).unwrap();
                }
            }
            let (found, _) = Folder::new(folder.path()).load(&start).unwrap();
            assert_eq!(found.as_ref(), expected);
        }
        // Any byte that is changed is seen.
        let folder = tempfile::tempdir().unwrap();
        for i in 0..new.len() {
            let mut damaged = new.clone();
            damaged[i] ^= 1;
            fs::write(folder.path().join(stem), damaged).unwrap();
            assert!(Folder::new(folder.path()).load(&start).is_err(), "byte {i}");
        }
    }
}

#[test]
fn a_save_is_taken_up_by_the_other_arithmetic() {
    for word in ["ll", "prp"] {
        let folder = tempfile::tempdir().unwrap();
        let start = match word {
            "ll" => Saved::LucasLehmer(LucasLehmer::new(1279)),
            _ => Saved::Prp(Prp::new(1279)),
        };
        Folder::new(folder.path()).save(&after(&start, 20)).unwrap();
        let output = run(
            folder.path(),
            &[word, "1279", "--json", "--arithmetic", "fp64"],
        );
        assert!(String::from_utf8_lossy(&output.stderr).contains("taken up"));
        assert_eq!(last_json(&output)["status"], "P");
    }
}

#[test]
fn worktodo_is_worked_off_and_results_are_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let worktodo = folder.path().join("worktodo.txt");
    let id = "0123456789ABCDEF0123456789ABCDEF";
    fs::write(
        &worktodo,
        format!(
            "# mine\nPRP={id},1,2,1279,-1,75,0,3,1\nDoubleCheck=N/A,607,60,1\n\nTest=11,60,1\n"
        ),
    )
    .unwrap();
    assert!(
        run(folder.path(), &["work", "--user", "me", "--uid", "gpu0"])
            .status
            .success()
    );
    assert_eq!(fs::read_to_string(&worktodo).unwrap(), "# mine\n\n");
    let results = folder.path().join("results.json.txt");
    let text = fs::read_to_string(&results).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["aid"], id);
    assert_eq!(lines[0]["worktype"], "PRP-3");
    assert_eq!(lines[0]["residue-type"], 1);
    assert_eq!(lines[0]["errors"]["gerbicz"], 0);
    assert_eq!(lines[0]["program"]["name"], "mersenne");
    assert_eq!(lines[0]["user"], "me");
    assert_eq!(lines[0]["uid"], "gpu0");
    let os = &lines[0]["program"]["os"];
    assert_eq!(os["architecture"], std::env::consts::ARCH);
    assert!(os["os"].is_string() && os["version"].is_string(), "{os}");
    assert_eq!(lines[1]["worktype"], "LL");
    assert!(lines[1]["shift-count"].as_u64() < lines[1]["exponent"].as_u64());
    assert_eq!(lines[1]["error-code"], "00000000");
    assert_eq!(
        (&lines[2]["exponent"], &lines[2]["status"]),
        (&11.into(), &"C".into())
    );
    // Killed after a result and before the line was taken out: done again, told once. A
    // line cut short does not spoil the next.
    fs::write(&results, text.trim_end_matches('}').trim_end_matches("}\n")).unwrap();
    fs::write(&worktodo, "DoubleCheck=N/A,607,60,1\nTest=11,60,1\n").unwrap();
    assert!(run(folder.path(), &["work"]).status.success());
    let again = fs::read_to_string(&results).unwrap();
    let count = |word: &str| again.lines().filter(|line| line.contains(word)).count();
    assert_eq!(count("\"exponent\":607"), 1);
    assert!(again.lines().last().is_some_and(|line| line.ends_with('}')));
}

/// A folder that asks for the certification of a proof of 2^9689 - 1, with the hash that
/// answers it.
fn certification() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["prp", "9689", "--proof-power", "1"]);
    assert!(output.status.success());
    let path = folder.path().join("proof/9689-1.proof");
    let proof = Proof::from_bytes(&fs::read(&path).unwrap()).unwrap();
    let left = proof.certificate().unwrap();
    fs::remove_file(path).unwrap();
    fs::remove_file(folder.path().join("results.json.txt")).unwrap();
    fs::write(folder.path().join("M9689.cert"), left.start.to_bytes()).unwrap();
    let line = format!("Cert=N/A,1,2,9689,-1,{}\n", left.squarings());
    fs::write(folder.path().join("worktodo.txt"), line).unwrap();
    let hash = Sha3_256::digest(left.end.to_bytes());
    let hash = hash
        .iter()
        .rev()
        .map(|byte| format!("{byte:02X}"))
        .collect();
    (folder, hash)
}

#[test]
fn a_certification_that_is_killed_again_and_again_ends_with_the_hash_of_what_was_proved() {
    let (folder, hash) = certification();
    let arguments = ["work", "--save-every", "1ms"];
    for milliseconds in [3, 10, 20, 30] {
        run_and_kill(folder.path(), &arguments, milliseconds);
    }
    let output = run(folder.path(), &arguments);
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(folder.path().join("results.json.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1, "{text}");
    let found: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!(found["worktype"], "Cert");
    assert_eq!(found["exponent"], 9689);
    assert_eq!(found["sha3-hash"], hash.as_str());
    assert_eq!(found["squarings"], 4845);
    assert_eq!(found["error-code"], "00000000");
    assert_eq!(found.get("status"), None);
    let names = fs::read_dir(folder.path()).unwrap();
    assert_eq!(
        names.count(),
        4,
        "results, worktodo.txt, the log and proof/ are left"
    );
}

#[test]
fn a_certification_without_its_residue_is_told() {
    let (folder, _) = certification();
    let start = folder.path().join("M9689.cert");
    fs::write(&start, [1; 100]).unwrap();
    for what in ["100 bytes", "M9689.cert"] {
        let output = run(folder.path(), &["work"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains(what));
        let _ = fs::remove_file(&start);
    }
}

#[test]
fn a_prp_test_reports_its_last_2048_bits() {
    let folder = tempfile::tempdir().unwrap();
    // 3^2046 mod 2047 = 0x3f5; the other by num-bigint.
    for p in [11, 2207_u32] {
        let output = run(folder.path(), &["prp", &p.to_string(), "--json"]);
        let modulus = (BigUint::from(1u32) << p) - 1u32;
        let residue = BigUint::from(3u32).modpow(&(&modulus - 1u32), &modulus);
        let low = residue % (BigUint::from(1u32) << 2048);
        assert_eq!(last_json(&output)["res2048"], format!("{low:0512x}"), "{p}");
    }
}

#[test]
fn as_many_threads_work_as_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    for threads in [1, 2] {
        let wanted = threads.to_string();
        let arguments = [
            "bench",
            "127",
            "--json",
            "--time",
            "1us",
            "--threads",
            &wanted,
        ];
        let measured = last_json(&run(folder.path(), &arguments));
        assert_eq!(measured["threads"], threads);
    }
    let number = ["bench", "3*2^300+1", "--json", "--time", "1us"];
    assert_eq!(
        last_json(&run(folder.path(), &number))["number"],
        "3*2^300+1"
    );
    let output = run(folder.path(), &["bench", "127", "--threads", "0"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn tune_leaves_lengths_that_later_tests_use() {
    let folder = tempfile::tempdir().unwrap();
    let tune = ["tune", "--from", "64", "--to", "512", "--time", "1ms"];
    assert!(run(folder.path(), &tune).status.success());
    let bench = [
        "bench",
        "4423",
        "--json",
        "--time",
        "1ms",
        "--arithmetic",
        "fp64",
    ];
    let words = last_json(&run(folder.path(), &bench))["fft-length"]
        .as_u64()
        .unwrap();
    let tuned = fs::read_to_string(folder.path().join("mersenne-tune.json")).unwrap();
    assert!(tuned.contains(&format!("\"words\": {words},")));
    fs::write(folder.path().join("mersenne-tune.json"), "{\n").unwrap();
    let output = run(folder.path(), &bench);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("mersenne-tune.json:2:"));
}

#[test]
fn a_selftest_compares_residues_with_the_cpus() {
    let folder = tempfile::tempdir().unwrap();
    // 4, 14, 194, 194^2 - 2.
    let arguments = [
        "selftest",
        "--to",
        "31",
        "--compare",
        "4423:3",
        "--compare",
        "9689:100",
        "--compare",
        "3*2^9999+1:2",
    ];
    let output = run(folder.path(), &arguments);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("M4423: 0000000000009302 after 3 iterations, as on the CPU"),
        "{said}"
    );
    // 11^(3 2^2).
    assert!(
        said.contains("3*2^9999+1: 000002DAB8E89691 after 2 iterations"),
        "{said}"
    );
    assert!(said.contains("all right"), "{said}");
    for bad in ["4423", "4422:3", "4423:x", "3*2^9999:2"] {
        let output = run(folder.path(), &["selftest", "--compare", bad]);
        assert_eq!(output.status.code(), Some(2), "{bad}");
    }
}
