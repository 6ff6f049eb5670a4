//! AutoPrimeNet, which takes worker 0 for PRPLL: what it reads of this program's files.
//!
//! A carrier that keeps its rules is always there. With its path in `AUTOPRIMENET` the real program
//! runs as well, by Python 3 with `requests`, against `primenet.py` in place of the server.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::program::run;
use crate::common::running::Running;
use md5::{Digest, Md5};
use mersenne::{Proof, Residue};
use serde_json::Value;
use sha3::Sha3_256;

/// Names of which one must stand in a result's line, or it is passed over.
const KNOWN: [&str; 4] = ["\"Prime95\"", "\"Mlucas\"", "\"gpuowl\"", "\"prpll\""];

const ID: &str = "0123456789ABCDEF0123456789ABCDEF";

/// Curves of which the second finds 730753, and two that find nothing.
const CURVES: &str = "ECM2=N/A,1,2,173,-1,100,0,5,8\nECM2=N/A,1,2,1277,-1,50,500,2\n";

/// Lines of all other kinds.
const OTHERS: &str = "Factor=N/A,1009,1,40\nFactor=N/A,1277,1,30\nPminus1=N/A,1,2,1009,-1,3000,0\n\
    Pminus1=N/A,1,2,1277,-1,500,4000\nTest=N/A,1277,60,1\nDoubleCheck=N/A,1279,60,1\nPRP=N/A,1,2,1277,-1,75,0,3,1\n\
    PRP=N/A,1,2,29,-1,75,0,3,5,\"233\"\n";

/// Adds lines as AutoPrimeNet does.
fn assign(folder: &Path, lines: &str) {
    let lock = folder.join("worktodo-0.txt.lck");
    while File::create_new(&lock).is_err() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let path = folder.join("worktodo-0.txt");
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(&path, before + lines).unwrap();
    fs::remove_file(&lock).unwrap();
}

/// The results that it sends.
fn sent(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("results-0.txt")).unwrap();
    let is_known = |line: &&str| KNOWN.iter().any(|name| line.contains(name));
    let lines = text.lines().filter(is_known);
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The MD5 sum of the proof of this name.
fn proof_sum(folder: &Path, name: &str) -> String {
    let bytes = fs::read(folder.join("proof").join(name)).unwrap();
    assert!(Proof::from_bytes(&bytes).is_ok());
    let sum = Md5::digest(&bytes);
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn what_it_takes_of_a_result_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let start = Residue::from_u64(1279, 5).to_bytes();
    fs::write(folder.path().join("M1279.cert"), start).unwrap();
    assign(
        folder.path(),
        &format!(
            "PRP={ID},1,2,11213,-1,75,0,3,1\nTest=N/A,1277,60,1\nCert=N/A,1,2,1279,-1,100\n\
             Factor=N/A,1009,1,40\nPminus1=N/A,1,2,1277,-1,500,4000\n\
             PRP=FEDCBA9876543210FEDCBA9876543210,1,2,67,-1,75,0,3,5,\"193707721\"\n{CURVES}"
        ),
    );
    let output = run(folder.path(), &["work", "--autoprimenet"]);
    assert!(output.status.success(), "{output:?}");
    let results = sent(folder.path());
    assert_eq!(results.len(), 8);
    assert_eq!(results[5]["known-factors"][0], "193707721");
    for result in &results {
        // This program says who it is.
        assert_eq!(result["program"]["name"], "mersenne");
        for name in ["version", "os"] {
            assert!(!result["program"][name].is_null(), "{name}");
        }
        let fields: &[&str] = match result["worktype"].as_str().unwrap() {
            "PRP-3" => &["res64", "res2048", "residue-type", "errors", "proof", "aid"],
            "LL" => &["status", "res64", "shift-count", "error-code"],
            "Cert" => &["sha3-hash", "squarings", "shift-count", "error-code"],
            "TF" => &["bitlo", "bithi", "rangecomplete", "factors"],
            "P-1" => &["status", "b1", "b2"],
            "ECM" if result["status"] == "F" => &["b1", "b2", "curves", "factors", "stage"],
            "ECM" => &["status", "b1", "b2", "curves"],
            other => panic!("{other}"),
        };
        for name in fields.iter().chain(&["exponent", "timestamp"]) {
            assert!(!result[*name].is_null(), "{name} is not in {result}");
        }
    }
    assert_eq!(results[0]["aid"], ID);
    let sum = proof_sum(folder.path(), "11213-6.proof");
    assert_eq!(results[0]["proof"]["md5"], sum);
    let left = fs::read_to_string(folder.path().join("worktodo-0.txt")).unwrap();
    assert_eq!(left, "");
    // It is asked for: without it, nothing is sent.
    let other = tempfile::tempdir().unwrap();
    assign(other.path(), "Test=N/A,1277,60,1\n");
    let output = run(other.path(), &["work", "--worker", "0"]);
    assert!(output.status.success() && sent(other.path()).is_empty());
}

#[test]
fn it_reads_how_far_a_test_is() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, end, head) in [
        (
            "PRP=N/A,1,2,216091,-1",
            "prp",
            "OWL PRP 13 N=1*2^216091-1 k=",
        ),
        ("Test=216091,60,1", "ll", "OWL LL 13 N=1*2^216091-1 k="),
    ] {
        fs::write(folder.path().join("worktodo-0.txt"), format!("{kind}\n")).unwrap();
        let arguments = ["work", "--autoprimenet", "--report-every", "20ms"];
        let mut hunt = Running::new(folder.path(), &arguments);
        for _ in 0..3 {
            hunt.wait_for("ms/iteration");
        }
        hunt.signal("-TERM");
        assert_eq!(hunt.code(), Some(143));
        let path = folder
            .path()
            .join(format!("progress-216091/216091-0.{end}"));
        let line = fs::read_to_string(path).unwrap();
        let rest = line.strip_prefix(head).unwrap();
        let k: u32 = rest.split(' ').next().unwrap().parse().unwrap();
        let (_, time) = line.trim_end().split_once("time=").unwrap();
        assert!(k > 0 && k < 216_091 && time.parse::<f64>().unwrap() > 0.0);
    }
    // It goes when its test is done.
    let done = folder.path().join("progress-607");
    fs::create_dir(&done).unwrap();
    fs::write(folder.path().join("worktodo-0.txt"), "Test=607,60,1\n").unwrap();
    assert!(
        run(folder.path(), &["work", "--autoprimenet"])
            .status
            .success()
    );
    assert!(!done.exists());
}

/// The server's stand-in.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// From the assignment to the submitted proof, by the real program.
#[test]
fn the_real_program_carries_an_assignment_and_its_result() {
    let Some(program) = std::env::var_os("AUTOPRIMENET") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let stub = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/primenet.py");
    let log = folder.path().join("requests.log");
    let mut server = Command::new("python3");
    server.arg(stub).arg("serve").arg(&log);
    let mut server = Server(server.stdout(Stdio::piped()).spawn().unwrap());
    let mut port = String::new();
    let mut said = BufReader::new(server.0.stdout.take().unwrap());
    said.read_line(&mut port).unwrap();
    let carry = || {
        let mut python = Command::new("python3");
        python.arg(stub).arg("run").arg(&program).arg(port.trim());
        python.args(["--prpll", "--timeout", "0", "--username", "tester"]);
        python.args(["--num-workers", "1", "--cert-work", "--workdir"]);
        let output = python.arg(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{said}");
        said
    };
    let said = carry() + &carry();
    let worktodo = folder.path().join("worktodo-0.txt");
    let lines = fs::read_to_string(worktodo).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert!(
        lines.starts_with(&format!("PRP={ID},1,2,44497,-1")),
        "{lines}"
    );
    assert!(
        lines.contains("Cert=00112233445566778899AABBCCDDEEFF,1,2,1279,-1,100\n"),
        "{lines}: {said}"
    );
    assign(folder.path(), &format!("{CURVES}{OTHERS}"));
    let output = run(folder.path(), &["work", "--autoprimenet"]);
    assert!(output.status.success(), "{output:?}");
    let sum = proof_sum(folder.path(), "44497-7.proof");
    let said = carry();
    let requests = fs::read_to_string(&log).unwrap();
    let requests = requests.lines();
    let requests: Vec<Value> = requests
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |wanted: &[(&str, &str)]| {
        let is_it = |sent: &&Value| wanted.iter().all(|(name, value)| sent[name] == *value);
        let found: Vec<_> = requests.iter().filter(is_it).collect();
        assert_eq!(found.len(), 1, "{wanted:?}: {said}");
        found[0].clone()
    };
    let checked = (0..100).fold(Residue::from_u64(1279, 5), |x, _| x.square_minus(1, 0));
    let hash = Sha3_256::digest(checked.to_bytes());
    let hash: String = hash
        .iter()
        .rev()
        .map(|byte| format!("{byte:02X}"))
        .collect();
    let composite = |p: u32, start: u64, squarings: u32, minus: u32| {
        let start = Residue::from_u64(p, start);
        (0..squarings).fold(start, |x, _| x.square_minus(1, minus))
    };
    let res64 = |x: Residue| format!("{:016X}", x.res64());
    let [ll, prp, cofactor] = [
        composite(1277, 4, 1275, 2),
        composite(1277, 3, 1277, 0).divided_by_9(),
        composite(29, 3, 29, 0).divided_by_9(),
    ]
    .map(res64);
    // The codes of results: a factor by trial division, P-1 and curves, and none; of tests, of a number that is
    // composite and one that is prime; and of a certification.
    for fields in [
        "r=1&n=1009&sf=1&ef=40&f=3454817,198582684439",
        "r=4&n=1277&sf=1&ef=30",
        "r=2&n=1009&B1=3000&f=3454817",
        "r=5&n=1277&B1=500&B2=4000",
        "r=3&n=173&CR=2&B1=100&B2=100&stage=1&f=730753",
        "r=6&n=1277&CR=2&B1=50&B2=500",
        &format!("r=100&n=1277&ec=00000000&rd={ll}"),
        "r=101&n=1279&ec=00000000",
        &format!("r=150&n=1277&rt=1&gbz=1&ec=00000000&rd={prp}"),
        &format!("r=150&n=29&rt=5&nkf=1&rd={cofactor}"),
        &format!("r=151&n=44497&k={ID}&pp=7&ph={sum}"),
        &format!("r=200&n=1279&k=00112233445566778899AABBCCDDEEFF&s3={hash}"),
    ] {
        let fields = fields
            .split('&')
            .map(|field| field.split_once('=').unwrap());
        let fields: Vec<_> = fields.collect();
        let result = of(&[("t", "ar"), fields[0], fields[1]]);
        for (name, value) in fields {
            assert_eq!(result[name], value, "{result}");
        }
    }
    of(&[("t", "proof"), ("FileMD5", sum.as_str())]);
    of(&[("t", "uploaded"), ("md5", sum.as_str())]);
}
