//! The other commands, on a machine without a GPU.

use crate::common::Workplace;

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
fn verbose_tells_which_back_end_did_what() {
    let place = Workplace::new();
    place.file("a", "3\n4\n");
    let ended = place.run(&[
        "calc",
        "a*a - a",
        "--let",
        "a=a",
        "--backend",
        "cpu",
        "--verbose",
    ]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "6\n12\n"));
    for word in ["parse", "compute", "format", "cpu", "mul", "sub"] {
        assert!(
            ended.stderr.contains(word),
            "{word} is not in {}",
            ended.stderr
        );
    }
}

#[test]
fn help_names_every_command_and_contract() {
    let place = Workplace::new();
    let ended = place.run(&["--help"]);
    assert_eq!(ended.code, 0);
    for command in ["calc", "info", "selftest"] {
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
