//! Every command with each standard stream closed, full, a pipe whose other end is gone, or a
//! terminal that is closed.

use std::io::pipe;
use std::process::{Command, Stdio};

use crate::common::{Workplace, ended};

/// What is wrong with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Good,
    Closed,
    /// `/dev/full`: it takes nothing, and gives zeros without end.
    Full,
    /// A pipe whose other end is gone.
    Gone,
    /// A terminal that is closed.
    HungUp,
}

use State::{Closed, Full, Gone, Good, HungUp};

const STATES: [State; 5] = [Good, Closed, Full, Gone, HungUp];

/// The commands, by what the shell has of them: what each reads and writes decides its code.
const COMMANDS: [(&str, Kind); 16] = [
    ("calc 6*7", Kind::Prints),
    ("calc 6*7 --verbose", Kind::Prints),
    ("calc a --let a=-", Kind::Reads),
    ("calc 6*7 -o result", Kind::Silent),
    ("calc 6*", Kind::Refuses),
    ("calc 7 --let b=5 -o result", Kind::Silent),
    (
        "bench --backend cpu --operations add --widths 64 --count 9 --samples 1",
        Kind::Prints,
    ),
    (
        "bench --backend cpu --operations add --widths 64 --count 9 --samples 1 --json",
        Kind::Prints,
    ),
    (
        "bench honda --backend cpu --widths 64 --count 2 --samples 1",
        Kind::Prints,
    ),
    ("info", Kind::Prints),
    (
        "selftest --backend cpu --operations add --cases 9",
        Kind::Prints,
    ),
    ("completions bash", Kind::Prints),
    ("man calc", Kind::Prints),
    ("calc --help", Kind::Prints),
    ("--version", Kind::Prints),
    ("", Kind::Refuses),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// To standard output.
    Prints,
    /// The same, from standard input.
    Reads,
    /// Prints nothing.
    Silent,
    /// Was used wrongly.
    Refuses,
}

/// The code that a command ends with, by its kind and its streams: what it cannot say on
/// standard error makes no difference.
fn code(kind: Kind, [stdin, stdout, _]: [State; 3]) -> i32 {
    let printed = match stdout {
        Good | Gone => 0,
        Closed | Full | HungUp => 1,
    };
    match (kind, stdin) {
        (Kind::Silent, _) => 0,
        (Kind::Refuses, _) | (Kind::Reads, Closed) => 2,
        // Where results go is looked at before they are computed.
        (Kind::Reads, _) if stdout == Closed => 1,
        // The rest are empty sources, as a terminal that is closed is one.
        (Kind::Reads, stdin) => 2 * i32::from(stdin == Full),
        (Kind::Prints, _) => printed,
    }
}

/// Runs a command with its streams in these states.
fn check(arguments: &str, kind: Kind, states: [State; 3]) {
    let place = Workplace::new();
    let closed = ["<&-", ">&-", "2>&-"];
    let closed = closed
        .iter()
        .zip(states)
        .filter(|(_, state)| *state == Closed);
    let closed: Vec<&str> = closed.map(|(word, _)| *word).collect();
    let quoted = arguments.replace('*', "\\*");
    // What hangs is killed, and has another code than is expected.
    let script = format!(
        r#"exec timeout -s KILL 60 "$bigint" {quoted} {}"#,
        closed.join(" ")
    );
    let mut command = place.script(&script);
    set(&mut command, states);
    let ended = ended(command.output().unwrap());
    let expected = code(kind, states);
    let what = format!("{arguments:?} with {states:?}: {}", ended.stderr);
    assert_eq!(ended.code, expected, "{what}");
    assert!(!ended.stderr.contains("panicked"), "{what}");
    if expected != 0 && states[2] == Good {
        assert!(
            ended.stderr.contains("error: ") || arguments.is_empty(),
            "{what}"
        );
    }
    let files = usize::from(kind == Kind::Silent);
    assert_eq!(place.files().len(), files, "{what}: {:?}", place.files());
}

fn set(command: &mut Command, [stdin, stdout, stderr]: [State; 3]) {
    let device = |name: &str| {
        Stdio::from(
            std::fs::File::options()
                .read(true)
                .write(true)
                .open(name)
                .unwrap(),
        )
    };
    let other_end_gone = |is_read: bool| {
        let (read, write) = pipe().unwrap();
        if is_read {
            Stdio::from(read)
        } else {
            Stdio::from(write)
        }
    };
    let terminal = || {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&user).unwrap();
        unlockpt(&user).unwrap();
        let name = ptsname(&user, Vec::new()).unwrap();
        // It is closed at the end of this function, on the user's side.
        device(name.to_str().unwrap())
    };
    command.stdin(match stdin {
        Good | Closed => Stdio::null(),
        Full => device("/dev/full"),
        Gone => other_end_gone(true),
        HungUp => terminal(),
    });
    let sink = |state| match state {
        Good | Closed => Stdio::piped(),
        Full => device("/dev/full"),
        Gone => other_end_gone(false),
        HungUp => terminal(),
    };
    command.stdout(sink(stdout)).stderr(sink(stderr));
}

#[test]
fn every_command_ends_with_its_code_whatever_its_streams_are() {
    let most = bigint_testing::sweep_all(1, 2, 3);
    for (arguments, kind) in COMMANDS {
        for stdin in STATES {
            for stdout in STATES {
                for stderr in STATES {
                    let states = [stdin, stdout, stderr];
                    // One stream at a time, or all of them; in sweeps two, and three.
                    let others = states.iter().filter(|state| **state != Good).count();
                    let is_read = stdin == Good || kind == Kind::Reads || most > 1;
                    let is_few = others <= most && is_read;
                    let is_same = stdin == stdout && stdout == stderr;
                    if is_few || is_same {
                        check(arguments, kind, states);
                    }
                }
            }
        }
    }
}
