//! Residues for proofs, which go to the disk while a device squares on.

use std::fs::{self, File};
use std::io::Read;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::program::run;
use crate::common::running::Running;
use bigint_testing::simulator::on_simulator;
use mersenne::{Folder, Proof};
use serde_json::Value;

/// A pipe takes a residue's place: nobody reads it, as if the disk took no more.
#[test]
fn no_save_is_further_than_the_residues_that_are_on_the_disk() {
    let test = "keeping::no_save_is_further_than_the_residues_that_are_on_the_disk";
    if !on_simulator(test, &[]) {
        return;
    }
    let (p, power) = (1279, 3);
    let folder = tempfile::tempdir().unwrap();
    let residues = folder.path().join(Folder::residues(p));
    fs::create_dir(&residues).unwrap();
    let slow = Proof::iterations(p, power)[1];
    let pipe = residues.join(format!("{slow}.new"));
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let begin = ["prp", "1279", "--backend", "cuda", "--proof-power", "3"];
    let often = ["--report-every", "0ms", "--save-every", "1h"];
    let mut hunt = Running::new(folder.path(), &[begin.as_slice(), &often].concat());
    // Whoever waits for the pipe is let go in the end.
    let (late, begun) = (pipe.clone(), Instant::now());
    thread::spawn(move || {
        thread::sleep(Duration::from_secs(60));
        let _ = File::open(late).and_then(|mut pipe| pipe.read_to_end(&mut Vec::new()));
    });
    let done = |line: &str| {
        let (done, _) = line.split_once('/')?;
        done.rsplit(' ').next()?.parse::<u32>().ok()
    };
    while done(&hunt.wait_for("ms/iteration")).is_none_or(|done| done <= slow) {}
    hunt.signal("-TERM");
    thread::sleep(Duration::from_millis(500));
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "squarings waited"
    );
    assert!(!folder.path().join("m1279.prp").exists());
    hunt.signal("-KILL");
    assert_eq!(hunt.code(), None);
    fs::remove_file(pipe).unwrap();
    let output = run(folder.path(), &[begin.as_slice(), &["--json"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    let result: Value = serde_json::from_str(text.trim_end()).unwrap();
    assert_eq!(result["status"], "P", "{output:?}");
    assert_eq!(result["proof"]["power"], power, "{output:?}");
}
