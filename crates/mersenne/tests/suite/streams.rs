//! Standard streams that are closed, full or without a reader: the result is in its file, once, and
//! the line is taken out of worktodo.txt, whatever cannot be said.

use std::fs;
use std::io::pipe;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// How a stream is.
const STATES: [&str; 4] = ["good", "closed", "full", "without a reader"];

/// Runs the program with its streams so.
fn run(folder: &Path, arguments: &[&str], [stdin, stdout, stderr]: [&str; 3]) -> ExitStatus {
    let redirect = |number: u8, state: &str| match (number, state) {
        (_, "closed") => format!("{number}>&-"),
        (0, "full") => "0</dev/full".to_owned(),
        (_, "full") => format!("{number}>/dev/full"),
        _ => String::new(),
    };
    let redirects = [redirect(0, stdin), redirect(1, stdout), redirect(2, stderr)];
    let mut shell = Command::new("sh");
    shell.arg("-c");
    shell.arg(format!("exec \"$0\" \"$@\" {}", redirects.join(" ")));
    shell.arg(env!("CARGO_BIN_EXE_mersenne")).args(arguments);
    shell.arg("--folder").arg(folder);
    let end = |state: &str| match state {
        "without a reader" => Stdio::from(pipe().unwrap().1),
        _ => Stdio::null(),
    };
    let status = shell
        .stdin(Stdio::null())
        .stdout(end(stdout))
        .stderr(end(stderr));
    status.status().unwrap()
}

fn results(folder: &Path) -> usize {
    let text = fs::read_to_string(folder.join("results.json.txt")).unwrap();
    text.lines().count()
}

#[test]
fn no_stream_keeps_a_result_from_its_file_or_a_line_in_worktodo() {
    let pairs = STATES
        .into_iter()
        .flat_map(|stdout| STATES.map(|stderr| ["good", stdout, stderr]));
    let inputs = ["closed", "full"].map(|stdin| [stdin, "closed", "closed"]);
    for streams in pairs.chain(inputs) {
        let folder = tempfile::tempdir().unwrap();
        let worktodo = folder.path().join("worktodo.txt");
        fs::write(&worktodo, "hello\nTest=107,60,1\nPRP=N/A,1,2,127,-1\n").unwrap();
        let status = run(folder.path(), &["work"], streams);
        let is_told = ["good", "without a reader"].contains(&streams[1]);
        assert_eq!(status.code(), Some(i32::from(!is_told)), "{streams:?}");
        assert_eq!(
            fs::read_to_string(&worktodo).unwrap(),
            "hello\n",
            "{streams:?}"
        );
        assert_eq!(results(folder.path()), 2, "{streams:?}");
    }
}

#[test]
fn what_cannot_be_printed_makes_the_exit_code_1_and_a_reader_that_left_none() {
    let folder = tempfile::tempdir().unwrap();
    let commands: [&[&str]; 6] = [
        &["prp", "127", "--json"],
        &["tf", "29", "--from", "1", "--to", "12", "--json"],
        &["verify", "127-3.proof", "--json"],
        &["selftest", "--to", "7"],
        &["bench", "127", "--time", "1ms"],
        &["tune", "--from", "64", "--to", "64", "--time", "1ms"],
    ];
    let proof = folder.path().join("proof/127-3.proof");
    for command in commands {
        let path = proof.to_str().unwrap();
        let named = command
            .iter()
            .map(|&word| if word == "127-3.proof" { path } else { word });
        let arguments: Vec<&str> = named.collect();
        for state in STATES {
            let status = run(folder.path(), &arguments, ["good", state, state]);
            let is_told = ["good", "without a reader"].contains(&state);
            assert_eq!(
                status.code(),
                Some(i32::from(!is_told)),
                "{command:?}, {state}"
            );
        }
    }
    let status = run(folder.path(), &["--help"], ["good", "full", "full"]);
    assert_eq!(status.code(), Some(1));
}
