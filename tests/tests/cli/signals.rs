//! Signals end the command with the code by which shells report them, or are ignored,
//! and leave no file behind.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use crate::common::Workplace;

const HUP: u32 = 1;
const INT: u32 = 2;
const KILL: u32 = 9;
const TERM: u32 = 15;

/// Starts a command with no signal ignored, whatever the tests themselves were started with.
const HEEDING: &str = "exec env --default-signal=HUP,INT,TERM";

/// The command in the middle of its work: its input has more numbers than it looks at
/// first, then neither more nor an end.
fn at_work(place: &Workplace, start: &str) -> (Child, ChildStdin) {
    let script = format!(r#"{start} "$bigint" calc a*a --let a=- -o result"#);
    let mut child = place.script(&script).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = "123456789\n".repeat(1_000_000);
    stdin.write_all(text.as_bytes()).unwrap();
    for _ in 0..600 {
        if mask(&child, "SigCgt") >> (TERM - 1) & 1 == 1 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    (child, stdin)
}

/// A mask of signals of the process.
fn mask(child: &Child, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap()
}

fn kill(child: &Child, signal: u32) {
    let arguments = [format!("-{signal}"), child.id().to_string()];
    let killed = Command::new("bash")
        .args(["-c", r#"kill "$@""#, "bash"])
        .args(arguments)
        .status();
    assert!(killed.unwrap().success());
}

#[test]
fn each_signal_has_its_code_and_leaves_no_file_behind() {
    for signal in [HUP, INT, TERM] {
        let place = Workplace::new();
        let (mut child, stdin) = at_work(&place, HEEDING);
        kill(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(128 + signal as i32));
        assert!(place.files().is_empty(), "{:?}", place.files());
        drop(stdin);
    }
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let place = Workplace::new();
    let (mut child, stdin) = at_work(&place, "trap '' HUP INT; exec");
    for signal in [HUP, INT] {
        assert_eq!(mask(&child, "SigIgn") >> (signal - 1) & 1, 1);
        kill(&child, signal);
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(place.files(), [Path::new("result")]);
}

#[test]
fn a_killed_command_leaves_no_file_behind_where_files_can_be_unnamed() {
    use rustix::fs::{Mode, OFlags, open};

    let place = Workplace::new();
    let flags = OFlags::TMPFILE | OFlags::RDWR;
    let can_be_unnamed = open(place.path(), flags, Mode::RUSR).is_ok();
    let (mut child, stdin) = at_work(&place, HEEDING);
    kill(&child, KILL);
    assert_eq!(child.wait().unwrap().code(), None);
    assert_eq!(place.files().is_empty(), can_be_unnamed);
    drop(stdin);
}
