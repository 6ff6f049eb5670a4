//! An output file appears when it is complete, and only then.

use std::path::Path;

use crate::common::{Workplace, ended};

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
    std::os::unix::fs::symlink("new", place.path().join("dangling")).unwrap();
    place.calc(&["6*7", "-o", "dangling"]);
    assert!(place.path().join("dangling").is_symlink());
    assert_eq!(
        std::fs::read_to_string(place.path().join("new")).unwrap(),
        "42\n"
    );
}

#[test]
fn a_dash_is_standard_output() {
    let place = Workplace::new();
    assert_eq!(place.calc(&["6*7", "-o", "-"]), "42\n");
    assert!(place.files().is_empty());
    place.calc(&["6*7", "-o", "./-"]);
    assert_eq!(place.files(), [Path::new("-")]);
}

#[cfg(unix)]
#[test]
fn what_is_open_is_written_where_it_is() {
    let place = Workplace::new();
    let script = r#"
        echo before >log
        "$bigint" calc 6*7 -o /dev/stdout >>log
        { echo between; "$bigint" calc 6*8 -o /dev/fd/1; echo after; } >>log
        "$bigint" calc 6*9 -o /dev/fd/3 3>>log
        cat log
    "#;
    let ended = ended(place.script(script).output().unwrap());
    let log = "before\n42\nbetween\n48\nafter\n54\n";
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), (log, ""));
}

#[cfg(unix)]
#[test]
fn standard_output_that_is_closed_is_an_error_while_running() {
    let place = Workplace::new();
    for script in [
        r#""$bigint" calc 1+1 >&-"#,
        r#""$bigint" calc 1+1 1</dev/null"#,
        r#""$bigint" info >&-"#,
        r#""$bigint" calc 1+1 >/dev/full"#,
    ] {
        let ended = ended(place.script(script).output().unwrap());
        let expected = "error: standard output: cannot write: ";
        assert_eq!(ended.code, 1, "{script}: {}", ended.stderr);
        assert!(ended.stderr.starts_with(expected), "{}", ended.stderr);
    }
    for script in [
        r#""$bigint" calc 1+1 -o result >&-"#,
        r#""$bigint" calc 1+1 >/dev/null"#,
        r#""$bigint" calc 1+1 1<>/dev/null"#,
    ] {
        let ended = ended(place.script(script).output().unwrap());
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{script}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_keeps_its_mode_and_its_owner() {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    let place = Workplace::new();
    let path = place
        .path()
        .join(place.file("result", "old and longer than the new\n"));
    for mode in [0o600, 0o640, 0o4711] {
        set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        place.calc(&["6*7", "-o", "result"]);
        assert_eq!(metadata(&path).unwrap().mode() & 0o7777, mode);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "42\n");
    }
    let is_root = metadata(&path).unwrap().uid() == 0;
    if is_root {
        chown(&path, Some(1234), Some(2345)).unwrap();
        place.calc(&["6*8", "-o", "result"]);
        let kept = metadata(&path).unwrap();
        assert_eq!((kept.uid(), kept.gid()), (1234, 2345));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "48\n");
    }
}

/// What a new file in its place would not have is not lost without a word.
#[cfg(unix)]
#[test]
fn a_file_that_no_other_can_replace_is_refused_but_in_place() {
    use std::fs::{Permissions, hard_link, metadata, read_to_string, set_permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    let place = Workplace::new();
    let path = place
        .path()
        .join(place.file("result", "old and longer than the new\n"));
    let refused = |ended: crate::common::Ended, why: &str| {
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.starts_with("error: result: cannot write: "));
        assert!(ended.stderr.contains(why), "{}", ended.stderr);
        assert!(ended.stderr.contains("--in-place"), "{}", ended.stderr);
        assert_eq!(
            read_to_string(&path).unwrap(),
            "old and longer than the new\n"
        );
    };
    let other = place.path().join("other name");
    hard_link(&path, &other).unwrap();
    refused(place.run(&["calc", "6*9", "-o", "result"]), "hard link");
    place.calc(&["6*9", "-o", "result", "--in-place"]);
    assert_eq!(read_to_string(&other).unwrap(), "54\n");
    std::fs::remove_file(&other).unwrap();

    place.file("result", "old and longer than the new\n");
    let users = |options: &str| {
        let mut command =
            place.script_of_a_user(&format!(r#""$bigint" calc 6*7 -o result {options}"#));
        if metadata(&path).unwrap().uid() == 54321 {
            // Only root can give a user's folder a file of another's.
            chown(&path, Some(0), Some(0)).unwrap();
        }
        set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        ended(command.output().unwrap())
    };
    let first = users("");
    if metadata(&path).unwrap().uid() == metadata(place.path()).unwrap().uid() {
        assert_eq!(first.code, 0, "{}", first.stderr);
        return;
    }
    refused(first, "owner");
    let written = users("--in-place");
    assert_eq!((written.code, written.stderr.as_str()), (0, ""));
    assert_eq!(read_to_string(&path).unwrap(), "42\n");
    assert_eq!(metadata(&path).unwrap().uid(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_keeps_its_attributes() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};

    let place = Workplace::new();
    let path = place.path().join(place.file("result", "old\n"));
    if let Err(error) = setxattr(&path, "user.note", b"mine", XattrFlags::empty()) {
        return eprintln!("files have no attributes here: {error}");
    }
    place.calc(&["6*7", "-o", "result"]);
    let mut value = [0; 8];
    assert_eq!(getxattr(&path, "user.note", &mut value), Ok(4));
    assert_eq!(&value[..4], b"mine");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "42\n");
}

#[cfg(unix)]
#[test]
fn what_may_not_be_written_is_not_and_what_may_be_is() {
    let place = Workplace::new();
    place.file("result", "old and longer than the new\n");
    let of_a_user = |script| ended(place.script_of_a_user(script).output().unwrap());
    let refused = of_a_user(r#"chmod 444 result; "$bigint" calc 6*7 -o result"#);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.starts_with("error: result: cannot write: "),
        "{}",
        refused.stderr
    );
    let read = || std::fs::read_to_string(place.path().join("result")).unwrap();
    assert_eq!(read(), "old and longer than the new\n");
    let script = r#"chmod 644 result; chmod 555 .; "$bigint" calc 6*7 -o result"#;
    let refused = of_a_user(script);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("its folder takes no new file"));
    assert_eq!(read(), "old and longer than the new\n");
    let written = of_a_user(r#""$bigint" calc 6*7 -o result --in-place"#);
    assert_eq!((written.code, written.stderr.as_str()), (0, ""));
    assert_eq!(read(), "42\n");
    let bad = of_a_user(r#""$bigint" calc '6*' -o result"#);
    assert_eq!((bad.code, read().as_str()), (2, "42\n"));
    let new = of_a_user(r#""$bigint" calc 6*7 -o new"#);
    assert_eq!(new.code, 2, "{}", new.stderr);
}

#[cfg(unix)]
#[test]
fn a_file_that_reaches_the_limit_on_sizes_is_an_error_and_is_not_left_behind() {
    let place = Workplace::new();
    place.file("a", "123456789\n".repeat(10_000));
    let script = r#"ulimit -f 16; "$bigint" calc a*a --let a=a -o result"#;
    let ended = ended(place.script(script).output().unwrap());
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(
        ended.stderr.starts_with("error: result: cannot write: "),
        "{}",
        ended.stderr
    );
    assert_eq!(place.files(), [Path::new("a")]);
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
    let script = r#""$bigint" calc 'a*a' --let a=a | head -n 3; echo "${PIPESTATUS[0]}""#;
    let ended = ended(place.script(script).output().unwrap());
    assert_eq!(
        (ended.stdout.as_str(), ended.stderr.as_str()),
        ("0\n1\n4\n0\n", "")
    );
}
