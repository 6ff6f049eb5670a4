//! The other commands, on a machine without a GPU.

use crate::at_once;
use crate::common::{Workplace, ended};

#[test]
fn info_names_the_cpu_and_says_why_there_is_no_gpu() {
    let ended = Workplace::new().run(&["info"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("auto: cpu\n"), "{}", ended.stdout);
    assert!(ended.stdout.contains("\ncpu: "), "{}", ended.stdout);
    assert!(ended.stdout.contains("\ncuda: none: "), "{}", ended.stdout);
}

#[test]
fn selftest_agrees_with_num_bigint_and_says_so() {
    let ended = Workplace::new().run(&["selftest", "--cases", "200", "--seed", "3"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for operation in ["add", "sub", "mul"] {
        assert!(
            ended.stdout.contains(&format!("{operation} on cpu: ")),
            "{}",
            ended.stdout
        );
    }
    assert!(
        ended.stdout.contains("agree with num-bigint"),
        "{}",
        ended.stdout
    );
}

#[test]
fn selftest_compares_the_operations_that_are_named() {
    let place = Workplace::new();
    let named = place.run(&["selftest", "--operations", "xor,select", "--cases", "100"]);
    assert_eq!(named.code, 0, "{}", named.stderr);
    let lines: Vec<_> = named.stdout.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("xor on") && lines[1].starts_with("select"));
    let unknown = place.run(&["selftest", "--operations", "xnor"]);
    assert_eq!(unknown.code, 2, "{}", unknown.stderr);
    assert!(unknown.stderr.contains("expected one of add, sub, mul"));
}

#[test]
fn without_a_driver_auto_computes_on_the_cpu_and_cuda_is_an_error() {
    let place = Workplace::new();
    place.file("a", "3\n4\n");
    let calc = |backend| place.run(&["calc", "a*a", "--let", "a=a", "--backend", backend]);
    let auto = calc("auto");
    assert_eq!(
        (auto.code, auto.stdout.as_str()),
        (0, "9\n16\n"),
        "{}",
        auto.stderr
    );
    let cuda = calc("cuda");
    assert_eq!(
        (cuda.code, cuda.stdout.as_str()),
        (1, ""),
        "{}",
        cuda.stderr
    );
    assert!(
        cuda.stderr.starts_with("error: CUDA device 0: "),
        "{}",
        cuda.stderr
    );
    assert!(!cuda.stderr.contains("panicked"), "{}", cuda.stderr);
    let selftest = place.run(&["selftest", "--backend", "cuda"]);
    assert_eq!(selftest.code, 1, "{}", selftest.stderr);
}

#[test]
fn a_driver_that_cannot_be_loaded_is_worth_a_warning_and_no_more() {
    let place = Workplace::new();
    let mut command = place.command();
    command.env("BIGINT_CUDA_DRIVER", place.path().join("no-such-driver.so"));
    // Else nobody asks for a driver where there is so little to do.
    command.env(at_once::VARIABLE, at_once::tuning());
    command.args(["calc", "6*7"]);
    let ended = crate::common::ended(command.output().unwrap());
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "42\n"));
    assert!(ended.stderr.starts_with("warning: "), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("no-such-driver.so"),
        "{}",
        ended.stderr
    );
}

#[test]
fn verbose_tells_which_back_end_did_what() {
    let place = Workplace::new();
    let arguments = "calc a*a-a --let a=a --backend cpu --verbose";
    let wide = format!("1{}\n", "0".repeat(400));
    let square = format!("{}{}\n", "9".repeat(400), "0".repeat(400));
    let fused = "fused of 42 limbs, 2 numbers\n  cpu: 2 by auto: on ";
    let one_pass = "who: sums and products in one pass";
    let file = "which `bigint tune` measures";
    let stand = "square of 1 limbs, 2 numbers\n  cpu: 2 by auto: on ";
    let short = "as the numbers are short\nsub of 1 x 1 limbs, 2 numbers";
    for (numbers, results, choices) in [
        ("3\n4\n", "6\n12\n", [stand, short, "sub "]),
        (&wide.repeat(2), &square.repeat(2), [fused, one_pass, file]),
    ] {
        place.file("a", numbers);
        let ended = place.run(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!((ended.code, ended.stdout.as_str()), (0, results));
        for word in ["parse", "compute", "format", "cpu"]
            .into_iter()
            .chain(choices)
        {
            assert!(
                ended.stderr.contains(word),
                "{word} is not in {}",
                ended.stderr
            );
        }
    }
}

#[test]
fn verbose_tells_what_reading_a_single_number_takes() {
    let place = Workplace::new();
    place.file("a", "7".repeat(3_000_000));
    let arguments = ["calc", "a-a", "--let", "a=a", "--verbose"];
    let stderr = place.run(&arguments).stderr;
    for stage in ["read", "parse"] {
        let row = stderr.lines().find(|line| line.trim().starts_with(stage));
        let row = row.unwrap_or_else(|| panic!("{stage} is not in {stderr}"));
        let seconds: f64 = row.split_whitespace().nth(1).unwrap().parse().unwrap();
        // Three million digits: a millisecond at the least, and it is told in those.
        assert!(seconds > 0.0 || stage == "read", "{row}");
        assert!(
            row.split_whitespace().last() == Some("3.0") || stage == "parse",
            "{row}"
        );
    }
}

#[test]
fn bench_measures_what_it_is_asked_for() {
    let ended = Workplace::new().run(&[
        "bench",
        "--backend",
        "cpu",
        "--widths",
        "96,1000",
        "--count",
        "100",
        "--samples",
        "2",
        "--operations",
        "add,sub,mul",
        "--json",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(
        ended.stdout.matches("\"median_ns\"").count(),
        6,
        "{}",
        ended.stdout
    );
    assert_eq!(
        ended.stdout.matches("\"bits\": 1000").count(),
        3,
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("\"no_cuda\": \""), "{}", ended.stdout);
    let ended = Workplace::new().run(&["bench", "--widths", "0"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
}

#[test]
fn what_bench_has_measured_is_printed_though_what_follows_fails() {
    let measured = "bench --backend cpu --widths 64,4294967296 --operations add --time-limit 1ms";
    let place = Workplace::new();
    let limited = format!(r#"ulimit -v 300000; "$bigint" {measured} --samples 1"#);
    for (json, row) in [("", " add "), ("--json", "\"median_ns\": ")] {
        let ended = ended(place.script(&format!("{limited} {json}")).output().unwrap());
        assert_eq!(ended.code, 1, "{}", ended.stderr);
        assert!(
            ended.stderr.starts_with("error: out of memory"),
            "{}",
            ended.stderr
        );
        assert_eq!(ended.stdout.matches(row).count(), 1, "{}", ended.stdout);
        assert!(json.is_empty() || ended.stdout.ends_with("    }\n  ]\n}\n"));
    }
}

#[test]
fn bench_takes_as_many_numbers_as_there_is_time_for() {
    let count = |limit: &str| {
        let arguments = format!(
            "bench --backend cpu --operations pow_mod --widths 2048 --samples 2 --json {limit}"
        );
        let ended = Workplace::new().run(&arguments.split_whitespace().collect::<Vec<_>>());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let count = ended.stdout.split("\"count\": ").nth(1).unwrap();
        let count = count.split(',').next().unwrap();
        count.parse::<usize>().unwrap()
    };
    // Of 87,381 numbers that there is room for: one for each thread where there is no time.
    let threads = std::thread::available_parallelism().unwrap().get();
    assert!(count("--time-limit 1ns") <= threads.min(87_381));
}

#[test]
fn bench_says_what_more_threads_do_beside_a_copy() {
    let arguments = "bench --backend cpu --widths 512 --operations add,mul --samples 1 \
                     --threads 1,2 --work 20us,40us --json";
    let ended = Workplace::new().run(&arguments.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for (part, times) in [
        ("\"threads\": 1,", 4),
        ("\"threads\": 2,", 4),
        ("\"copy_gigabytes_per_second\": ", 8),
        ("\"times_one_thread\": 1.0,", 4),
    ] {
        let found = ended.stdout.matches(part).count();
        assert!(found >= times, "{part}: {}", ended.stdout);
    }
}

#[test]
fn help_names_every_command_and_contract() {
    let place = Workplace::new();
    let ended = place.run(&["--help"]);
    assert_eq!(ended.code, 0);
    for command in ["calc", "info", "selftest", "bench"] {
        assert!(ended.stdout.contains(command), "{}", ended.stdout);
    }
    let ended = place.run(&["calc", "--help"]);
    for option in [
        "--let",
        "--output",
        "-o",
        "--format",
        "--backend",
        "--algorithm",
        "--verbose",
    ] {
        assert!(ended.stdout.contains(option), "{}", ended.stdout);
    }
}

#[test]
fn shells_get_completions_and_readers_a_manual_page() {
    let place = Workplace::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ended = place.run(&["completions", shell]);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        assert!(ended.stdout.contains("bigint") && ended.stdout.contains("algorithm"));
    }
    assert_eq!(place.run(&["completions", "abacus"]).code, 2);
    let page = place.run(&["man"]).stdout;
    assert!(
        page.contains(".TH bigint 1") && page.contains("selftest"),
        "{page}"
    );
    let page = place.run(&["man", "calc"]).stdout;
    assert!(
        page.contains(".TH bigint-calc 1") && page.contains("NAME=SOURCE"),
        "{page}"
    );
    assert_eq!(place.run(&["man", "abacus"]).code, 2);
}

#[test]
fn tuned_thresholds_are_kept_in_a_file_that_the_other_commands_read() {
    let place = Workplace::new();
    let tuned = place.run(&["tune", "--backend", "cpu", "-o", "mine/cpu.toml"]);
    assert_eq!((tuned.code, tuned.stdout.as_str()), (0, "mine/cpu.toml\n"));
    let written = std::fs::read_to_string(place.path().join("mine/cpu.toml")).unwrap();
    assert!(written.contains("[thresholds.avx512ifma]") && written.contains("date = \"20"));
    assert!(written.contains("[thresholds.number.portable.product]"));

    let with = |file: &str, arguments: &[&str]| {
        let mut command = place.command();
        command.env("BIGINT_CPU_TUNING", file).args(arguments);
        ended(command.output().expect("the command runs"))
    };
    let info = with("mine/cpu.toml", &["info"]);
    assert!(
        info.stdout.contains("cpu: thresholds of mine/cpu.toml\n"),
        "{}",
        info.stdout
    );
    let product = with(
        "mine/cpu.toml",
        &["calc", "a*a", "--let", "a=12345678901234567890"],
    );
    assert_eq!(product.stdout, "152415787532388367501905199875019052100\n");

    let refused = |file: &str, why: &str| {
        let ended = with(file, &["calc", "1+1"]);
        assert_eq!(ended.code, 2);
        assert!(
            ended.stderr.contains(file) && ended.stderr.contains(why),
            "{}",
            ended.stderr
        );
    };
    refused("none.toml", "No such file");
    place.file("bad.toml", written.replace("karatsuba =", "karatuba ="));
    refused("bad.toml", "karatuba");
    place.file("negative.toml", written.replace("fewest = ", "fewest = -"));
    refused("negative.toml", "line");
    let number = written.find("[thresholds.number").expect("just written");
    let (lanes, number) = written.split_at(number);
    place.file(
        "zero.toml",
        lanes.to_owned() + &number.replace("karatsuba = ", "karatsuba = 0 #"),
    );
    refused("zero.toml", "2 limbs or more");
}

#[test]
fn thresholds_that_cannot_be_read_cost_a_warning_and_nothing_else() {
    let place = Workplace::new();
    std::fs::create_dir(place.path().join("bigint")).unwrap();
    let warns = |why: &str| {
        let ended = place.run(&["calc", "2*3"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (0, "6\n"));
        for part in ["warning: ", why, "bigint tune", "defaults"] {
            assert!(ended.stderr.contains(part), "{part:?}: {}", ended.stderr);
        }
        let info = place.run(&["info"]);
        assert_eq!(info.code, 0, "{}", info.stderr);
        assert!(!info.stdout.contains("thresholds"), "{}", info.stdout);
    };
    place.file("bigint/cpu.toml", "rubbish");
    warns("line 1");
    place.file("bigint/cpu.toml", b"\xff\xfe");
    warns("UTF-8");
    place.file("bigint/cpu.toml", "#".repeat(2 << 20));
    warns("too long");
    #[cfg(unix)]
    {
        let pipe = "rm bigint/cpu.toml; mkfifo bigint/cpu.toml";
        assert!(place.script(pipe).status().unwrap().success());
        warns("not an ordinary file");
        let mut command = place.command();
        command.env("BIGINT_CPU_TUNING", "bigint/cpu.toml");
        let ended = ended(command.args(["calc", "2*3"]).output().unwrap());
        assert_eq!(ended.code, 2, "{}", ended.stderr);
    }
}

#[test]
fn a_path_of_the_cpu_that_is_none_is_refused() {
    let place = Workplace::new();
    let with = |path: &str| {
        let mut command = place.command();
        command.env("BIGINT_CPU_PATH", path).args(["calc", "2*3"]);
        ended(command.output().unwrap())
    };
    let refused = with("avx1024");
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    for part in [
        "BIGINT_CPU_PATH",
        "\"avx1024\"",
        "portable, avx2, avx512ifma",
    ] {
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
    for path in ["portable", ""] {
        let good = with(path);
        assert_eq!((good.code, good.stderr.as_str()), (0, ""));
    }
}

#[test]
fn constants_are_printed_to_as_many_digits_as_are_asked_for() {
    let place = Workplace::new();
    let pi = place.run(&["constant", "pi", "--digits", "30"]);
    assert_eq!(
        (pi.code, pi.stdout.as_str()),
        (0, "3.141592653589793238462643383279\n")
    );
    let e = place.run(&["constant", "e", "--digits", "0"]);
    assert_eq!((e.code, e.stdout.as_str()), (0, "2\n"));
    let unknown = place.run(&["constant", "tau"]);
    assert!(
        unknown.code == 2 && unknown.stderr.contains("zeta3"),
        "{}",
        unknown.stderr
    );
}

#[cfg(unix)]
#[test]
fn sql_is_a_program_of_its_own_with_the_same_arguments() {
    let place = Workplace::new();
    // The folder that cargo builds into may have a bigint-sql, which would be found.
    let alone = place.copy_of_the_command();
    let mut missing = place.program(alone.to_str().expect("UTF-8"));
    let missing = ended(missing.args(["sql", "SELECT 1"]).output().expect("bigint"));
    assert_eq!(missing.code, 2, "{}", missing.stderr);
    let cure = "cargo install --path integrations/bigint-sql";
    assert!(missing.stderr.contains(cure), "{}", missing.stderr);
    place.file("bigint-sql", "#!/bin/sh\nprintf '%s|' \"$@\"\nexit 3\n");
    let script = "chmod +x bigint-sql; PATH=$PWD:$PATH $bigint sql 'SELECT 1' --table t=a --help";
    let mut script = place.script(script);
    let ended = ended(script.env("bigint", &alone).output().expect("bash"));
    assert_eq!(ended.stdout, "SELECT 1|--table|t=a|--help|");
    assert_eq!(ended.code, 3, "{}", ended.stderr);
}
