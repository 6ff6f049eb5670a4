//! Answers on the simulator, against the CPU's.

use super::Machine;
use bigint_testing::sweep;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

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
            sweep("200", "2000"),
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
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../xtask/src/gpu_pack/run.sh");
    let ended = machine.run_program(
        script,
        &[
            ("BIGINT", env!("CARGO_BIN_EXE_bigint-e2e")),
            ("CASES", "10"),
            ("BENCH", "--widths 64,300 --count 40 --samples 2"),
            ("CUDA_SIM_CHECKS", "none"),
        ],
        &["records"],
    );
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let records = ended.stdout.lines().rev().take(3).map(|name| {
        let text = std::fs::read_to_string(machine.folder.path().join(name)).expect("a record");
        (name.to_owned(), text)
    });
    for (name, text) in records {
        // Two operations and two widths; with every choice, each kernel beside `auto`.
        let rows = if name.ends_with("-choices.json") {
            2 * (1 + 2 + 1 + 19)
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
