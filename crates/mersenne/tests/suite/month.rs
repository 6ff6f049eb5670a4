//! A month of two workers that nobody looks after: AutoPrimeNet brings lines and holds locks, and at any
//! moment a kill comes, a full disk, a closed terminal.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::program::run;
use md5::{Digest, Md5};
use mersenne::{KNOWN_PRIMES, is_prime};
use serde_json::Value;

/// Lines that no worker can do.
const BAD: [&[u8]; 4] = [
    b"hello\n",
    b"ECM2=N/A,1,2,1279,-1,100,0,0\n",
    b"\xff\xfe=1\n",
    b"PRP=N/A,1,2,1280,-1\n",
];

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.0 >> 33) % bound
    }

    fn wait(&mut self, milliseconds: u64) {
        sleep(Duration::from_millis(self.below(milliseconds)));
    }
}

/// The name of the assignment of an exponent, and its line.
fn assignment(p: u32, kind: usize) -> (String, String) {
    let id = format!("{p:032X}");
    let line = match kind % 8 {
        0 => format!("DoubleCheck={id},{p},60,1\n"),
        1 => format!("Pminus1={id},1,2,{p},-1,50,500\n"),
        2 => format!("Factor={id},{p},1,20\n"),
        3 => format!("ECM2={id},1,2,{p},-1,50,500,2\n"),
        _ => format!("PRP={id},1,2,{p},-1,75,0,3,1\n"),
    };
    (id, line)
}

/// AutoPrimeNet's lock of a file, if it can have it before long.
fn locked(path: &Path) -> bool {
    (0..2000).any(|_| {
        sleep(Duration::from_millis(1));
        File::create_new(path).is_ok()
    })
}

/// Appends lines to a worker's as AutoPrimeNet does: the lock is held for as long as its server takes.
fn bring(folder: &Path, worker: u64, lines: &[u8], random: &mut Random) -> bool {
    let path = folder.join(format!("worktodo-{worker}.txt"));
    let lock = folder.join(format!("worktodo-{worker}.txt.lck"));
    if !locked(&lock) {
        return false;
    }
    random.wait(30);
    let mut text = fs::read(&path).unwrap_or_default();
    text.extend(lines);
    fs::write(&path, text).unwrap();
    fs::remove_file(lock).unwrap();
    true
}

/// A worker whose files may have so many blocks of 512 bytes; its standard streams are closed.
fn worker(folder: &Path, number: u64, blocks: &str) -> Child {
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\" <&- >&- 2>&-");
    let number = number.to_string();
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_mersenne")]);
    shell.args(["work", "--autoprimenet", "--save-every", "0ms"]);
    shell.args(["--report-every", "1ms", "--worker", &number]);
    shell.arg("--folder").arg(folder);
    shell.stdin(Stdio::null()).spawn().unwrap()
}

/// The lines that are whole.
fn results(folder: &Path) -> Vec<Value> {
    let text = [0, 1].map(|worker| {
        let path = folder.join(format!("results-{worker}.txt"));
        fs::read_to_string(path).unwrap()
    });
    let lines = text.iter().flat_map(|text| text.lines());
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Whether the proof of a result is there, is the one that the result names, and holds. A full disk
/// may have cost the proof, and never the result.
fn has_proof(folder: &Path, result: &Value) -> bool {
    let Some(power) = result["proof"]["power"].as_u64() else {
        return false;
    };
    let path = folder.join(format!("proof/{}-{power}.proof", result["exponent"]));
    let sum = Md5::digest(fs::read(&path).unwrap());
    let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(result["proof"]["md5"], sum);
    let output = run(folder, &["verify", path.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    true
}

#[test]
fn a_month_has_every_result_once_and_proofs_that_hold() {
    let (count, rounds) = bigint_testing::sweep((40, 16), (200, 120));
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let exponents: Vec<u32> = (100..).filter(|&p| is_prime(p)).take(count).collect();
    let mut waiting: Vec<_> = exponents.iter().zip(0..).collect();
    let mut random = Random(1);
    let mut wanted = HashMap::new();
    for number in [0, 1] {
        let bad = BAD.concat();
        assert!(bring(folder, number, &bad, &mut random));
    }
    for round in 0..rounds {
        // Now and then the disk is full, for small files or for the results.
        let blocks = match random.below(4) {
            0 => (1 + random.below(60)).to_string(),
            _ => "unlimited".to_owned(),
        };
        let mut workers = [0, 1].map(|number| worker(folder, number, &blocks));
        random.wait(40);
        // Its share of the month's lines, the last of them in time.
        let share = waiting.len().div_ceil(rounds - round);
        for (&p, kind) in waiting.drain(..share) {
            let (id, line) = assignment(p, kind);
            let number = random.below(2);
            assert!(bring(folder, number, line.as_bytes(), &mut random));
            wanted.insert(id, p);
        }
        let lock = folder.join(format!("results-{}.txt.lck", random.below(2)));
        let is_ours = File::create_new(&lock).is_ok();
        random.wait(80);
        for worker in &mut workers {
            // A kill, or a terminal that is closed.
            let signal = ["-KILL", "-HUP", "-TERM"][random.below(3) as usize];
            let process = worker.id().to_string();
            // One that has ended needs none.
            let _ = Command::new("kill")
                .args([signal, &process])
                .stderr(Stdio::null())
                .status();
        }
        if is_ours {
            fs::remove_file(&lock).unwrap();
        }
        for mut worker in workers {
            worker.wait().unwrap();
        }
    }
    for number in ["0", "1"] {
        let output = run(folder, &["work", "--autoprimenet", "--worker", number]);
        assert!(output.status.success(), "{output:?}");
    }
    let (mut proofs, mut tests) = (0, 0);
    for result in results(folder) {
        let p = wanted.remove(result["aid"].as_str().unwrap());
        let p = p.unwrap_or_else(|| panic!("it is there twice: {result}"));
        assert_eq!(result["exponent"], p);
        assert_eq!(result["format"], "prpll");
        match result["worktype"].as_str().unwrap() {
            "P-1" | "TF" | "ECM" => continue,
            "PRP-3" => {
                tests += 1;
                proofs += u32::from(has_proof(folder, &result));
            }
            _ => {}
        }
        assert_eq!(result["status"] == "P", KNOWN_PRIMES.contains(&p), "{p}");
    }
    assert!(wanted.is_empty(), "without a result: {wanted:?}");
    assert!(2 * proofs >= tests, "{proofs} proofs of {tests} tests");
    for number in [0, 1] {
        let left = fs::read(folder.join(format!("worktodo-{number}.txt"))).unwrap();
        assert_eq!(left, BAD.concat());
    }
    let has_progress = fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let name = entry.file_name().into_string().unwrap();
        name.starts_with("progress-")
    });
    assert!(!has_progress);
}
