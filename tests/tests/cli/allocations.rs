//! Every command where the system has no memory for its n-th request.

use std::fs::{self, File};

use crate::common::{Ended, Workplace, ended};
use bigint_testing::{Told, failing_requests, sweep};

/// The commands, split at their spaces; `a` is also their standard input.
const COMMANDS: [&str; 20] = [
    "calc 6*7",
    "calc a*b+a --let a=a --let b=a --backend cpu",
    "calc a/b --let a=a --let b=7 --format hex -o result",
    "calc sum(a*a) --let a=- --memory 1M -o result",
    "calc powmod(a,5,b) --let a=a --let b=1000000007 --verbose",
    "calc 6*",
    "bench --backend cpu --operations add,mul --widths 64 --count 9 --samples 1",
    "bench --backend cpu --operations pow_mod --widths 64 --samples 1 --time-limit 1ms --json",
    "bench honda --backend cpu --widths 64 --count 2 --samples 1 --svg result",
    "bench bringgaard --backend cpu --widths 64 --count 2 --samples 1",
    "bench carlessi --backend cpu --widths 64 --count 2 --samples 1",
    "bench langer --backend cpu --widths 2048 --count 2 --samples 1",
    "info",
    "selftest --backend cpu --operations not --cases 1",
    "tune -o result",
    "completions fish",
    "man info",
    "help calc",
    "--help",
    "--version",
];

/// Runs a command, of which request `at` and as many as are said in all fail.
fn run(place: &Workplace, arguments: &str, faults: Option<(u64, u64)>) -> Ended {
    // What hangs is killed.
    let mut command = place.program("timeout");
    command.args(["--signal=KILL", "60", env!("CARGO_BIN_EXE_bigint-e2e")]);
    command.args(arguments.split(' '));
    command
        .stdin(File::open(place.path().join("a")).unwrap())
        .env("RAYON_NUM_THREADS", sweep("2", "1"))
        .env("BIGINT_TELL_MEMORY", "1");
    match faults {
        Some((at, most)) => command
            .env("BIGINT_FAIL_AT", at.to_string())
            .env("BIGINT_FAIL_FOR", most.to_string()),
        None => command.envs(sweep(None, Some(("BIGINT_TELL_STACKS", "1")))),
    };
    ended(command.output().unwrap())
}

fn place() -> Workplace {
    let place = Workplace::new();
    let number = |i: u64| format!("{i}{}\n", "7".repeat(i as usize % 300));
    place.file("a", (1..12).map(number).collect::<String>());
    place
}

#[test]
fn a_request_that_fails_ends_the_command_with_a_word_or_not_at_all() {
    // Two processes at a time, whatever the machine has.
    let of_half = |half| COMMANDS.into_iter().skip(half).step_by(2);
    std::thread::scope(|scope| {
        scope.spawn(|| of_half(0).for_each(ends_well));
        of_half(1).for_each(ends_well);
    });
}

/// Runs a command with one request for memory after another failing.
fn ends_well(arguments: &str) {
    let place = place();
    let whole = run(&place, arguments, None);
    let told = Told::of(&whole.stderr).expect("who comes to an end tells them");
    let result = fs::read(place.path().join("result")).ok();
    let chosen = failing_requests(&told);
    let requests = told.requests;
    println!("{arguments}: {} of {requests} requests", chosen.len());
    for at in chosen {
        let ended = ends_well_at(arguments, &whole, result.as_deref(), (at, 1));
        // Who ended at once has made no other request.
        if Told::of(&ended.stderr).is_some() {
            ends_well_at(arguments, &whole, result.as_deref(), (at, 0));
        }
    }
}

/// Runs a command with some requests failing, which says `whole` and writes `result` without.
fn ends_well_at(
    arguments: &str,
    whole: &Ended,
    result: Option<&[u8]>,
    faults: (u64, u64),
) -> Ended {
    let place = place();
    place.file("result", "old\n");
    let ended = run(&place, arguments, Some(faults));
    let what = format!("{arguments:?}, request {faults:?}: {}", ended.stderr);
    assert!(
        ended.code == whole.code || ended.code == 1,
        "{}: {what}",
        ended.code
    );
    assert!(!ended.stderr.contains("panicked"), "{what}");
    if ended.code == 1 {
        assert!(ended.stderr.contains("error: "), "{what}");
    }
    // What is measured is another thing each time, with the same end.
    let is_measured = ["bench", "info", "tune"]
        .iter()
        .any(|word| arguments.starts_with(word));
    let written = fs::read(place.path().join("result")).unwrap();
    let is_old = written == b"old\n";
    let ends_alike = |result: &[u8]| is_measured && written.ends_with(&result[result.len() - 7..]);
    let is_new = result.is_some_and(|result| written == result || ends_alike(result));
    assert!(is_old || is_new, "{what}");
    if ended.code == 0 {
        assert!(is_new || result.is_none(), "{what}");
        assert!(is_measured || ended.stdout == whole.stdout, "{what}");
    }
    // `a` and `result`: nothing is left over.
    assert_eq!(place.files().len(), 2, "{what}: {:?}", place.files());
    ended
}
