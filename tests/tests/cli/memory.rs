//! Memory that cannot be had is an error, and leaves nothing behind.

use crate::common::{Workplace, ended};
use bigint_testing::sweep;

#[test]
fn however_little_memory_there_is_the_result_is_whole_or_there_is_none() {
    let place = Workplace::new();
    for (first, format) in ["dec", "hex"].into_iter().enumerate() {
        let number = match format {
            "dec" => "7".repeat(3_000_000),
            _ => format!("0x{}", "9".repeat(2_500_000)),
        };
        place.file("a", format!("{number}\n"));
        place.file("b", format!("{number}\n"));
        let whole = place.calc(&["a*b", "--let", "a=a", "--let", "b=b", "--format", format]);
        let mut codes = Vec::new();
        // Every other one; in sweeps all.
        let little = [
            60_000, 64_000, 66_000, 80_000, 100_000, 150_000, 200_000, 300_000,
        ];
        let little = little
            .into_iter()
            .skip(sweep(first, 0))
            .step_by(sweep(2, 1));
        for kibibytes in little.chain([4_000_000]) {
            let limited = "ulimit -v $1; shift; exec \"$@\"";
            let mut command = std::process::Command::new("sh");
            command
                .current_dir(place.path())
                .env("RAYON_NUM_THREADS", "2");
            command.args(["-c", limited, "sh", &kibibytes.to_string()]);
            command.arg(place.command().get_program());
            command.args(["calc", "a*b", "--let", "a=a", "--let", "b=b", "-o", "r"]);
            command.args(["--backend", "cpu", "--format", format]);
            let ended = ended(command.output().unwrap());
            let result = std::fs::read_to_string(place.path().join("r"));
            match ended.code {
                0 => assert!(result.unwrap() == whole),
                1 => assert!(ended.stderr.contains("error: "), "{}", ended.stderr),
                code => panic!("{kibibytes}: exit code {code}: {}", ended.stderr),
            }
            let files = 2 + usize::from(ended.code == 0);
            assert_eq!(place.files().len(), files, "{:?}", place.files());
            let _ = std::fs::remove_file(place.path().join("r"));
            codes.push(ended.code);
        }
        assert!(codes.contains(&1) && codes.last() == Some(&0), "{codes:?}");
    }
}

/// Files of ten times the memory that is allowed: about so much is taken, and the results
/// are those of a run that takes what it likes.
#[test]
fn files_larger_than_the_memory_that_is_allowed_are_computed() {
    let place = Workplace::new();
    let line = |i: u64| format!("0x{i:x}{}\n", "9".repeat(1600));
    place.file("a", (1..50_000).map(line).collect::<String>());
    let run = |memory: &str| {
        let mut command = std::process::Command::new("sh");
        command
            .current_dir(place.path())
            .env("RAYON_NUM_THREADS", "2");
        command.args(["-c", "ulimit -v $1; shift; exec \"$@\"", "sh", KIBIBYTES]);
        command.arg(place.command().get_program());
        command.args([
            "calc", "a + a", "--let", "a=a", "-o", "r", "--format", "hex",
        ]);
        command.args(["--backend", "cpu", "--memory", memory]);
        ended(command.output().unwrap())
    };
    let bounded = run("8M");
    assert_eq!(bounded.code, 0, "{}", bounded.stderr);
    let result = std::fs::read_to_string(place.path().join("r")).unwrap();
    let double = |i: u64| format!("0x{:x}{}2\n", 2 * i + 1, "3".repeat(1599));
    let mut lines = result.split_inclusive('\n');
    assert!((1..50_000).all(|i| lines.next() == Some(&double(i))));
    assert_eq!(lines.next(), None);
    let unbounded = run("512M");
    assert_eq!(unbounded.code, 1, "{}", unbounded.stderr);
}

/// The most bytes that a command takes at one time, of lines from the file `a` or from a pipe,
/// with writes that take long: what waits for them fills up.
fn most(place: &Workplace, arguments: &str, writes: &str) -> u64 {
    let script = format!(r#"{writes} "$bigint" {arguments} --backend cpu >/dev/null"#);
    let mut command = place.script(&script);
    command
        .env("RAYON_NUM_THREADS", "2")
        .env("BIGINT_TELL_MEMORY", "1");
    let ended = ended(command.output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let told = ended
        .stderr
        .lines()
        .find(|line| line.starts_with("memory: "));
    let bytes = told.and_then(|line| line.split_whitespace().nth(3));
    bytes.expect("it is told").parse().unwrap()
}

/// With each write held up for some milliseconds, where strace can do that.
fn slow_writes(place: &Workplace) -> &'static str {
    const SLOW: &str = "strace -f -o /dev/null -e trace=write -e inject=write:delay_enter=20000";
    let traced = place.script(&format!("{SLOW} true")).output().unwrap();
    match traced.status.success() {
        true => SLOW,
        false => "",
    }
}

#[test]
fn what_waits_between_the_stages_is_within_the_memory_that_is_allowed() {
    let place = Workplace::new();
    let slow = slow_writes(&place);
    let alone = most(&place, "calc 1+1 --memory 8M", slow);
    let long = format!("0x7{}", "9".repeat(1600));
    for (line, format) in [(long.as_str(), "hex"), ("7", "dec")] {
        place.file(
            "a",
            format!("{line}\n").repeat((3 << 20) / (line.len() + 1)),
        );
        // By way of the pipe only the long ones; in sweeps both.
        for source in ["a", "- < <(cat a)"] {
            if source != "a" && format == "dec" && !sweep(false, true) {
                continue;
            }
            let arguments = format!("calc a+a --memory 8M --format {format} --let a={source}");
            let taken = most(&place, &arguments, slow).saturating_sub(alone);
            assert!(
                taken <= 8 << 20,
                "{} {source} {format}: {taken}",
                line.len()
            );
        }
    }
}

/// What one thread asks the system for and gives back must not be what another then lacks.
#[test]
fn threads_that_are_slow_to_give_memory_back_leave_enough_for_the_others() {
    const SLOW: &str = "strace -f -o /dev/null -e trace=munmap -e inject=munmap:delay_enter=10000";
    let place = Workplace::new();
    if !place
        .script(&format!("{SLOW} true"))
        .status()
        .unwrap()
        .success()
    {
        return eprintln!("strace traces nothing here: slow threads are not tested");
    }
    let line = |i: u64| format!("0x{i:x}{}\n", "9".repeat(1600));
    place.file("a", (1..3000).map(line).collect::<String>());
    let script = format!(
        "ulimit -v {KIBIBYTES}; {SLOW} \"$bigint\" calc a+a --let a=a -o r --format hex \
         --backend cpu --memory 8M"
    );
    let mut command = place.script(&script);
    command.env("RAYON_NUM_THREADS", "2");
    let ended = ended(command.output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

/// Addresses that are enough are enough for ever: more of them are no reason to fail.
#[test]
fn what_is_computed_with_little_memory_is_computed_with_more() {
    let place = Workplace::new();
    let step = bigint_testing::sweep_all(20_000, 10_000, 2_000);
    let mut least = None;
    for kibibytes in (60_000..=260_000).step_by(step) {
        let script = format!(r#"ulimit -v {kibibytes}; "$bigint" calc '3^3000000' -o result"#);
        let mut command = place.script(&script);
        command.env("RAYON_NUM_THREADS", "16");
        let ended = ended(command.output().unwrap());
        match (ended.code, least) {
            (0, _) => least = least.or(Some(kibibytes)),
            (1, None) => assert!(ended.stderr.contains("error: "), "{}", ended.stderr),
            (code, _) => panic!("{code} with {kibibytes}, after {least:?}: {}", ended.stderr),
        }
    }
    assert!(least.is_some());
}

/// Were the short numbers padded to the long one, they would take eight gigabytes.
#[test]
fn a_giant_among_short_numbers_takes_the_memory_that_it_takes_alone() {
    let place = Workplace::new();
    let short = |range: std::ops::Range<u64>| -> String {
        range.map(|i| format!("{i}{}\n", "7".repeat(30))).collect()
    };
    let giant = format!("{}\n", "8".repeat(1_000_000));
    let parts = [short(1..10_000), giant, short(10_000..20_000)];
    place.file("a", parts.concat());
    let apart = parts.map(|part| {
        place.file("part", part);
        place.calc(&["a*a", "--let", "a=part"])
    });
    let mut command = std::process::Command::new("sh");
    command
        .current_dir(place.path())
        .env("RAYON_NUM_THREADS", "2");
    command.args(["-c", "ulimit -v $1; shift; exec \"$@\"", "sh", "150000"]);
    command.arg(place.command().get_program());
    command.args(["calc", "a*a", "--let", "a=a", "--backend", "cpu"]);
    let both = ended(command.output().unwrap());
    assert_eq!(both.code, 0, "{}", both.stderr);
    assert!(both.stdout == apart.concat());
}

/// Address space that is enough for 8 MiB of numbers and text on their way, and for programs
/// and threads.
const KIBIBYTES: &str = "90000";
