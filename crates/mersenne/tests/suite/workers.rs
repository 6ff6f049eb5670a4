//! Several workers on one folder, and what each of them leaves for those who look after it.

use std::fs::{self, File};
use std::path::Path;
use std::process::Output;
use std::thread::sleep;
use std::time::Duration;

use crate::common::program::{mersenne, run};
use crate::common::running::Running;
use bigint_testing::simulator::on_simulator;
use mersenne::{Folder, LucasLehmer, Proof, Residue, Saved, is_prime};

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_default()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The exponents of all results, ascending.
fn reported(folder: &Path) -> Vec<u64> {
    let results = ["results.json.txt", "results-0.txt", "results-1.txt"];
    let lines = results.map(|name| text(folder, name)).concat();
    let exponent = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["exponent"].as_u64().unwrap()
    };
    let mut exponents: Vec<u64> = lines.lines().map(exponent).collect();
    exponents.sort_unstable();
    exponents
}

#[test]
fn workers_share_out_the_lines_of_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, lines: &str| fs::write(folder.path().join(name), lines).unwrap();
    write(
        "worktodo.txt",
        "# mine\nTest=607,60,1\nhello\nPRP=N/A,1,2,1279,-1\nTest=521,60,1\n",
    );
    write("worktodo.add", "Test=127,60,1\nTest=521,60,1\n");
    write("worktodo-1.txt", "Test=89,60,1");
    write("worktodo-0.add", "Test=107,60,1\n");
    let output = run(
        folder.path(),
        &["work", "--devices", "0,1", "--backend", "cpu"],
    );
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(reported(folder.path()), [89, 107, 127, 521, 607, 1279]);
    assert_eq!(text(folder.path(), "worktodo.txt"), "# mine\nhello\n");
    assert_eq!(text(folder.path(), "worktodo-0.txt"), "");
    assert_eq!(text(folder.path(), "worktodo-1.txt"), "");
    assert!(text(folder.path(), "results-1.txt").contains("\"exponent\":89,"));
    assert!(text(folder.path(), "results-0.txt").contains("\"exponent\":107,"));
    // What was said of a test stands in its worker's log, with the time.
    let log = text(folder.path(), "mersenne-1.log");
    let line = log.lines().find(|line| line.contains("M89 LL is prime!"));
    let (time, _) = line.unwrap().split_once("Z M89").unwrap();
    assert_eq!(time.len(), "2026-11-24T00:00:00".len());
    assert!(!folder.path().join("worktodo.add").exists());
    // So do the residues that its proof is made of.
    let logs = ["mersenne-0.log", "mersenne-1.log"].map(|name| text(folder.path(), name));
    let logs = logs.concat();
    let mut residue = Residue::from_u64(1279, 3);
    for iteration in 1..=1279 {
        residue = residue.square_minus(1, 0);
        let line = format!("Z M1279 PRP-3 at iteration {iteration}: ");
        let found = logs.lines().find_map(|log| log.split_once(&line));
        let is_kept = Proof::iterations(1279, Proof::good_power(1279)).contains(&iteration);
        assert_eq!(found.is_some(), is_kept, "{iteration}: {logs}");
        if let Some((_, found)) = found {
            assert_eq!(found, format!("residue {:016X}", residue.res64()));
        }
    }
}

#[test]
fn each_of_all_devices_has_a_worker() {
    let test = "workers::each_of_all_devices_has_a_worker";
    if !on_simulator(test, &[("CUDA_SIM_DEVICES", "2xsm_90:256MiB")]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // A line in a worker's own file is done by no other one.
    for (name, line) in [
        ("worktodo-0.txt", "Test=521,60,1\n"),
        ("worktodo-1.txt", "PRP=N/A,1,2,521,-1\n"),
        ("worktodo-2.txt", "Test=127,60,1\n"),
    ] {
        fs::write(folder.path().join(name), line).unwrap();
    }
    let work = ["work", "--devices", "all", "--report-every", "1ms"];
    let output = run(folder.path(), &[&work[..], &["--backend", "cuda"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    for (number, kind) in [("0", "LL"), ("1", "PRP-3")] {
        let results = text(folder.path(), &format!("results-{number}.txt"));
        assert_eq!(results.lines().count(), 1, "{}", said(&output));
        let worktype = format!("\"status\":\"P\",\"exponent\":521,\"worktype\":\"{kind}\"");
        assert!(results.contains(&worktype), "{results}");
        assert!(said(&output).contains(&format!("M521 {kind} ")));
    }
    assert!(!folder.path().join("results-2.txt").exists());
    assert_eq!(text(folder.path(), "worktodo-2.txt"), "Test=127,60,1\n");
}

#[test]
fn without_a_device_nothing_works_on_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("worktodo.txt"), "Test=127,60,1\n").unwrap();
    let mut command = mersenne(folder.path(), &["work", "--devices", "all"]);
    command.env("BIGINT_CUDA_DRIVER", "/there/is/none.so");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert_eq!(text(folder.path(), "worktodo.txt"), "Test=127,60,1\n");
}

#[test]
fn each_worker_is_one_process_and_one_without_a_number_is_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("worktodo.txt"),
        "PRP=N/A,1,2,216091,-1\nTest=89,60,1\n",
    )
    .unwrap();
    let arguments = ["work", "--worker", "1", "--report-every", "1ms"];
    let mut first = Running::new(folder.path(), &arguments);
    first.wait_for("ms/iteration");
    let process = format!("process {}", first.child.id());
    for arguments in [&["work", "--worker", "1"][..], &["work"]] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains(&process), "{}", said(&output));
    }
    // Another one does the other line.
    let output = run(folder.path(), &["work", "--worker", "0"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(reported(folder.path()), [89]);
    first.signal("-TERM");
    assert_eq!(first.code(), Some(143));
    for (name, what) in [
        ("worktodo.txt", ""),
        ("worktodo-1.txt", "PRP=N/A,1,2,216091,-1\n"),
    ] {
        assert_eq!(text(folder.path(), name), what);
    }
    for bad in ["0,0", "x", ""] {
        let output = run(folder.path(), &["work", "--devices", bad]);
        assert_eq!(output.status.code(), Some(2), "{bad}");
    }
}

#[test]
fn a_line_that_a_kill_left_in_two_files_is_done_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("worktodo.txt"), "Test=607,60,1\n").unwrap();
    fs::write(folder.path().join("worktodo-7.txt"), "Test=607,60,1\n").unwrap();
    let output = run(folder.path(), &["work", "--worker", "0"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(reported(folder.path()), [0; 0]);
    assert_eq!(text(folder.path(), "worktodo.txt"), "");
    assert_eq!(text(folder.path(), "worktodo-7.txt"), "Test=607,60,1\n");
    // Nor is it when its own worker has done it.
    let lines = "# mine\nTest=607,60,1\n";
    for name in ["worktodo.txt", "worktodo-1.txt"] {
        fs::write(folder.path().join(name), lines).unwrap();
    }
    for worker in ["1", "0"] {
        let output = run(folder.path(), &["work", "--worker", worker]);
        assert!(output.status.success(), "{}", said(&output));
    }
    assert_eq!(reported(folder.path()), [607]);
    assert_eq!(text(folder.path(), "worktodo.txt"), "# mine\n");
}

/// Weeks of two workers that are killed, and wait for AutoPrimeNet, at any moment.
#[test]
fn whatever_happens_every_result_is_there_once() {
    let (rounds, last) = bigint_testing::sweep((8, 300), (60, 1500));
    let folder = tempfile::tempdir().unwrap();
    let exponents: Vec<u64> = (100..last)
        .filter(|&p| is_prime(p))
        .map(u64::from)
        .collect();
    // Exponents that are primes are spread over the kinds by their place.
    let line = |(i, p): (usize, &u64)| match i % 3 {
        0 => format!("Test={p},60,1\n"),
        1 => format!("PRP=N/A,1,2,{p},-1\n"),
        _ => format!("Pminus1=N/A,1,2,{p},-1,50,500\n"),
    };
    let lines: String = exponents.iter().enumerate().map(line).collect();
    fs::write(folder.path().join("worktodo.txt"), lines).unwrap();
    let worker = |number: &str| {
        let arguments = ["work", "--worker", number, "--save-every", "0ms"];
        Running::new(folder.path(), &arguments)
    };
    let mut seed = 1_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (seed >> 33) % below
    };
    for _ in 0..rounds {
        let workers = [worker("0"), worker("1")];
        let lock = [
            "worktodo.txt.lck",
            "worktodo-0.txt.lck",
            "results-1.txt.lck",
        ][random(3) as usize];
        let lock = folder.path().join(lock);
        sleep(Duration::from_millis(random(60)));
        let is_ours = File::create_new(&lock).is_ok();
        sleep(Duration::from_millis(random(60)));
        if is_ours {
            fs::remove_file(&lock).unwrap();
        }
        for mut worker in workers {
            worker.child.kill().unwrap();
            worker.child.wait().unwrap();
        }
    }
    for number in ["0", "1"] {
        let output = run(folder.path(), &["work", "--worker", number]);
        assert!(output.status.success(), "{}", said(&output));
    }
    assert_eq!(reported(folder.path()), exponents);
    let results = text(folder.path(), "results-0.txt") + &text(folder.path(), "results-1.txt");
    for kind in ["LL", "PRP-3", "P-1"] {
        let worktype = format!("\"worktype\":\"{kind}\"");
        let found = results.matches(&worktype).count();
        assert!(found.abs_diff(exponents.len() / 3) < 2, "{kind}: {found}");
    }
    let left = fs::read_dir(folder.path()).unwrap().flatten();
    let left = left.map(|entry| entry.file_name().into_string().unwrap());
    let mut left: Vec<String> = left.filter(|name| name != "proof").collect();
    left.sort();
    let mut expected = Vec::new();
    for number in [0, 1] {
        expected.push(format!("mersenne-{number}.log"));
    }
    expected.extend(["results-0.txt", "results-1.txt"].map(str::to_owned));
    expected.extend(["worktodo-0.txt", "worktodo-1.txt", "worktodo.txt"].map(str::to_owned));
    assert_eq!(left, expected);
}

#[test]
fn ctrl_z_saves_the_test_and_stops_until_it_is_told_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("worktodo.txt"),
        "PRP=N/A,1,2,216091,-1\nTest=216091,60,1\n",
    )
    .unwrap();
    let arguments = [
        "work",
        "--devices",
        "0,1",
        "--backend",
        "cpu",
        "--report-every",
        "1ms",
    ];
    let mut hunt = Running::new(folder.path(), &arguments);
    let ran = hunt.wait_for("LL ");
    if !ran.contains("PRP-3 ") {
        hunt.wait_for("PRP-3 ");
    }
    hunt.signal("-TSTP");
    let state = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", hunt.child.id())).unwrap();
        stat.rsplit(')')
            .next()
            .unwrap()
            .trim_start()
            .starts_with('T')
    };
    while !state() {
        sleep(Duration::from_millis(10));
    }
    for name in ["m216091.prp", "m216091.ll"] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    let log = text(folder.path(), "mersenne-0.log") + &text(folder.path(), "mersenne-1.log");
    assert_eq!(log.matches("saved at iteration").count(), 2, "{log}");
    // Whoever looks sees how far they are.
    let output = run(folder.path(), &["status"]);
    let table = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 3, "{table}");
    assert!(rows[1].starts_with("M216091 LL ") && rows[2].starts_with("M216091 PRP-3 "));
    hunt.signal("-CONT");
    hunt.wait_for("ms/iteration");
    hunt.signal("-TERM");
    assert_eq!(hunt.code(), Some(143));
}

#[cfg(target_os = "linux")]
#[test]
fn a_test_waits_while_a_program_runs_that_wants_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    // This program under another name, which the system cuts to 15 bytes.
    let name = "another-program-0";
    let path = folder.path().join(name);
    fs::copy(env!("CARGO_BIN_EXE_mersenne"), &path).unwrap();
    let arguments = ["ll", "216091", "--report-every", "1ms", "--pause-while"];
    let mut hunt = Running::new(
        folder.path(),
        &[&arguments[..], &["game,another-program-0"]].concat(),
    );
    hunt.wait_for("ms/iteration");
    for is_ended in [false, true] {
        let other = tempfile::tempdir().unwrap();
        let mut other = std::process::Command::new(&path)
            .args(["ll", "1257787", "--threads", "1", "--folder"])
            .arg(other.path())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        hunt.wait_for(&format!("M216091 LL pauses while {name} runs"));
        assert!(folder.path().join("m216091.ll").exists());
        if is_ended {
            hunt.signal("-TERM");
            sleep(Duration::from_millis(500));
        }
        other.kill().unwrap();
        other.wait().unwrap();
        if !is_ended {
            hunt.wait_for("M216091 LL goes on");
            hunt.wait_for("ms/iteration");
        }
    }
    assert_eq!(hunt.code(), Some(143));
}

#[test]
fn as_many_saves_stay_as_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let files = Folder::new(folder.path()).with_backups(3);
    let start = LucasLehmer::new(607);
    let at = |iteration| {
        let mut test = start.clone();
        test.iteration = iteration;
        Saved::LucasLehmer(test)
    };
    for iteration in 1..=6 {
        files.save(&at(iteration)).unwrap();
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    let start = Saved::LucasLehmer(start.clone());
    for (name, left) in [("", 6), (".old", 5), (".old2", 4), (".old3", 3)] {
        let (found, wrong) = files.load(&start).unwrap();
        assert_eq!((found, wrong.len()), (Some(at(left)), 6 - left as usize));
        fs::write(folder.path().join(format!("m607.ll{name}")), "no save").unwrap();
    }
    assert!(files.load(&start).is_err());
    for bad in ["0", "10", "x"] {
        let output = run(folder.path(), &["ll", "7", "--backups", bad]);
        assert_eq!(output.status.code(), Some(2), "{bad}");
    }
}
