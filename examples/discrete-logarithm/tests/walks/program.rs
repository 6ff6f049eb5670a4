//! The program, as its users meet it.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_discrete-logarithm"));
    command.env_remove("BIGINT_CUDA_DRIVER");
    command
}

fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn answer(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn logarithms_are_found() {
    let output = run(&["--curve", "toy-32", "--multiple", "123456789"]);
    assert_eq!(answer(&output), "123456789\n");
    // The same curve, told in numbers.
    let numbers = [
        "--p",
        "0xfffffffb",
        "--a",
        "0xfffffff8",
        "--b",
        "31",
        "--order",
        "0xffffe365",
        "--base",
        "2,0x81a29369",
        "--multiple",
        "0xabcdef",
    ];
    assert_eq!(answer(&run(&numbers)), "11259375\n");
    let interval = [
        "--curve",
        "secp256k1",
        "--multiple",
        "0x123456789",
        "--interval",
        "0x123000000..0x124000000",
    ];
    assert_eq!(answer(&run(&interval)), "4886718345\n");
}

#[test]
fn bad_input_is_said_with_exit_code_2() {
    for (arguments, what) in [
        (&["--curve", "toy-32"][..], "there is no point Q"),
        (
            &["--curve", "toy-32", "--target", "2,3"],
            "Q = (2, 3) is not on the curve",
        ),
        (&["--curve", "toy-33"], "possible values"),
        (&["--curve", "toy-32", "--target", "2;3"], "a point is X,Y"),
        (
            &["--curve", "toy-32", "--multiple", "5", "--interval", "9..3"],
            "9 is not less than 3",
        ),
        (
            &[
                "--curve",
                "toy-32",
                "--multiple",
                "5",
                "--interval",
                "1..0xffffffff",
            ],
            "is not less than the order",
        ),
        (
            &[
                "--p",
                "0xfffffffb",
                "--a",
                "0xfffffff8",
                "--b",
                "31",
                "--order",
                "0xffffe367",
                "--base",
                "2,0x81a29369",
                "--multiple",
                "5",
            ],
            "the order is no prime",
        ),
        (
            &["--curve", "toy-32", "--multiple", "0"],
            "there is no point Q",
        ),
    ] {
        let output = run(arguments);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            said(&output)
        );
        assert!(
            said(&output).contains(what),
            "{arguments:?}: {}",
            said(&output)
        );
    }
}

#[test]
fn a_rate_is_printed() {
    let output = run(&[
        "--curve",
        "eccp-79",
        "--backend",
        "cpu",
        "--walks",
        "16",
        "--bench",
        "0.05",
    ]);
    let text = answer(&output);
    assert!(text.contains(" steps a second: "), "{text}");
}

/// A search that takes a second or more, on the processor.
const LONG: [&str; 10] = [
    "--curve",
    "toy-48",
    "--multiple",
    "0x123456789abc",
    "--interval",
    "0x100000000000..0x1fffffffffff",
    "--backend",
    "cpu",
    "--threads",
    "2",
];

/// Begins a search with a checkpoint, and waits until there is one.
fn begun(path: &Path) -> Child {
    let child = program()
        .args(LONG)
        .args(["--checkpoint-every", "20ms", "--checkpoint"])
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !path.exists() {
        assert!(began.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(1));
    }
    child
}

fn steps(path: &Path) -> u64 {
    let bytes = std::fs::read(path).unwrap();
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap();
    let header: serde_json::Value = serde_json::from_slice(line).unwrap();
    header["count"]["all"].as_u64().unwrap()
}

#[test]
fn a_search_that_was_killed_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let mut child = begun(&path);
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = steps(&path);
    // A second one is killed later, while it may be writing.
    let mut child = program()
        .args(LONG)
        .args(["--checkpoint-every", "1ms", "--checkpoint"])
        .arg(&path)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while steps(&path) == kept {
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(steps(&path) > kept);
    let output = program()
        .args(LONG)
        .arg("--checkpoint")
        .arg(&path)
        .output()
        .unwrap();
    assert_eq!(answer(&output), "20015998343868\n");
    assert!(
        said(&output).contains("going on after "),
        "{}",
        said(&output)
    );
    assert!(!path.exists());
}

#[test]
fn a_damaged_checkpoint_is_said_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let mut child = begun(&path);
    child.kill().unwrap();
    child.wait().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let output = program()
        .args(LONG)
        .arg("--checkpoint")
        .arg(&path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("it is damaged"), "{}", said(&output));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

/// The program on the simulated GPU.
#[cfg(feature = "cuda")]
#[test]
fn a_device_finds_logarithms() {
    let output = program()
        .env("BIGINT_CUDA_DRIVER", cuda_sim::driver::library())
        .env("CUDA_SIM_CHECKS", "all,copies")
        .args([
            "--backend",
            "cuda",
            "--curve",
            "toy-32",
            "--multiple",
            "4000000000",
        ])
        .output()
        .unwrap();
    assert_eq!(answer(&output), "4000000000\n");
    assert!(said(&output).contains("on a device"), "{}", said(&output));
}
