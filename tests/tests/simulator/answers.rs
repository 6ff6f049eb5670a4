//! Answers on the simulator, against the CPU's.

use super::Machine;
use bigint_testing::{sweep, sweep_all};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::os::unix::fs::PermissionsExt;
use std::{env, fs};

/// The script that `cargo xtask gpu-pack` puts beside the command.
const PACK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../xtask/src/gpu_pack/run.sh");

/// Integers in hexadecimal that are hard on carries: runs of ones and zeros of
/// random lengths around limb boundaries, of up to `limbs` limbs, some negative.
pub fn adversarial(random: &mut ChaCha8Rng, count: usize, limbs: usize) -> Vec<String> {
    (0..count)
        .map(|_| {
            let digits = random.random_range(1..=8 * limbs);
            let mut number = String::with_capacity(digits + 3);
            if random.random_bool(0.3) {
                number.push('-');
            }
            number.push_str("0x");
            let end = number.len() + digits;
            while number.len() < end {
                let run = random.random_range(1..=24).min(end - number.len());
                let digit = *["0", "f", "f", "8", "1", "7"]
                    .get(random.random_range(0..8))
                    .unwrap_or(&"?");
                for _ in 0..run {
                    if digit == "?" {
                        let any = random.random_range(0..16);
                        number.push(char::from_digit(any, 16).expect("a digit"));
                    } else {
                        number.push_str(digit);
                    }
                }
            }
            number
        })
        .collect()
}

#[test]
fn files_of_adversarial_numbers_have_the_results_of_the_cpu() {
    let machine = Machine::new();
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for (limbs, count) in [(1, 200), (4, 300), (33, 100), (70, 40)] {
        let [a, b] = ["a", "b"].map(|name| {
            let numbers = adversarial(&mut random, count, limbs);
            format!("{name}={}", machine.numbers(name, &numbers))
        });
        for expression in ["a+b", "a-b", "a*b", "(a-b)*(a+b)-a*7"] {
            let calc = |backend| {
                let arguments = [
                    "calc",
                    expression,
                    "--let",
                    &a,
                    "--let",
                    &b,
                    "--backend",
                    backend,
                    "--format",
                    "hex",
                ];
                let ended = machine.run(&[], &arguments);
                assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
                ended.stdout
            };
            let expected = calc("cpu");
            assert_eq!(expected.lines().count(), count);
            // Not in full: it would be pages.
            assert!(calc("cuda") == expected, "{expression}, {limbs} limbs");
        }
    }
}

#[test]
fn the_selftest_passes_under_every_check() {
    let machine = Machine::new();
    let ended = machine.run(
        &[],
        &[
            "selftest",
            "--backend",
            "cuda",
            "--cases",
            sweep_all("70", "200", "800"),
            // Other cases than those of bigint-host's own tests.
            "--seed",
            "7",
        ],
    );
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn the_selftest_passes_when_work_runs_as_late_as_it_may() {
    let machine = Machine::new();
    // Checks are off: the order is what is tested here, and it goes faster.
    let variables = [
        ("CUDA_SIM_SCHEDULE", "adversarial"),
        ("CUDA_SIM_CHECKS", "none"),
        ("CUDA_SIM_DEVICES", "sm_75:1GiB"),
    ];
    let ended = machine.run(
        &variables,
        &[
            "selftest",
            "--backend",
            "cuda",
            "--cases",
            sweep("40", "300"),
        ],
    );
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn the_pack_for_other_machines_tests_and_measures() {
    let machine = Machine::new();
    let ended = machine.run_program(
        PACK,
        &[
            ("BIGINT", env!("CARGO_BIN_EXE_bigint-e2e")),
            ("CASES", "10"),
            ("BENCH", "--widths 64,300 --count 40 --samples 2"),
            (
                "TUNE",
                "--operations gcd --widest 256 --count 1 --samples 1",
            ),
            ("CUDA_SIM_CHECKS", "none"),
        ],
        &["records"],
    );
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.contains("gcd by lehmer_words of 256 bits"));
    let records = ended.stdout.lines().rev().take(3).map(|name| {
        let text = fs::read_to_string(machine.folder.path().join(name)).expect("a record");
        (name.to_owned(), text)
    });
    for (name, text) in records {
        // Two operations and two widths; with every choice, each kernel beside `auto`.
        let rows = if name.ends_with("-choices.json") {
            2 * (1 + 2 + 1 + 26)
        } else {
            4
        };
        assert_eq!(text.matches("\"median_ns\"").count(), rows, "{name}");
        for key in ["copy_gigabytes_per_second", "\"mul\": \"", "\"date\": \"20"] {
            assert!(text.contains(key), "{name} lacks {key}");
        }
        assert!(!text.contains("\"back_end\": \"cpu\""), "{name}");
    }
}

#[test]
fn the_pack_has_four_tools_look_at_the_selftest_where_they_are() {
    let machine = Machine::new();
    let folder = machine.folder.path();
    // A command that does nothing, and a sanitizer that finds what `FINDS` says.
    for (name, text) in [
        ("bigint", ""),
        (
            "compute-sanitizer",
            r#"echo "SUMMARY $*"; [ "$2" != "$FINDS" ]"#,
        ),
    ] {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    }
    let bigint = folder.join("bigint").display().to_string();
    let path = format!("{}:{}", folder.display(), env::var("PATH").expect("text"));
    let run = |finds| {
        let variables = [
            ("BIGINT", &*bigint),
            ("PATH", &*path),
            ("CHECKED", "7"),
            ("FINDS", finds),
        ];
        machine.run_program(PACK, &variables, &["records"])
    };
    let is_kept = || {
        let mut names = fs::read_dir(folder.join("records")).expect("records");
        let is_record = |name: &str| name.ends_with("-sanitizer.txt");
        names.any(|entry| is_record(&entry.expect("an entry").file_name().to_string_lossy()))
    };
    let found = run("racecheck");
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(!is_kept());
    let tools = ["memcheck", "initcheck", "racecheck", "synccheck"];
    let clean = run("");
    assert_eq!(clean.code, Some(0), "{clean:?}");
    assert!(is_kept());
    let of_tool = |tool| {
        format!(
            "SUMMARY --tool {tool} --error-exitcode 1 --print-limit 5 {bigint} selftest --backend cuda --cases 7"
        )
    };
    let looked = clean
        .stdout
        .lines()
        .filter(|line| line.starts_with("SUMMARY"));
    assert!(looked.eq(tools.map(of_tool)), "{clean:?}");
}
