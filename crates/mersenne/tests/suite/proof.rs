//! Proofs as the program makes and checks them.

use std::collections::HashMap;
use std::fs;
use std::process::Output;

use crate::common::program::run;
use md5::{Digest, Md5};
use mersenne::{Cpu, Folder, Proof, Prp, Residue, Runner, Saved, Step};

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
        let path = folder.path().join(format!("proof/{p}-{power}.proof"));
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
fn a_forged_proof_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forged.proof");
    let verify = |p: u32, residues: &[Vec<u8>]| {
        let power = residues.len() - 1;
        let header = format!("PRP PROOF\nVERSION=2\nHASHSIZE=64\nPOWER={power}\nNUMBER=M{p}\n");
        let mut bytes = header.into_bytes();
        for residue in residues {
            let mut residue = residue.clone();
            residue.resize(p.div_ceil(8) as usize, 0);
            bytes.extend(residue);
        }
        fs::write(&path, bytes).unwrap();
        let output = run(folder.path(), &["verify", path.to_str().unwrap(), "--json"]);
        assert!(output.stdout.is_empty(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    // 2^8243 - 1 has the factor 16487, and is said to be prime.
    let all = |p: u32| {
        let mut bytes = vec![0xff; p.div_ceil(8) as usize];
        *bytes.last_mut().unwrap() >>= 8 * p.div_ceil(8) - p;
        bytes
    };
    let (nine, zero) = (vec![9], vec![0]);
    for middle in [zero, all(8243)] {
        let (code, said) = verify(8243, &[nine.clone(), middle]);
        assert!(code == Some(2) && said.contains("middle 1"), "{said}");
    }
    let (code, said) = verify(8243, &[nine.clone(), 16_487u32.to_le_bytes().to_vec()]);
    assert!(code == Some(1) && said.contains("factor 16487"), "{said}");
    // 2^9689 - 1 is prime, and is said to be none.
    let mut minus_nine = all(9689);
    minus_nine[0] -= 9;
    let (code, said) = verify(9689, &[minus_nine, vec![1]]);
    assert!(code == Some(1) && said.contains("may be hidden"), "{said}");
    let (code, said) = verify(1277, &[nine, vec![1]]);
    assert!(
        code == Some(1) && said.contains("ends with another"),
        "{said}"
    );
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
    assert!(folder.path().join("proof/4423-2.proof").exists());
    assert!(!folder.path().join("m4423.residues").exists());
}

#[test]
fn a_residue_that_cannot_be_written_costs_halvings_and_not_the_test() {
    let folder = tempfile::tempdir().unwrap();
    // A folder stands where the residue of a proof of power 3 and more is to be written.
    let iteration = Proof::iterations(2203, 3)[2];
    assert!(!Proof::iterations(2203, 2).contains(&iteration));
    let residues = folder.path().join("m2203.residues");
    fs::create_dir_all(residues.join(iteration.to_string()).join("in the way")).unwrap();
    let output = run(
        folder.path(),
        &["prp", "2203", "--json", "--proof-power", "5"],
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("its proof will be of power 2"), "{said}");
    let found = json(&output);
    assert_eq!(
        (&found["status"], &found["proof"]["power"]),
        (&"P".into(), &2.into())
    );
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
    assert!(said.contains("it does not hold"), "{said}");
    assert!(
        said.contains("it is made again") && said.contains("has no proof"),
        "{said}"
    );
    // They are there for whoever looks for what was wrong.
    let left = files.load_residue(4423, 1106).unwrap();
    assert_eq!(left, wrong);
    assert!(!folder.path().join("m4423.prp").exists());
    let found = json(&output);
    assert_eq!((&found["status"], found.get("proof")), (&"P".into(), None));
}

#[test]
fn a_proof_that_was_interrupted_goes_on_where_it_was() {
    let (p, power, cpu) = (1279, 5, Cpu::default());
    let mut runner = Runner::new(p, 0, &cpu).unwrap();
    let (mut at, mut residues) = (0, HashMap::new());
    runner.set(&Residue::from_u64(p, 3)).unwrap();
    for iteration in Proof::iterations(p, power) {
        runner.square(iteration - at).unwrap();
        at = iteration;
        residues.insert(iteration, runner.residue().unwrap());
    }
    let folder = tempfile::tempdir().unwrap();
    let files = Folder::new(folder.path());
    files.save_residue(p, &residues[&p]).unwrap();
    let (mut level, residue) = (0, |iteration| Ok(residues[&iteration].clone()));
    let whole = Proof::go_on(p, power, &Cpu::default(), Vec::new(), residue, |middle| {
        files.save_middle(power, level, middle).unwrap();
        level += 1;
    });
    let whole = whole.unwrap();
    assert_eq!(level, power);
    assert!(whole.certificate().unwrap().holds(&cpu).unwrap());
    let known = files.load_middles(p, power);
    assert_eq!(known.len(), 5);
    for done in 0..=5 {
        let (mut read, mut kept) = (0, 0);
        let residue = |iteration| {
            read += 1;
            Ok(residues[&iteration].clone())
        };
        let proof = Proof::go_on(
            p,
            power,
            &Cpu::default(),
            known[..done].to_vec(),
            residue,
            |_| kept += 1,
        );
        assert_eq!(proof.unwrap(), whole);
        // The last residue, and one for each leaf of the levels that are left.
        assert_eq!((read, kept), (1 + (1 << 5) - (1 << done), 5 - done));
    }
    // One that is damaged is made again, and those behind it.
    let path = folder.path().join("m1279.residues/middle-5-2");
    let mut bytes = fs::read(&path).unwrap();
    bytes[7] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(files.load_middles(p, power), known[..2]);
    files.remove_middles(p, power).unwrap();
    assert_eq!(files.load_middles(p, power), []);
    assert_eq!(files.load_residue(p, p).unwrap(), residues[&p]);
}

#[test]
fn powers_grow_with_the_exponent() {
    for (p, power) in [
        (3, 0),
        (127, 3),
        (65_537, 8),
        (14_999_999, 8),
        (15_000_017, 9),
        (57_885_161, 9),
        (118_845_473, 10),
        (332_220_523, 10),
    ] {
        assert_eq!(Proof::good_power(p), power, "{p}");
    }
}
