//! The command on a GPU: the simulator's `libcuda` in place of the driver's.

use std::process::Command;

use crate::common::{Ended, Workplace, ended};
use crate::{at_once, rsa_moduli};

/// Runs the command with a simulated GPU, some of whose calls may fail.
fn run(place: &Workplace, fault: &str, arguments: &[&str]) -> Ended {
    answer(&mut command(place, fault), arguments)
}

fn command(place: &Workplace, fault: &str) -> Command {
    let mut command = place.command();
    command
        .env_remove("CUDA_VISIBLE_DEVICES")
        .env("BIGINT_CUDA_DRIVER", cuda_sim::driver::library())
        .env(at_once::VARIABLE, at_once::tuning())
        .env("CUDA_SIM_LOG", "/dev/null")
        .env("CUDA_SIM_LEAKS", "fail")
        .env("CUDA_SIM_FAULT", fault);
    command
}

fn answer(command: &mut Command, arguments: &[&str]) -> Ended {
    ended(
        command
            .args(arguments)
            .output()
            .expect("the command starts"),
    )
}

/// Numbers of three widths, some negative, and the lines that are right for them.
fn sources(place: &Workplace) -> String {
    let number = |i: u64| match i % 3 {
        0 => format!("-{i}"),
        1 => format!("{i}{}", "7".repeat(100)),
        _ => format!("0x{i}{}", "a".repeat(300)),
    };
    let lines = |from: u64| {
        (from..from + 60)
            .map(|i| number(i) + "\n")
            .collect::<String>()
    };
    place.file("a", lines(1));
    place.file("b", lines(5));
    place.calc(&[
        EXPRESSION,
        "--let",
        "a=a",
        "--let",
        "b=b",
        "--backend",
        "cpu",
    ])
}

const EXPRESSION: &str = "a*b - b + a*12345678901234567890";

fn calc(place: &Workplace, fault: &str, backend: &str) -> Ended {
    let sources = ["--let", "a=a", "--let", "b=b", "-o", "result"];
    let arguments = [&["calc", EXPRESSION, "--backend", backend], &sources[..]].concat();
    run(place, fault, &arguments)
}

fn result(place: &Workplace) -> Option<String> {
    std::fs::read_to_string(place.path().join("result")).ok()
}

#[test]
fn the_main_command_gives_the_same_bytes_on_a_gpu() {
    let place = Workplace::new();
    for backend in ["cuda", "auto"] {
        let arguments = rsa_moduli::arguments("dec");
        let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        arguments.extend(["--backend", backend, "--verbose"]);
        let gpu = run(&place, "", &arguments);
        assert_eq!(gpu.code, 0, "{}", gpu.stderr);
        assert!(gpu.stderr.contains("cuda:0"), "{}", gpu.stderr);
        assert!(gpu.stdout == rsa_moduli::products("dec"), "{backend}");
    }
}

#[test]
fn verbose_tells_by_which_kernel_and_which_threshold_says_so() {
    let place = Workplace::new();
    place.file("a", format!("{}\n5\n", "3".repeat(380)));
    place.file("b", format!("{}\n7\n", "4".repeat(380)));
    let arguments = "calc a*b --let a=a --let b=b --backend cuda --verbose";
    let gpu = run(&place, "", &arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(gpu.code, 0, "{}", gpu.stderr);
    for words in [
        "mul of 40 x 40 limbs, 1 numbers\n  cuda:0: 1 by school at level warp: mul_school_warp_",
        "mul of 1 x 1 limbs, 1 numbers\n  cuda:0: 1 by comba at level thread: mul_comba_thread_",
        "4 lanes, 1 blocks of 128 threads",
        "who: the engine is bound to devices",
        "thresholds: NVIDIA H200, 2026-11-20 (",
        "level: 40 limbs, more than mul.thread_max_width = 12",
        "lanes: 40 limbs, at most mul.lanes = 64",
    ] {
        assert!(
            gpu.stderr.contains(words),
            "{words} is not in {}",
            gpu.stderr
        );
    }
}

#[test]
fn a_product_of_numbers_by_themselves_is_computed_as_squares() {
    let place = Workplace::new();
    let number = |i: u64| format!("{i}{}\n", "3".repeat(600));
    place.file("a", (1..60).map(number).collect::<String>());
    let expected = place.calc(&["a*a", "--let", "a=a", "--backend", "cpu"]);
    let counts = place.path().join("counts");
    let mut command = place.command();
    command
        .env("BIGINT_CUDA_DRIVER", cuda_sim::driver::library())
        .env("CUDA_SIM_COUNTS", &counts)
        .args(["calc", "a*a", "--let", "a=a", "--backend", "cuda"]);
    let gpu = ended(command.output().expect("the command starts"));
    assert!(gpu.stdout == expected, "{}", gpu.stderr);
    let launches = std::fs::read_to_string(counts).expect("the counts");
    assert!(launches.contains("square_school_"), "{launches}");
    assert!(!launches.contains("\"mul_"), "{launches}");
}

#[test]
fn mixed_widths_and_signs_come_out_as_on_the_cpu() {
    let place = Workplace::new();
    let expected = sources(&place);
    let gpu = calc(&place, "", "cuda:0");
    assert_eq!((gpu.code, gpu.stderr.as_str()), (0, ""));
    assert!(result(&place) == Some(expected));
}

#[test]
fn info_and_selftest_meet_the_device() {
    let place = Workplace::new();
    let info = run(&place, "", &["info"]);
    assert_eq!(info.code, 0, "{}", info.stderr);
    assert!(info.stdout.contains("auto: cuda:0\n"), "{}", info.stdout);
    assert!(info.stdout.contains("\ncuda:0: "), "{}", info.stdout);
    let selftest = run(
        &place,
        "",
        &["selftest", "--backend", "cuda", "--cases", "33"],
    );
    assert_eq!(selftest.code, 0, "{}", selftest.stderr);
    assert!(
        selftest.stdout.contains("mul on cuda:0: "),
        "{}",
        selftest.stdout
    );
}

#[test]
fn the_papers_benchmarks_take_the_kernels_that_they_name() {
    let place = Workplace::new();
    for (paper, width, by) in [
        ("honda", "1024", "mul school warp 32"),
        ("bringgaard", "512", "add auto"),
        ("carlessi", "131", "mul karatsuba thread"),
    ] {
        let arguments =
            format!("bench {paper} --backend cuda --widths {width} --count 3 --samples 1 --json");
        let mut command = command(&place, "");
        command.env("CUDA_SIM_CHECKS", "none");
        let ended = answer(&mut command, &arguments.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, 0, "{paper}: {}", ended.stderr);
        for part in [
            &format!("\"by\": \"{by}\"") as &str,
            "\"back_end\": \"cuda:0\"",
        ] {
            assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
        }
        assert!(ended.stdout.contains("\"copy_gigabytes_per_second\": "));
    }
}

#[test]
fn a_device_that_fails_costs_auto_a_warning_and_cuda_its_answer() {
    let lost = "cuLaunchKernel:2=719!";
    let full = "cuMemAlloc_v2:4+=2";
    let broken = "cuDevicePrimaryCtxRetain:*=101";
    for fault in [lost, full, broken] {
        let place = Workplace::new();
        let expected = sources(&place);
        let auto = calc(&place, fault, "auto");
        assert_eq!(auto.code, 0, "{fault}: {}", auto.stderr);
        assert!(
            auto.stderr.starts_with("warning: "),
            "{fault}: {}",
            auto.stderr
        );
        assert!(result(&place) == Some(expected), "{fault}");

        let place = Workplace::new();
        sources(&place);
        let files = place.files();
        let cuda = calc(&place, fault, "cuda");
        assert_eq!(cuda.code, 1, "{fault}: {}", cuda.stderr);
        assert!(
            cuda.stderr.contains("error: CUDA device 0: "),
            "{fault}: {}",
            cuda.stderr
        );
        assert_eq!(place.files(), files, "{fault}");
    }
}

/// Runs the command with three simulated GPUs, the second with little memory.
fn on_three(place: &Workplace, fault: &str, arguments: &[&str]) -> Ended {
    let mut command = command(place, fault);
    command
        .env("CUDA_SIM_DEVICES", "sm_90:1GiB,sm_90:1MiB,sm_90:1GiB")
        .env("CUDA_SIM_CHECKS", "none");
    answer(&mut command, arguments)
}

#[test]
fn devices_are_chosen_by_number_and_make_each_others_failures_good() {
    let place = Workplace::new();
    let info = on_three(&place, "", &["info"]);
    assert!(
        info.stdout.contains("auto: cuda:0,1,2\n"),
        "{}",
        info.stdout
    );
    let number = |i: u64| format!("{i}{}\n", "3".repeat(300));
    place.file("a", (1..5000).map(number).collect::<String>());
    let expression = ["calc", "(a*a - 7) * a + a", "--let", "a=a", "--verbose"];
    let expected = place.calc(&[&expression[1..4], &["--backend", "cpu"]].concat());
    // So little work is one device's, the first of those that have it.
    let lost = "cuLaunchKernel:2=719!@0";
    for (backend, fault, warned) in [
        ("auto", "", ""),
        ("auto", lost, "warning: CUDA device 0: "),
        ("cuda:1", "", "smaller pieces"),
        ("cuda:0,2", "", ""),
        ("cuda:0,2", lost, "to the other devices"),
    ] {
        let arguments = [&expression[..], &["--backend", backend]].concat();
        let ended = on_three(&place, fault, &arguments);
        let told = ended
            .stderr
            .lines()
            .filter(|line| line.starts_with("warning: "));
        let told: Vec<&str> = told.collect();
        assert_eq!(ended.code, 0, "{backend}: {}", ended.stderr);
        assert!(ended.stdout == expected, "{backend} {fault}");
        assert_eq!(told.is_empty(), warned.is_empty(), "{backend}: {told:?}");
        assert!(ended.stderr.contains(warned), "{backend}: {told:?}");
    }
    let selftest = [
        "selftest",
        "--backend",
        "cuda:0,2",
        "--cases",
        "40",
        "--operations",
        "sub",
    ];
    let selftest = on_three(&place, "", &selftest);
    assert!(
        selftest.stdout.contains("sub on cuda:0,2: "),
        "{}",
        selftest.stderr
    );
    let bench = "bench --backend cuda:0,2 --widths 64 --count 3000 --samples 1 --operations add";
    let bench = on_three(&place, "", &bench.split(' ').collect::<Vec<_>>());
    assert!(
        bench.stdout.contains("cuda:0"),
        "{}{}",
        bench.stdout,
        bench.stderr
    );
    for (backend, code) in [("cuda:0,7", 1), ("cuda:", 2), ("cuda:0,x", 2)] {
        let ended = on_three(&place, "", &["calc", "1+1", "--backend", backend]);
        assert_eq!(ended.code, code, "{backend}: {}", ended.stderr);
    }
}

#[test]
fn a_device_that_is_broken_leaves_the_others_and_is_told_of() {
    let place = Workplace::new();
    let number = |i: u64| format!("{i}{}\n", "3".repeat(300));
    place.file("a", (1..100).map(number).collect::<String>());
    let expression = ["calc", "a*a + a", "--let", "a=a"];
    let expected = place.calc(&[&expression[1..], &["--backend", "cpu"]].concat());
    for fault in [
        "cuDeviceGetName:*=999@1",
        "cuDeviceGetAttribute:*=101@1",
        "cuDeviceTotalMem_v2:*=719@1",
        "cuDevicePrimaryCtxRetain:*=101@1",
        "*:*=999!@1",
    ] {
        let info = on_three(&place, fault, &["info"]);
        let said = format!("{fault}: {}{}", info.stdout, info.stderr);
        assert_eq!(info.code, 0, "{said}");
        assert!(info.stdout.contains("auto: cuda:0,2\n"), "{said}");
        for (device, is_broken) in [("cuda:0: ", false), ("cuda:1: ", true), ("cuda:2: ", false)] {
            let mut lines = info.stdout.lines().filter(|line| line.starts_with(device));
            let line = lines
                .next()
                .unwrap_or_else(|| panic!("no {device}in {said}"));
            assert_eq!(line.contains("cannot be used: "), is_broken, "{said}");
        }
        for (backend, warned) in [("auto", true), ("cuda:0,1", true), ("cuda:0,2", false)] {
            let arguments = [&expression[..], &["--backend", backend, "--verbose"]].concat();
            let ended = on_three(&place, fault, &arguments);
            let said = format!("{backend} {fault}: {}", ended.stderr);
            assert_eq!(ended.code, 0, "{said}");
            assert!(ended.stdout == expected, "{said}");
            assert!(ended.stderr.contains("cuda:0"), "{said}");
            assert_eq!(
                ended.stderr.contains("warning: CUDA device 1: "),
                warned,
                "{said}"
            );
        }
        let alone = [&expression[..], &["--backend", "cuda:1"]].concat();
        let alone = on_three(&place, fault, &alone);
        assert_eq!(alone.code, 1, "{fault}: {}", alone.stderr);
        assert!(
            alone.stderr.contains("error: CUDA device 1: "),
            "{fault}: {}",
            alone.stderr
        );
    }
}

#[test]
fn a_gpu_is_not_started_for_little_work() {
    let place = Workplace::new();
    let number = |i: u64| format!("{i}{}\n", "3".repeat(300));
    place.file("a", (1..2000).map(number).collect::<String>());
    let counts = place.path().join("counts");
    for expression in ["a*a", "is_prime(a % 1000003)", "a / 12345678901234567"] {
        let mut command = place.command();
        command
            .env("BIGINT_CUDA_DRIVER", cuda_sim::driver::library())
            // A driver that is started would say so.
            .env("CUDA_SIM_FAULT", "cuInit:*=304")
            .env("CUDA_SIM_COUNTS", &counts)
            .args(["calc", expression, "--let", "a=a", "--verbose"]);
        let ended = ended(command.output().expect("the command starts"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(!ended.stderr.contains("warning"), "{}", ended.stderr);
        let expected = place.calc(&[expression, "--let", "a=a", "--backend", "cpu"]);
        assert!(ended.stdout == expected, "{expression}");
    }
    assert!(!counts.exists());
}

#[test]
fn a_gpu_is_measured_beside_the_model_and_the_file_serves_the_other_commands() {
    let place = Workplace::new();
    // The file in the configuration, and none that a variable names.
    let run = |arguments: &[&str]| {
        let mut command = command(&place, "");
        answer(command.env_remove(at_once::VARIABLE), arguments)
    };
    let few = ["--widest", "4096", "--count", "1", "--samples", "1"];
    let what = [
        "tune",
        "--backend",
        "cuda",
        "--operations",
        "mul,square,gcd",
    ];
    let tuned = run(&[&what[..], &few].concat());
    assert_eq!(tuned.code, 0, "{}", tuned.stderr);
    let file = place.path().join("bigint/gpu.toml");
    let end = format!("{}\n", file.display());
    let table = tuned.stdout.strip_suffix(&end).expect("the file's path");
    for job in [
        "mul by school of 2048 bits",
        "mul by toeplitz of 2080 bits",
        "mul by toeplitz of 4096 bits",
        "gcd by lehmer_words of 256 bits",
    ] {
        assert!(table.contains(job), "{job:?} is not in {table}");
    }
    assert!(table.contains("ratio"), "{table}");
    let info = run(&["info"]);
    assert!(info.stdout.contains("bigint/gpu.toml"), "{}", info.stdout);
    assert!(!info.stdout.contains("modelled"), "{}", info.stdout);
    let product = run(&["calc", "3*5", "--backend", "cuda"]);
    assert_eq!((product.code, product.stdout.as_str()), (0, "15\n"));
    // What cannot be read there costs a warning; what the variable names is an error.
    std::fs::write(&file, "[provenance]\nmachine = 3").unwrap();
    let warned = run(&["calc", "3*5", "--backend", "cuda"]);
    assert_eq!((warned.code, warned.stdout.as_str()), (0, "15\n"));
    for part in ["warning: ", "line 2", "bigint tune --backend cuda"] {
        assert!(warned.stderr.contains(part), "{}", warned.stderr);
    }
}

/// A file of thresholds by which a GPU converts numbers of a few thousand digits.
fn thresholds_of_short_decimals(place: &Workplace) -> std::path::PathBuf {
    let shipped = include_str!("../../../crates/bigint-host/tuning/nvidia-h200.toml");
    let (before, after) = shipped
        .split_once("[decimals]\n")
        .expect("there is a table");
    let others = after.lines().skip_while(|line| line.starts_with("min_"));
    let others: Vec<&str> = others.collect();
    let table = "[decimals]\nmin_width = 512\nmin_limbs = 512\n";
    place.file(
        "thresholds",
        format!("{before}{table}{}", others.join("\n")),
    );
    place.path().join("thresholds")
}

#[test]
fn long_numbers_are_read_and_written_in_decimal_by_the_gpu_that_computes() {
    let place = Workplace::new();
    let thresholds = thresholds_of_short_decimals(&place);
    let on_gpu = |arguments: &[&str]| {
        let mut command = command(&place, "");
        command.env(at_once::VARIABLE, &thresholds);
        answer(&mut command, &[arguments, &["--backend", "cuda"]].concat())
    };
    place.file(
        "a",
        format!("-{}\n{}\n", "7".repeat(5200), "3".repeat(9000)),
    );
    let expression = ["calc", "a*a*a + a", "--let", "a=a"];
    let cuda = on_gpu(&[&expression[..], &["--verbose"]].concat());
    assert_eq!(cuda.code, 0, "{}", cuda.stderr);
    assert!(cuda.stdout == place.calc(&[&expression[1..], &["--backend", "cpu"]].concat()));
    let lines = cuda.stderr.lines().collect::<Vec<_>>();
    let conversions = lines.windows(2).filter(|pair| {
        pair[0].starts_with("decimal digits of ") && pair[1].contains("by products with powers")
    });
    // Two numbers are read, and the results of both are written.
    assert!(conversions.count() >= 3, "{}", cuda.stderr);
    let wrong = [&expression[..2], &["--let", "a=b"]].concat();
    place.file(
        "b",
        format!("1\n{}x{}\n", "7".repeat(5200), "7".repeat(5200)),
    );
    let refused = on_gpu(&wrong);
    assert!(refused.stderr.contains("b:2:5201: "), "{}", refused.stderr);
    let digits = ["constant", "pi", "--digits", "6000"];
    let pi = on_gpu(&digits);
    assert_eq!(pi.code, 0, "{}", pi.stderr);
    assert!(
        pi.stdout
            == place
                .run(&[&digits[..], &["--backend", "cpu"]].concat())
                .stdout
    );
}
