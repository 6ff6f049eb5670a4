//! The command, as a shell runs it.

use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn a_reader_that_stops_reading_is_no_error() {
    let ptx = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/ptx/rustc.ptx");
    let mut child = Command::new(env!("CARGO_BIN_EXE_cuda-sim"))
        .args(["info", ptx])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // `| head -c0`: the pipe is closed before anything is written.
    drop(child.stdout.take());
    let mut said = String::new();
    let mut stderr = child.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut said).expect("text");
    assert!(child.wait().expect("it ends").success(), "{said}");
    assert_eq!(said, "");
}

fn run(arguments: &[&str]) -> (bool, String, String) {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let output = Command::new(env!("CARGO_BIN_EXE_cuda-sim"))
        .args(arguments)
        .current_dir(examples)
        .output()
        .expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    (output.status.success(), stdout, stderr)
}

#[test]
fn the_example_of_the_readme_computes_and_counts() {
    let command = "run saxpy.ptx --grid 1 --block 128 --buffer x=f32:1,2,3,4 \
                   --buffer y=f32:10,20,30,40 --arg @x --arg @y --arg u32:4 --print y:f32";
    let readme = include_str!("../README.md").replace("\\\n    ", "");
    assert!(readme.contains(command), "the README has another command");
    let (done, stdout, stderr) = run(&command.split_whitespace().collect::<Vec<_>>());
    assert!(done, "{stderr}");
    assert!(stdout.contains("1.3e1 2.6e1 3.9e1 5.2e1"), "{stdout}");
    assert!(stdout.contains("warp_instructions"), "{stdout}");
}

#[test]
fn the_example_of_a_race_is_reported_as_one() {
    let command = [
        "run",
        "race.ptx",
        "--buffer",
        "out=unset:128",
        "--arg",
        "@out",
    ];
    let (done, _, stderr) = run(&command);
    assert!(!done);
    assert!(stderr.contains("race in shared memory"), "{stderr}");
    assert!(
        include_str!("../README.md").contains(stderr.trim()),
        "{stderr}"
    );
}
