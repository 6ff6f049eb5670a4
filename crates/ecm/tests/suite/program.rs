//! The program, and GMP-ECM beside it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use num_bigint::BigUint;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ecm"));
    command.env_remove("BIGINT_CUDA_DRIVER");
    command
}

pub fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The lines of standard output, in the order of their numbers.
fn factors(output: &Output) -> Vec<u128> {
    let mut factors: Vec<u128> = stdout(output)
        .lines()
        .map(|line| line.parse().unwrap())
        .collect();
    factors.sort_unstable();
    factors
}

#[test]
fn numbers_come_apart() {
    for (text, expected) in [
        ("2", vec![2]),
        ("91", vec![7, 13]),
        ("2^67-1", vec![193_707_721, 761_838_257_287]),
        ("2^101-1", vec![7_432_339_208_719, 341_117_531_003_194_129]),
        (
            "(2^31-1)^2*97*(2^61-1)",
            vec![97, 2_147_483_647, 2_147_483_647, (1 << 61) - 1],
        ),
        ("2^127-1", vec![(1 << 127) - 1]),
    ] {
        for param in ["edwards", "3"] {
            assert_eq!(
                factors(&run(&[text, "--param", param])),
                expected,
                "{text} {param}"
            );
        }
    }
}

#[test]
fn files_and_standard_input_have_a_number_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers");
    // As an editor on Windows writes it.
    fs::write(&path, "\u{feff}# two\r\n15\r\n\r\n2^11-1").unwrap();
    assert_eq!(
        factors(&run(&[path.to_str().unwrap(), "--b1", "100"])),
        [3, 5, 23, 89]
    );
    // And what is no file but can be read.
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let writer = pipe.clone();
    let written = std::thread::spawn(move || fs::write(writer, "35\n").unwrap());
    assert_eq!(factors(&run(&[pipe.to_str().unwrap()])), [5, 7]);
    written.join().unwrap();
    let mut child = program()
        .args(["-", "--b1", "2e3", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"21\n35\n").unwrap();
    let text = stdout(&child.wait_with_output().unwrap());
    let told: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(told.len(), 2);
    assert_eq!(told[0]["factors"], serde_json::json!(["3", "7"]));
    assert_eq!(
        (&told[1]["n"], &told[1]["is_factored"]),
        (&"35".into(), &true.into())
    );
}

#[test]
fn what_the_help_has_for_examples_are_numbers() {
    let help = stdout(&run(&["--help"]));
    let (_, examples) = help.split_once("an expression (").unwrap();
    let (examples, _) = examples.split_once("), a file").unwrap();
    let examples: Vec<_> = examples.split(", ").collect();
    assert!(examples.len() > 3);
    for example in examples {
        assert!(ecm::evaluate(example).is_ok(), "{example}");
    }
}

#[test]
fn bad_input_is_told_with_its_place_and_nothing_else_happens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers");
    let name = path.to_str().unwrap();
    for (text, place) in [
        ("15\n2+\n", ":2:3:"),
        ("1\n", ":1:1:"),
        ("0\n", ":1:1:"),
        ("7/2", ":1:3:"),
    ] {
        fs::write(&path, text).unwrap();
        let output = run(&[name]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(output.stdout.is_empty());
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(&format!("{name}{place}")), "{told}");
    }
    for arguments in [
        &["1"][..],
        &["x"],
        &[],
        &["15", "--b1", "3"],
        &["15", "--b1", "1.5"],
        &["15", "--param", "2"],
        &["15", "--resume", "f"],
        &["--resume", "f", "--digits", "20"],
        &["--resume", "f", "--method", "p-1"],
        &["15", "--sigma", "1"],
        &["15", "--method", "p-1"],
        &["15", "--method", "p+1", "--b1", "100", "--param", "3"],
        &[
            "15",
            "--method",
            "p-1",
            "--b1",
            "100",
            "--checkpoint",
            "no/such/folder",
        ],
        &["15", "--checkpoint", "no/such/folder"],
    ] {
        assert_eq!(run(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

/// What GMP-ECM prints, if it is installed.
fn gmp_ecm(arguments: &[&str], input: &str) -> Option<String> {
    run_gmp_ecm(arguments, input).map(|output| String::from_utf8(output.stdout).unwrap())
}

/// Runs GMP-ECM, if it is installed.
pub fn run_gmp_ecm(arguments: &[&str], input: &str) -> Option<Output> {
    let child = Command::new("ecm")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: GMP-ECM's `ecm` is not installed");
        return None;
    };
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    Some(child.wait_with_output().unwrap())
}

/// `X=0x...; CHECKSUM=...` of each line.
fn points(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let line = |line: &str| {
        let (_, rest) = line.split_once("X=").unwrap();
        rest.split(';').next().unwrap().to_owned()
    };
    text.lines().map(line).collect()
}

#[test]
fn points_and_checksums_are_gmp_ecms() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("ours"), folder.path().join("theirs"));
    for n in ["2^211-1", "(10^71+273)*(10^90+289)", "2^521-1"] {
        let _ = (fs::remove_file(&ours), fs::remove_file(&theirs));
        let stage1 = [
            "--b1", "3000", "--b2", "0", "--param", "3", "--sigma", "1000", "--curves", "9",
        ];
        let save = ["--save", ours.to_str().unwrap()];
        stdout(&run(&[&[n][..], &stage1, &save].concat()));
        // What is found at once is not saved, and what is a prime has no curves.
        let ours = if ours.exists() { points(&ours) } else { vec![] };
        let input = format!("{n}\n");
        for sigma in 1000..1009 {
            let sigma = format!("3:{sigma}");
            let arguments = [
                "-q",
                "-sigma",
                &sigma,
                "-savea",
                theirs.to_str().unwrap(),
                "3000",
                "0",
            ];
            if gmp_ecm(&arguments, &input).is_none() {
                return;
            }
        }
        if n == "2^211-1" || n.starts_with('(') {
            // Modulo the composite that remains: the same points where nothing was found before.
            assert!(!ours.is_empty(), "{n}");
        }
        if n.starts_with('(') {
            assert_eq!(ours, points(&theirs));
        }
    }
}

#[test]
fn a_second_bound_of_25000_times_the_first_finds_what_only_polynomials_reach_soon() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("save");
    let name = path.to_str().unwrap();
    // Of this curve's order modulo the lesser prime one factor is above 2000, between 1.5 and 5 times 10^7.
    let n = "(10^15+37)*(2^127-1)";
    let stage1 = [n, "--b1", "2e3", "--param", "3", "--sigma", "101"];
    let with = |more: &[&str]| run(&[&stage1[..], more].concat());
    let both = [1_000_000_000_000_037, (1 << 127) - 1];
    assert_eq!(factors(&with(&["--b2", "15e6"])), []);
    assert_eq!(factors(&with(&["--b2", "5e7"])), both);
    assert_eq!(factors(&with(&["--b2", "0", "--save", name])), []);
    assert_eq!(factors(&run(&["--resume", name, "--b2", "15e6"])), []);
    assert_eq!(factors(&run(&["--resume", name, "--b2", "5e7"])), both);
}

#[test]
fn each_program_goes_on_where_the_other_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("save");
    let name = path.to_str().unwrap();
    // A prime of 11 digits, and one of 39.
    let (p, q) = ("70000000033", "170141183460469231731687303715884105727");
    let n = format!("{p}*{q}");
    for param in ["3", "edwards"] {
        let _ = fs::remove_file(&path);
        let stage1 = [
            &n, "--b1", "150", "--b2", "0", "--curves", "40", "--sigma", "10", "--param", param,
            "--save", name,
        ];
        assert_eq!(stdout(&run(&stage1)), "", "stage 1 alone");
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 40);
        let Some(theirs) = gmp_ecm(&["-q", "-resume", name, "150", "30000"], "") else {
            return;
        };
        let ours = run(&["--resume", name, "--b2", "30000"]);
        assert!(
            theirs.split_whitespace().any(|word| word == p),
            "{param}: {theirs}"
        );
        assert_eq!(factors(&ours)[0].to_string(), p, "{param}");
    }
    for param in 0..4 {
        let _ = fs::remove_file(&path);
        for sigma in 20..60 {
            let sigma = format!("{param}:{sigma}");
            let first = ["-q", "-sigma", &sigma, "-savea", name, "150", "0"];
            gmp_ecm(&first, &format!("{n}\n"));
        }
        let ours = run(&["--resume", name, "--b2", "30000"]);
        match param {
            2 => assert_eq!(ours.status.code(), Some(2)),
            _ => assert_eq!(factors(&ours)[0].to_string(), p, "{param}"),
        }
    }
}

/// A prime `p` with `p - 1 = 2 3 5 11 13 1009 30011`, and one with `p + 1 = 2^2 3 5 7 13 1009 30011`.
const SMOOTH: [(&str, u64); 2] = [("p-1", 129_905_914_711), ("p+1", 165_334_800_539)];

#[test]
fn smooth_neighbours_are_found() {
    let rough = u128::pow(2, 127) - 1;
    for (method, p) in SMOOTH {
        let n = format!("{p}*{rough}");
        let of = |b2: &str| {
            run(&[
                &n, "--method", method, "--b1", "1100", "--b2", b2, "--curves", "2",
            ])
        };
        assert_eq!(factors(&of("31000")), [u128::from(p), rough], "{method}");
        assert_eq!(factors(&of("0")), [], "{method}");
        let output = run(&[&n, "--method", method, "--b1", "1100", "--json"]);
        let told: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(told["method"], method);
        if method == "p-1" {
            assert_eq!(
                told["factors"],
                serde_json::json!([p.to_string(), rough.to_string()])
            );
        }
    }
    // Both primes at once.
    let output = run(&[
        "65537*262657",
        "--method",
        "p-1",
        "--b1",
        "70000",
        "--b2",
        "0",
    ]);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("at once"),
        "{output:?}"
    );
}

#[test]
fn p_minus_1_and_p_plus_1_go_on_in_the_other_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("save");
    let name = path.to_str().unwrap();
    for (method, p) in SMOOTH {
        let n = format!("{p}*(2^127-1)");
        let _ = fs::remove_file(&path);
        let stage1 = [
            &n, "--method", method, "--b1", "1100", "--b2", "0", "--curves", "3", "--save", name,
        ];
        assert_eq!(stdout(&run(&stage1)), "", "stage 1 alone");
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3);
        let Some(theirs) = gmp_ecm(&["-q", "-resume", name, "1100", "31000"], "") else {
            return;
        };
        assert!(
            theirs.split_whitespace().any(|word| word == p.to_string()),
            "{method}: {theirs}"
        );
        let ours = run(&["--resume", name, "--b2", "31000"]);
        assert_eq!(factors(&ours)[0], u128::from(p), "{method}");

        fs::remove_file(&path).unwrap();
        let option = if method == "p-1" { "-pm1" } else { "-pp1" };
        for start in ["3", "6"] {
            let first = ["-q", option, "-x0", start, "-savea", name, "1100", "0"];
            gmp_ecm(&first, &format!("{n}\n"));
        }
        let ours = run(&["--resume", name, "--b2", "31000"]);
        assert_eq!(factors(&ours)[0], u128::from(p), "{method}");
    }
}

#[test]
fn composites_that_are_found_together_are_printed_of_each_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("save");
    let name = path.to_str().unwrap();
    // p - 1 and q - 1 have one prime above 100 each, below 2100; of the others they are above 10^10.
    let (p, q) = (195_786_361_u64, 144_360_217_u64);
    let numbers = [
        format!("{p}*{q}*1000112245802638393*878440208513356387"),
        "(2^61-1)*(2^89-1)".to_owned(),
    ];
    for n in &numbers {
        run(&[
            n, "--method", "p-1", "--b1", "100", "--b2", "0", "--save", name,
        ]);
    }
    let output = run(&["--resume", name, "--b2", "2100"]);
    assert_eq!(factors(&output), [u128::from(p) * u128::from(q)]);
    let told = String::from_utf8_lossy(&output.stderr);
    let left: Vec<_> = told.lines().filter(|line| line.contains("left")).collect();
    assert!(
        left.len() == 2 && left[0].contains("36 digits") && left[1].contains("46 digits"),
        "{told}"
    );
    let told = stdout(&run(&["--resume", name, "--b2", "2100", "--json"]));
    let told: Vec<serde_json::Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        told.len(),
        2,
        "one for each number, though nothing is found of the second"
    );
    assert_eq!(
        told[0]["factors"],
        serde_json::json!([(u128::from(p) * u128::from(q)).to_string()])
    );
    assert_eq!(told[1]["factors"], serde_json::json!([]));
    assert_eq!(told[1]["cofactor"], told[1]["n"]);
}

#[test]
fn a_line_that_was_cut_off_is_ended_and_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("save");
    let name = path.to_str().unwrap();
    let stage1 = ["2^101-1", "--b1", "100", "--b2", "0", "--save", name];
    run(&stage1);
    let whole = fs::read_to_string(&path).unwrap();
    let cut = &whole[..whole.find("X=0x").unwrap() + 9];
    fs::write(&path, cut).unwrap();
    run(&stage1);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!(lines[0], cut);
    assert!(ecm::read_line(lines[1]).is_ok(), "{text}");
    let output = run(&["--resume", name]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("save:1:1:") && told.contains("cut off"),
        "{told}"
    );
}

#[test]
fn a_damaged_line_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("save");
    fs::write(
        &path,
        "METHOD=ECM; PARAM=3; SIGMA=10; B1=2000; N=91; X=0x5; CHECKSUM=1;\n",
    )
    .unwrap();
    let output = run(&["--resume", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("save:1:1:") && told.contains("CHECKSUM"),
        "{told}"
    );
}

/// Runs this whole; then anew with five kills on the way, if it lasts: both have told the same, and a kill leaves a checkpoint.
fn check_kills(arguments: &[&str], path: &Path) {
    let whole = stdout(&run(arguments));
    assert!(!path.exists(), "a run that ended leaves no checkpoint");
    let (mut kills, mut kept, mut said) = (0, 0, String::new());
    loop {
        let mut child = program()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(400) && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(5));
        }
        let is_killed = kills < 5 && child.try_wait().unwrap().is_none();
        if is_killed {
            child.kill().unwrap();
        }
        // A run that is killed may have told already, and one that goes on does not tell again.
        let output = child.wait_with_output().unwrap();
        said += std::str::from_utf8(&output.stdout).unwrap();
        if !is_killed {
            break;
        }
        kills += 1;
        kept += usize::from(path.exists());
    }
    assert_eq!(said, whole, "{kills} kills");
    assert!(kills == 0 || kept > 0, "{kills} kills");
    // Another job's checkpoint is not taken for this one's.
    fs::write(
        path,
        r#"{"job":"x","numbers":0,"parts":[],"levels":0,"curves":0,"before":0,"sigma":2,"first":2,"stage":null}"#,
    )
    .unwrap();
    assert_eq!(run(arguments).status.code(), Some(1));
}

#[test]
fn a_run_that_is_killed_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let arguments = [
        "(10^60+7)*(10^70+33)",
        "--b1",
        "20000",
        "--curves",
        "64",
        "--sigma",
        "5",
        "--json",
        "--report-every",
        "50ms",
        "--checkpoint",
        path.to_str().unwrap(),
    ];
    check_kills(&arguments, &path);
}

#[test]
fn p_minus_1_and_p_plus_1_go_on_after_a_kill() {
    for (method, p) in SMOOTH {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        let n = format!("{p}*(2^2203-1)");
        let arguments = [
            &n,
            "--method",
            method,
            "--b1",
            "200000",
            "--curves",
            "2",
            "--json",
            "--report-every",
            "20ms",
            "--checkpoint",
            path.to_str().unwrap(),
        ];
        check_kills(&arguments, &path);
    }
}

#[test]
fn what_stage_1_of_p_minus_1_and_p_plus_1_keeps_is_all_that_it_needs() {
    let n: BigUint = (BigUint::from(1u8) << 521u32) - 1u8;
    let scalar = ecm::scalar(3000);
    for method in [ecm::Method::PMinus1, ecm::Method::PPlus1] {
        let begun = || ecm::LucasStage1::new(&n, method, 3, &scalar).unwrap();
        let (mut whole, mut first, mut second) = (begun(), begun(), begun());
        whole.advance(scalar.bits() as usize);
        first.advance(1001);
        second.resume(first.progress().0, &first.state()).unwrap();
        second.advance(scalar.bits() as usize);
        assert_eq!(second.finish(), whole.finish(), "{method:?}");
    }
}

#[cfg(feature = "cuda")]
#[test]
fn a_run_on_a_device_takes_edwards_curves_and_goes_on() {
    let name = "program::a_run_on_a_device_takes_edwards_curves_and_goes_on";
    if !bigint_testing::simulator::on_simulator(name, &[]) {
        return;
    }
    let driver = std::env::var_os("BIGINT_CUDA_DRIVER").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let started = |backend: &str| {
        let mut command = program();
        command
            .env("BIGINT_CUDA_DRIVER", &driver)
            .args(["70000000033*(2^89-1)", "--b1", "250", "--b2", "3e4"])
            .args(["--curves", "40", "--sigma", "10", "--json"])
            .args(["--backend", backend, "--report-every", "1ms"])
            .arg("--checkpoint")
            .arg(&path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let whole = stdout(&started("cuda").wait_with_output().unwrap());
    let told: serde_json::Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(
        (&told["param"], &told["is_factored"]),
        (&"edwards".into(), &true.into())
    );
    let mut child = started("cuda");
    while !path.exists() && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(path.exists(), "it was killed before its end");
    // The CPU's digits are others.
    assert_eq!(
        started("cpu").wait_with_output().unwrap().status.code(),
        Some(1)
    );
    assert_eq!(stdout(&started("cuda").wait_with_output().unwrap()), whole);
}

#[cfg(feature = "cuda")]
#[test]
fn a_device_goes_on_from_lines() {
    let name = "program::a_device_goes_on_from_lines";
    if !bigint_testing::simulator::on_simulator(name, &[]) {
        return;
    }
    let driver = std::env::var_os("BIGINT_CUDA_DRIVER").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let counts = folder.path().join("counts");
    let save = folder.path().join("save");
    let save = save.to_str().unwrap();
    let q = (1u128 << 89) - 1;
    let curves = ["--b1", "150", "--curves", "40", "--sigma", "10", "--param"];
    let [below, above] = SMOOTH;
    for (p, first, b2) in [
        (70_000_000_033, [&curves[..], &["3"]].concat(), "30000"),
        (
            70_000_000_033,
            [&curves[..], &["edwards"]].concat(),
            "30000",
        ),
        (
            below.1,
            ["--b1", "1100", "--method", below.0].into(),
            "31000",
        ),
        (
            above.1,
            ["--b1", "1100", "--curves", "3", "--method", above.0].into(),
            "31000",
        ),
    ] {
        let _ = fs::remove_file(save);
        let n = format!("{p}*{q}");
        let rest = [&n, "--b2", "0", "--save", save, "--backend", "cpu"];
        assert_eq!(
            stdout(&run(&[&rest[..], &first].concat())),
            "",
            "stage 1 alone"
        );
        for backend in ["cpu", "cuda"] {
            let _ = fs::remove_file(&counts);
            let mut command = program();
            command
                .env("BIGINT_CUDA_DRIVER", &driver)
                .env("CUDA_SIM_COUNTS", &counts)
                .args(["--resume", save, "--b2", b2, "--backend", backend]);
            assert_eq!(
                factors(&command.output().unwrap()),
                [p.into(), q],
                "{backend}"
            );
            let launched = fs::read_to_string(&counts).unwrap_or_default();
            assert_eq!(
                launched.contains("registers_"),
                backend == "cuda",
                "{first:?}"
            );
        }
    }
}
