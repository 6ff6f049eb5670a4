//! Proofs in PRST's files and certificates, as the program makes and computes them.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::program::run;
use crate::common::running::Running;
use serde_json::Value;

fn json(output: &Output, line: usize) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().nth(line).unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|_| panic!("{output:?}"))
}

/// The files of a folder whose names end so.
fn files(folder: &Path, end: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(end)).collect();
    names.sort();
    names
}

#[test]
fn a_test_a_certificate_and_its_result() {
    // What PRST has for 16 points of these numbers, the last of which is for sweeps.
    for (number, command, raw, status, saved) in [
        ("4713*2^4713+1", "proth", "11A0BACE1A5BA225", "P", 6),
        ("3*2^391-1", "test", "3E16169F7FEB54BC", "P", 6),
        ("2*5^297+1", "test", "DB243B745B1F9CC7", "P", 5),
        ("3*2^9822+1", "test", "8EE1A625270FC2A5", "C", 6),
        ("1*594^1625-1625", "test", "F68C3E59A1436BF2", "C", 5),
    ]
    .into_iter()
    .take(bigint_testing::sweep(4, 5))
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let proof = ["--proof-power", "4", "--proof-format", "prst", "--json"];
        let test = match command {
            "proth" => vec!["proth", "4713", "4713"],
            command => vec![command, number],
        };
        let tested = run(path, &[test, proof.to_vec()].concat());
        let found = json(&tested, 0);
        assert_eq!(found["raw-certificate"], raw, "{number}");
        assert_eq!(found["status"], status, "{number}");
        assert_eq!(files(path, ".md5").len(), saved, "{number}");
        assert!(files(path, ".residues").is_empty(), "{number}");

        let built = json(&run(path, &["build-cert", number, "--json"]), 0);
        assert_eq!(
            (&built["raw-certificate"], &built["status"]),
            (&raw.into(), &status.into())
        );
        let expected = built["certificate"].as_str().unwrap();
        assert_ne!(expected, raw, "{number}");
        let computed = run(path, &["cert", number, "--json", "--expect", expected]);
        let result = json(&computed, 0);
        assert_eq!(result["res64"], expected, "{number}");
        assert_eq!(
            (&result["squarings"], computed.status.code()),
            (&built["squarings"], Some(0))
        );
        let other = run(path, &["cert", number, "--expect", raw]);
        assert_eq!(other.status.code(), Some(1), "{number}");
        // Another certificate has another secret.
        let again = json(&run(path, &["build-cert", number, "--json"]), 0);
        assert_ne!(again["certificate"], expected, "{number}");
        let open = json(&run(path, &["build-cert", number, "--raw", "--json"]), 0);
        assert_eq!(open["certificate"], raw, "{number}");
        let computed = run(path, &["cert", number, "--expect", raw]);
        assert_eq!(computed.status.code(), Some(0), "{computed:?}");

        // Of a product that is damaged its MD5 tells, and the certificate where that is not there.
        let name = files(path, "prod.1").remove(0);
        let mut bytes = fs::read(path.join(&name)).unwrap();
        bytes[30] ^= 1;
        fs::write(path.join(&name), &bytes).unwrap();
        let refused = run(path, &["build-cert", number]);
        assert_eq!(refused.status.code(), Some(2), "{number}");
        assert!(
            String::from_utf8_lossy(&refused.stderr).contains("MD5"),
            "{number}"
        );
        fs::remove_file(path.join(format!("{name}.md5"))).unwrap();
        let built = json(&run(path, &["build-cert", number, "--json"]), 0);
        let expected = built["certificate"].as_str().unwrap();
        let computed = run(path, &["cert", number, "--expect", expected]);
        assert_eq!(computed.status.code(), Some(1), "{number}");
        // A last point that is another one.
        let name = files(path, "proof.16").remove(0);
        let mut bytes = fs::read(path.join(&name)).unwrap();
        bytes[20] ^= 2;
        fs::write(path.join(&name), &bytes).unwrap();
        fs::remove_file(path.join(format!("{name}.md5"))).unwrap();
        let refused = run(path, &["build-cert", number, "--json"]);
        assert!(refused.status.code() != Some(0) || json(&refused, 0)["raw-certificate"] != raw);
    }
}

#[test]
fn certificates_are_saved_and_taken_up_again() {
    // Of squares alone, and with an exponent to another base.
    for number in ["3*2^30000+1", "2*3^19000+1"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let proof = ["--proof-power", "1", "--proof-format", "prst"];
        let tested = run(path, &[&["test", number], &proof[..]].concat());
        assert_eq!(tested.status.code(), Some(0), "{tested:?}");
        let built = json(&run(path, &["build-cert", number, "--json"]), 0);
        let expected = built["certificate"].as_str().unwrap();
        let computing = [
            "cert",
            number,
            "--expect",
            expected,
            "--report-every",
            "1ms",
        ];
        for signal in ["-INT", "-KILL", "-TERM"] {
            let slow = [
                "--save-every",
                "1ms",
                "--arithmetic",
                "exact",
                "--threads",
                "1",
            ];
            let mut cert = Running::new(path, &[&computing[..], &slow].concat());
            cert.wait_for("/");
            cert.wait_for("/");
            cert.signal(signal);
            let code = cert.code();
            // It may have come to its end before.
            let codes = [Some(0), Some(130), Some(143), None];
            assert!(codes.contains(&code), "{number} {signal} {code:?}");
        }
        let ended = run(path, &computing);
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(said.contains("taken up at"), "{number}: {said}");
        assert!(files(path, "certificate").is_empty() && files(path, "certification").is_empty());
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let code = |arguments: &[&str], what: &str| {
        let output = run(path, arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(what), "{arguments:?}: {said}");
        output.status.code()
    };
    let prst = ["--proof-format", "prst"];
    let test = |number| [&["test", number][..], &prst, &["--proof-power", "2"]].concat();
    assert_eq!(
        code(&["test", "3*2^391-1", prst[0], prst[1]], "--proof-power"),
        Some(2)
    );
    assert_eq!(code(&test("2*3^300+3"), "3 divides"), Some(2));
    assert_eq!(code(&test("4294967295*2^40+1"), "another way"), Some(2));
    assert_eq!(code(&["work", prst[0], prst[1]], "its own format"), Some(2));
    assert_eq!(code(&["build-cert", "3*2^391-1"], "no last point"), Some(2));
    assert_eq!(code(&["cert", "3*2^391-1"], ".cert"), Some(2));
    fs::write(path.join("x"), "no certificate, though it is long enough").unwrap();
    let file = path.join("x");
    assert_eq!(
        code(
            &["cert", "3*2^391-1", file.to_str().unwrap()],
            "no such file of PRST"
        ),
        Some(2)
    );
}
