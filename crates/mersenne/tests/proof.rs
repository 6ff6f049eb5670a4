//! Proofs as the program makes and checks them.

#[path = "common/program.rs"]
mod program;

use std::fs;
use std::process::Output;

use md5::{Digest, Md5};
use mersenne::{Cpu, Folder, Proof, Prp, Saved, Step};
use program::run;

fn json(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|_| panic!("{output:?}"))
}

#[test]
fn a_test_ends_with_a_proof_of_the_power_that_was_asked_for() {
    for (p, power, status) in [("2203", "5", "P"), ("2207", "1", "C"), ("2207", "0", "C")] {
        let folder = tempfile::tempdir().unwrap();
        let found = json(&run(
            folder.path(),
            &["prp", p, "--json", "--proof-power", power],
        ));
        assert_eq!(found["status"], status);
        let path = folder.path().join(format!("{p}-{power}.proof"));
        if power == "0" {
            assert_eq!(found.get("proof"), None);
            assert!(!path.exists());
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let sum: String = Md5::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let power: u32 = power.parse().unwrap();
        let expected = serde_json::json!({
            "version": 2, "power": power, "hashsize": 64, "md5": sum,
        });
        assert_eq!(found["proof"], expected);
        let header = format!("PRP PROOF\nVERSION=2\nHASHSIZE=64\nPOWER={power}\nNUMBER=M{p}\n");
        assert!(bytes.starts_with(header.as_bytes()));
        assert_eq!(bytes.len(), header.len() + (power as usize + 1) * 276);

        let verified = run(folder.path(), &["verify", path.to_str().unwrap(), "--json"]);
        assert_eq!(json(&verified)["status"], status);
        let mut wrong = bytes.clone();
        *wrong.last_mut().unwrap() ^= 1;
        fs::write(&path, &wrong).unwrap();
        let verified = run(folder.path(), &["verify", path.to_str().unwrap()]);
        assert_eq!(verified.status.code(), Some(1));
        fs::write(&path, &bytes[1..]).unwrap();
        let verified = run(folder.path(), &["verify", path.to_str().unwrap()]);
        assert_eq!(verified.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&verified.stderr).contains("PRP PROOF"));
    }
}

#[test]
fn a_power_that_is_too_great_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["prp", "127", "--proof-power", "4"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("3 is the greatest power for 127"));
    let output = run(folder.path(), &["prp", "127", "--proof-power", "13"]);
    assert_eq!(output.status.code(), Some(2));
}

/// A test of `2^4423 - 1` at rest at an iteration that is in no proof's residues but the
/// finest ones'.
fn begun(folder: &Folder) -> u32 {
    let backend = Cpu::default();
    let mut test = Saved::Prp(Prp::new(4423));
    let mut runner = test.runner(&backend).unwrap();
    let fine = Proof::iterations(4423, 6);
    while test.progress().0 < 2400 {
        let (iteration, _) = test.progress();
        let next = fine.iter().find(|&&kept| kept > iteration).unwrap();
        assert_eq!(
            test.advance(&mut runner, next - iteration).unwrap(),
            Step::Going
        );
        let (iteration, _) = test.progress();
        if Proof::iterations(4423, 2).contains(&iteration) {
            folder
                .save_residue(iteration, &runner.residue().unwrap())
                .unwrap();
        }
    }
    test.rest(&mut runner).unwrap();
    folder.save(&test).unwrap();
    test.progress().0
}

#[test]
fn a_test_that_kept_too_few_residues_ends_with_a_shorter_proof() {
    let folder = tempfile::tempdir().unwrap();
    begun(&Folder::new(folder.path()));
    let output = run(folder.path(), &["prp", "4423", "--json"]);
    assert_eq!(json(&output)["proof"]["power"], 2);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("it will be of power 2"), "{said}");
    assert!(folder.path().join("4423-2.proof").exists());
    assert!(!folder.path().join("m4423.residues").exists());
}

#[test]
fn a_residue_that_was_damaged_costs_the_proof_and_not_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let files = Folder::new(folder.path());
    begun(&files);
    // A residue that is whole and wrong, as a fault of memory leaves it.
    let wrong = files.load_residue(4423, 1106).unwrap().with_flipped_bit(77);
    files.save_residue(1106, &wrong).unwrap();
    let output = run(folder.path(), &["prp", "4423", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("has no proof: it does not hold"), "{said}");
    let found = json(&output);
    assert_eq!((&found["status"], found.get("proof")), (&"P".into(), None));
}
