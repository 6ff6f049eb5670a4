//! Every command where the system has no memory for its n-th request.

use std::collections::BTreeSet;

use crate::common::{Ended, Workplace, ended};

/// The commands; `a` is also their standard input.
const COMMANDS: [&str; 14] = [
    "calc 6*7",
    "calc a*b+a --let a=a --let b=a --backend cpu",
    "calc a/b --let a=a --let b=7 --format hex -o result",
    "calc sum(a*a) --let a=- --memory 1M -o result",
    "calc powmod(a,5,b) --let a=a --let b=1000000007 --verbose",
    "calc 6*",
    "bench --backend cpu --operations add,mul --widths 64 --count 9 --samples 1",
    "bench --backend cpu --operations pow_mod --widths 64 --samples 1 --time-limit 1ms --json",
    "bench honda --backend cpu --widths 64 --count 2 --samples 1 --svg result",
    "info",
    "selftest --backend cpu --operations mul --cases 20",
    "completions bash",
    "man calc",
    "--help",
];

/// Runs a command, of which request `at` and as many as are said in all fail.
fn run(place: &Workplace, arguments: &str, faults: Option<(u64, u64)>) -> Ended {
    let quoted = ["*", "(", ")"]
        .iter()
        .fold(arguments.to_owned(), |text, sign| {
            text.replace(sign, &format!("\\{sign}"))
        });
    // What hangs is killed.
    let script = format!(r#"exec timeout -s KILL 60 "$bigint" {quoted} <a"#);
    let mut command = place.script(&script);
    command
        .env("RAYON_NUM_THREADS", "2")
        .env("BIGINT_TELL_MEMORY", "1");
    if let Some((at, most)) = faults {
        command
            .env("BIGINT_FAIL_AT", at.to_string())
            .env("BIGINT_FAIL_FOR", most.to_string());
    }
    ended(command.output().unwrap())
}

/// The requests of a run that ended well.
fn requests(ended: &Ended) -> u64 {
    let line = ended
        .stderr
        .lines()
        .find(|line| line.starts_with("memory: "));
    let count = line.and_then(|line| line.split_whitespace().nth(1));
    count.expect("it is told").parse().unwrap()
}

fn place() -> Workplace {
    let place = Workplace::new();
    let number = |i: u64| format!("{i}{}\n", "7".repeat(i as usize % 300));
    place.file("a", (1..500).map(number).collect::<String>());
    place
}

/// Which requests fail, of so many: the first ones, and others further and further apart.
fn chosen(requests: u64) -> BTreeSet<u64> {
    if std::env::var_os("BIGINT_SWEEPS").is_some() {
        let step = (requests / 500).max(1);
        return (1..200.min(requests))
            .chain((1..=requests).step_by(step as usize))
            .collect();
    }
    let mut chosen = BTreeSet::from([1, requests.saturating_sub(3).max(1)]);
    let mut at = 2;
    while at <= requests {
        chosen.insert(at);
        at += at / 2 + 1;
    }
    chosen
}

#[test]
fn a_request_that_fails_ends_the_command_with_a_word_or_not_at_all() {
    for arguments in COMMANDS {
        let place = place();
        let whole = run(&place, arguments, None);
        let files = place.files();
        let result = std::fs::read(place.path().join("result")).ok();
        for (i, at) in chosen(requests(&whole)).into_iter().enumerate() {
            let place = self::place();
            place.file("result", "old\n");
            // In turn this request alone, and all from it on.
            let most = (i % 2 == 0).into();
            let ended = run(&place, arguments, Some((at, most)));
            let what = format!("{arguments:?}, request {at}, {most}: {}", ended.stderr);
            assert!(
                ended.code == whole.code || ended.code == 1,
                "{}: {what}",
                ended.code
            );
            assert!(!ended.stderr.contains("panicked"), "{what}");
            if ended.code == 1 {
                assert!(ended.stderr.contains("error: "), "{what}");
            }
            let written = std::fs::read(place.path().join("result")).unwrap();
            let is_old = written == b"old\n";
            // What is measured is another thing each time.
            let is_new = Some(&written) == result.as_ref() || arguments.contains("--svg");
            assert!(is_old || is_new, "{what}");
            if ended.code == 0 {
                assert!(is_new || result.is_none(), "{what}");
                let is_measured = ["bench", "info"]
                    .iter()
                    .any(|word| arguments.starts_with(word));
                assert!(is_measured || ended.stdout == whole.stdout, "{what}");
            }
            assert!(
                files.len() <= 2 && place.files().len() == 2,
                "{what}: {:?}",
                place.files()
            );
        }
    }
}
