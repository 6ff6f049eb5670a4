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
