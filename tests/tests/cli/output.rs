//! An output file appears when it is complete, and only then.

use std::path::Path;

use crate::common::Workplace;

#[test]
fn results_go_to_the_file_and_nowhere_else() {
    let place = Workplace::new();
    place.file("a", "1\n2\n");
    assert_eq!(place.calc(&["a*a", "--let", "a=a", "-o", "result"]), "");
    let result = std::fs::read_to_string(place.path().join("result")).unwrap();
    assert_eq!(result, "1\n4\n");
    assert_eq!(place.files(), [Path::new("a"), Path::new("result")]);
}

#[test]
fn an_older_file_is_replaced_only_by_a_complete_one() {
    let place = Workplace::new();
    place.file("result", "old\n");
    place.file("bad", "1\n2\nthree\n");
    let ended = place.run(&["calc", "a", "--let", "a=bad", "-o", "result"]);
    assert_eq!(ended.code, 2);
    let read = || std::fs::read_to_string(place.path().join("result")).unwrap();
    assert_eq!(read(), "old\n");
    place.calc(&["a", "--let", "a=5", "-o", "result"]);
    assert_eq!(read(), "5\n");
}

#[test]
fn a_file_may_be_replaced_by_its_own_squares() {
    let place = Workplace::new();
    place.file("a", "3\n4\n");
    place.calc(&["a*a", "--let", "a=a", "-o", "a"]);
    let result = std::fs::read_to_string(place.path().join("a")).unwrap();
    assert_eq!(result, "9\n16\n");
}

#[cfg(unix)]
#[test]
fn links_and_devices_stay_what_they_are() {
    let place = Workplace::new();
    place.file("target", "old\n");
    let link = place.path().join("link");
    std::os::unix::fs::symlink("target", &link).unwrap();
    place.calc(&["6*7", "-o", "link"]);
    assert!(link.is_symlink());
    assert_eq!(std::fs::read_to_string(&link).unwrap(), "42\n");
    place.calc(&["6*7", "-o", "/dev/null"]);
    assert!(!Path::new("/dev/null").is_file());
    assert_eq!(place.calc(&["6*7", "-o", "/dev/stdout"]), "42\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_while_running() {
    let place = Workplace::new();
    let ended = place.run(&["calc", "6*7", "-o", "/dev/full"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("/dev/full: cannot write"),
        "{}",
        ended.stderr
    );
}

#[cfg(unix)]
#[test]
fn a_reader_that_stops_reading_is_no_error() {
    let place = Workplace::new();
    let many: String = (0..200_000).map(|i| format!("{i}\n")).collect();
    place.file("a", many);
    let script = r#""$1" calc 'a*a' --let a=a | head -n 3; echo "${PIPESTATUS[0]}""#;
    let output = std::process::Command::new("bash")
        .args(["-c", script, "bash", env!("CARGO_BIN_EXE_bigint-e2e")])
        .current_dir(place.path())
        .output()
        .unwrap();
    let ended = crate::common::ended(output);
    assert_eq!(
        (ended.stdout.as_str(), ended.stderr.as_str()),
        ("0\n1\n4\n0\n", "")
    );
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_file_behind() {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    let place = Workplace::new();
    // Its input gets more numbers than it looks at first, then neither more nor
    // an end.
    let mut child = Command::new(env!("CARGO_BIN_EXE_bigint-e2e"))
        .args(["calc", "a*a", "--let", "a=-", "-o", "result"])
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = "123456789\n".repeat(1_000_000);
    std::io::Write::write_all(&mut stdin, text.as_bytes()).unwrap();
    let unfinished = || {
        place
            .files()
            .iter()
            .any(|file| file.to_string_lossy().contains("unfinished"))
    };
    for _ in 0..600 {
        if unfinished() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(unfinished(), "{:?}", place.files());
    let pid = child.id().to_string();
    let killed = Command::new("bash")
        .args(["-c", "kill -INT $1", "bash", &pid])
        .status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(place.files().is_empty(), "{:?}", place.files());
    drop(stdin);
}
