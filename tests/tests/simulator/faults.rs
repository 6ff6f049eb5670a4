//! Failures of the driver, of every kind and at every call.

use super::answers::adversarial;
use super::{Ended, Machine};
use bigint_testing::sweep_all;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A small computation that takes every step: uploads, two kernels, a download.
struct Computation {
    machine: Machine,
    sources: [String; 2],
    expected: String,
}

impl Computation {
    fn new() -> Self {
        let machine = Machine::new();
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let sources = ["a", "b"].map(|name| {
            let mut numbers = adversarial(&mut random, 20, 9);
            // Signs and different lengths would only multiply the calls to fail.
            for number in &mut numbers {
                let digits = number.trim_start_matches('-').trim_start_matches("0x");
                *number = format!("0xf{digits:0>71.71}");
            }
            format!("{name}={}", machine.numbers(name, &numbers))
        });
        let mut computation = Computation {
            machine,
            sources,
            expected: String::new(),
        };
        let ended = computation.run(&[], "cpu");
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        computation.expected = ended.stdout;
        computation
    }

    fn run(&self, variables: &[(&str, &str)], backend: &str) -> Ended {
        let [a, b] = &self.sources;
        let arguments = [
            "calc",
            "a*b+a",
            "--let",
            a,
            "--let",
            b,
            "--backend",
            backend,
        ];
        let ended = self.machine.run(variables, &arguments);
        assert!(
            !ended.stderr.contains("panicked"),
            "{variables:?}: {}",
            ended.stderr
        );
        ended
    }

    /// With `auto` the failure must not be seen in the answer.
    fn survives(&self, variables: &[(&str, &str)]) -> Ended {
        let ended = self.run(variables, "auto");
        assert_eq!(ended.code, Some(0), "{variables:?}: {}", ended.stderr);
        assert_eq!(
            ended.stdout, self.expected,
            "{variables:?}: {}",
            ended.stderr
        );
        ended
    }

    /// With `cuda` it must be a typed error and exit code 1, unless the failure was
    /// one that could be worked around. Answers whether it failed.
    fn fails_or_is_right(&self, variables: &[(&str, &str)]) -> bool {
        let ended = self.run(variables, "cuda");
        match ended.code {
            Some(0) => {
                assert_eq!(ended.stdout, self.expected, "{variables:?}");
                false
            }
            Some(1) => {
                assert_eq!(ended.stdout, "", "{variables:?}");
                assert!(
                    ended.stderr.contains("error: CUDA device"),
                    "{variables:?}: {}",
                    ended.stderr
                );
                true
            }
            code => panic!("{variables:?}: exit code {code:?}: {}", ended.stderr),
        }
    }
}

/// The warnings of a run.
fn warns(ended: &Ended) -> bool {
    ended.stderr.contains("warning: CUDA device")
}

#[test]
fn memory_that_runs_out_at_any_allocation_is_an_error_or_a_warning() {
    let computation = Computation::new();
    // Two operands and a result: what does not fit once is done again in pieces.
    for n in 1..=3 {
        let fault = format!("cuMemAlloc_v2:{n}=2");
        let variables = [("CUDA_SIM_FAULT", fault.as_str())];
        computation.fails_or_is_right(&variables);
        assert!(warns(&computation.survives(&variables)), "{fault}");
    }
    let all = [("CUDA_SIM_FAULT", "cuMemAlloc_v2:*=2")];
    assert!(computation.fails_or_is_right(&all));
    assert!(warns(&computation.survives(&all)));
}

#[test]
fn any_call_may_fail_once_with_any_kind_of_code() {
    let computation = Computation::new();
    // An invalid value, a dead context, a lost device.
    for code in ["1", "719", "700!"] {
        let mut failed = 0;
        let step = sweep_all(7, 3, 1);
        for n in (1..).step_by(step) {
            let fault = format!("*:{n}={code}");
            let variables = [
                ("CUDA_SIM_FAULT", fault.as_str()),
                // The n-th call is then the same call in every run.
                ("CUDA_SIM_SCHEDULE", "adversarial"),
                // A call that gives something back and fails has not done so.
                ("CUDA_SIM_LEAKS", if code == "1" { "off" } else { "fail" }),
            ];
            computation.survives(&variables);
            if computation.fails_or_is_right(&variables) {
                failed = n;
            }
            // The last calls give things back: their failures are of no consequence.
            if n > failed + 4 * step {
                break;
            }
        }
        assert!(failed > 10, "{code}: only {failed} calls");
    }
}

#[test]
fn a_launch_that_fails_is_an_error_or_a_warning() {
    let computation = Computation::new();
    // All of the formula is one launch.
    for code in ["719", "700", "701", "CUDA_ERROR_UNKNOWN", "719!"] {
        let fault = format!("cuLaunchKernel:1={code}");
        let variables = [("CUDA_SIM_FAULT", fault.as_str())];
        assert!(computation.fails_or_is_right(&variables), "{fault}");
        assert!(warns(&computation.survives(&variables)), "{fault}");
    }
}

#[test]
fn a_driver_older_than_the_ptx_is_told_so() {
    let computation = Computation::new();
    let variables = [("CUDA_SIM_DRIVER_VERSION", "9.2")];
    let ended = computation.run(&variables, "cuda");
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.contains("222") && ended.stderr.contains("update the driver"),
        "{}",
        ended.stderr
    );
    assert!(warns(&computation.survives(&variables)));
}

#[test]
fn a_gpu_older_than_the_ptx_or_none_at_all_is_done_without() {
    let computation = Computation::new();
    let variables = [("CUDA_SIM_DEVICES", "none")];
    assert!(computation.fails_or_is_right(&variables));
    computation.survives(&variables);
}

#[test]
fn the_second_of_two_unequal_devices_may_be_broken() {
    let computation = Computation::new();
    let broken = [
        ("CUDA_SIM_DEVICES", "sm_90:1GiB,sm_75:64MiB"),
        ("CUDA_SIM_FAULT", "*:*=101@1"),
    ];
    // The first one is not touched by it.
    assert!(!computation.fails_or_is_right(&broken));
    computation.survives(&broken);
    let ended = computation.run(&broken, "cuda:1");
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("CUDA device 1"), "{}", ended.stderr);
    // And the other way round: the whole one is used when it is asked for.
    let first = [
        ("CUDA_SIM_DEVICES", "sm_90:1GiB,sm_75:64MiB"),
        ("CUDA_SIM_FAULT", "*:*=101@0"),
    ];
    assert!(computation.fails_or_is_right(&first));
    computation.survives(&first);
    let ended = computation.run(&first, "cuda:1");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout, computation.expected);
}

#[test]
fn a_device_with_too_little_memory_is_worked_around_or_told() {
    let machine = Machine::new();
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let numbers = adversarial(&mut random, 3000, 60);
    let source = format!("a={}", machine.numbers("a", &numbers));
    let calc = |backend, devices| {
        let arguments = ["calc", "a*a", "--let", &source, "--backend", backend];
        let variables = [("CUDA_SIM_DEVICES", devices), ("CUDA_SIM_CHECKS", "none")];
        machine.run(&variables, &arguments)
    };
    let expected = calc("cpu", "sm_75");
    assert_eq!(expected.code, Some(0));
    // 720 KB of operands, 1.4 MB of results.
    let auto = calc("auto", "sm_75:1MiB");
    assert_eq!(auto.code, Some(0), "{}", auto.stderr);
    assert!(auto.stdout == expected.stdout, "{}", auto.stderr);
    let cuda = calc("cuda", "sm_75:1MiB");
    match cuda.code {
        Some(0) => assert!(cuda.stdout == expected.stdout),
        code => {
            assert_eq!(code, Some(1), "{}", cuda.stderr);
            assert!(cuda.stderr.contains("out of memory"), "{}", cuda.stderr);
        }
    }
}
