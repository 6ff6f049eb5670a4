//! An output file on a disk that fails at any call, and under a kill at any call.
//!
//! strace makes the faults. Where it is not installed, or may trace nothing, there is a word
//! in place of the test.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::common::{Ended, Workplace, ended};

/// The calls by which an output file gets its content and its name.
const CALLS: [&str; 7] = [
    "write",
    "fsync",
    "linkat",
    "rename,renameat,renameat2",
    "unlink,unlinkat",
    "fallocate",
    "ftruncate",
];

/// The command as strace runs it, and what strace says of it.
struct Traced {
    place: Workplace,
    aside: TempDir,
}

impl Traced {
    /// Without an old file, or with one; `None` where nothing can be traced.
    fn new(old: Option<&str>) -> Option<Self> {
        let traced = Traced {
            place: Workplace::new(),
            aside: TempDir::new().unwrap(),
        };
        if let Some(old) = old {
            traced.place.file("result", old);
        }
        let can_be_traced = traced.place.script("strace -f -o /dev/null true").status();
        if !can_be_traced.unwrap().success() {
            eprintln!("strace traces nothing here: faults of the file system are not tested");
            return None;
        }
        Some(traced)
    }

    /// Runs `calc 6*7 -o result`, and lists its calls.
    fn run(&self, options: &str) -> Ended {
        let trace = self.trace();
        let script = format!(
            r#"strace -f -qq -o '{}' {options} "$bigint" calc 6*7 -o result; exit "$?""#,
            trace.display()
        );
        ended(self.place.script(&script).output().unwrap())
    }

    fn trace(&self) -> PathBuf {
        self.aside.path().join("trace")
    }

    fn content(&self) -> Option<String> {
        read_to_string(self.place.path().join("result")).ok()
    }

    /// The files but for the result.
    fn others(&self) -> Vec<PathBuf> {
        let mut files = self.place.files();
        files.retain(|file| file.as_path() != Path::new("result"));
        files
    }
}

#[test]
fn a_file_is_on_the_disk_before_it_gets_its_name_and_its_name_before_the_end() {
    for old in [None, Some("old\n")] {
        let Some(traced) = Traced::new(old) else {
            return;
        };
        let all = format!("-e trace={}", CALLS[1..4].join(","));
        let run = traced.run(&all);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let trace = read_to_string(traced.trace()).unwrap();
        let calls = trace.lines().filter(|line| line.ends_with("= 0"));
        let calls = calls.map(|line| {
            let call = line.split_whitespace().nth(1).unwrap();
            &call[..call.find('(').unwrap()]
        });
        let calls: Vec<&str> = calls.collect();
        let names = &calls[1..calls.len() - 1];
        assert_eq!(
            (calls[0], calls[calls.len() - 1]),
            ("fsync", "fsync"),
            "{trace}"
        );
        assert!(!names.is_empty() && !names.contains(&"fsync"), "{trace}");
    }
}

#[test]
fn a_kill_at_any_call_leaves_what_was_there_or_the_result() {
    let mut kills = 0;
    for old in [None, Some("old\n")] {
        for call in CALLS {
            for nth in 1.. {
                let Some(traced) = Traced::new(old) else {
                    return;
                };
                let run = traced.run(&format!("-e inject={call}:signal=KILL:when={nth}"));
                if run.code == 0 {
                    break;
                }
                assert_eq!(run.code, 128 + 9, "{call} {nth}: {}", run.stderr);
                kills += 1;
                let content = traced.content();
                let is_whole = content.as_deref() == old || content.as_deref() == Some("42\n");
                assert!(is_whole, "{call} {nth}: {content:?}");
                assert!(traced.others().len() <= 1, "{:?}", traced.others());
                // What the kill left the next run takes away.
                traced.place.calc(&["6*7", "-o", "result"]);
                assert_eq!(traced.content().as_deref(), Some("42\n"));
                assert!(
                    traced.others().is_empty(),
                    "{call} {nth}: {:?}",
                    traced.others()
                );
            }
        }
    }
    assert!(kills > 8, "{kills}");
}

#[test]
fn an_error_at_any_call_is_told_and_leaves_what_was_there_or_the_result() {
    for old in [None, Some("old\n")] {
        for call in CALLS {
            for nth in 1.. {
                let Some(traced) = Traced::new(old) else {
                    return;
                };
                let run = traced.run(&format!("-e inject={call}:error=EIO:when={nth}"));
                let content = traced.content();
                let is_new = content.as_deref() == Some("42\n");
                assert!(
                    is_new || content.as_deref() == old,
                    "{call} {nth}: {content:?}"
                );
                match run.code {
                    0 => assert!(is_new, "{call} {nth}"),
                    1 => assert!(run.stderr.starts_with("error: result: cannot write: ")),
                    code => panic!("{call} {nth}: {code}: {}", run.stderr),
                }
                if !read_to_string(traced.trace()).unwrap().contains("INJECTED") {
                    break;
                }
            }
        }
    }
}

#[test]
fn results_that_cannot_get_their_name_have_another_and_are_not_lost() {
    let Some(traced) = Traced::new(Some("old\n")) else {
        return;
    };
    let run = traced.run("-e inject=rename,renameat:error=EPERM");
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(
        run.stderr.contains("the results are in result.results.1"),
        "{}",
        run.stderr
    );
    assert_eq!(traced.content().as_deref(), Some("old\n"));
    assert_eq!(traced.others(), [PathBuf::from("result.results.1")]);
    let kept = traced.place.path().join("result.results.1");
    assert_eq!(read_to_string(kept).unwrap(), "42\n");
}
