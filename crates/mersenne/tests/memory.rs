//! Memory that ends at the n-th request: the program says so and ends with the exit code 1, or goes
//! on; nothing is lost.
//!
//! This is the program itself with an allocator that fails, where it is told to be, and a test that
//! starts it again and again: `bigint_testing::failing_requests` says for which requests.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use bigint_cpu::program::Memory;
use bigint_testing::{Failing, Told, sweep};

#[global_allocator]
static MEMORY: Memory<Failing> = Memory(Failing);

/// Has this be the program.
const IS_PROGRAM: &str = "MERSENNE_TEST_PROGRAM";

fn main() -> ExitCode {
    if env::var_os(IS_PROGRAM).is_some() {
        Failing::arm();
        let code = mersenne::program::main();
        Failing::tell();
        return code;
    }
    // What nextest asks for.
    let arguments: Vec<String> = env::args().collect();
    if arguments.iter().any(|argument| argument == "--list") {
        if !arguments.iter().any(|argument| argument == "--ignored") {
            println!("memory_that_ends_is_told_and_costs_nothing: test");
        }
        return ExitCode::SUCCESS;
    }
    memory_that_ends_is_told_and_costs_nothing();
    ExitCode::SUCCESS
}

/// The program in a folder, with the n-th request and so many in all failing, 0 for no end.
fn run(folder: &Path, arguments: &[&str], fails: Option<(u64, u64)>) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(arguments).arg("--folder").arg(folder);
    command.env(IS_PROGRAM, "1").env("BIGINT_TELL_MEMORY", "1");
    // The requests of one thread are always the same.
    command
        .env("RAYON_NUM_THREADS", "1")
        .env_remove("BIGINT_FAIL_AT");
    match fails {
        Some((at, most)) => command
            .env("BIGINT_FAIL_AT", at.to_string())
            .env("BIGINT_FAIL_FOR", most.to_string()),
        None => command.envs(sweep(None, Some(("BIGINT_TELL_STACKS", "1")))),
    };
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with work of three kinds, and a proof.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lines = "PRP=N/A,1,2,31,-1\nTest=61,60,1\nFactor=N/A,29,1,9\nhello\n";
    fs::write(folder.path().join("worktodo.txt"), lines).unwrap();
    folder
}

fn memory_that_ends_is_told_and_costs_nothing() {
    let made = folder();
    assert!(run(made.path(), &["prp", "31"], None).status.success());
    let proof = made.path().join("proof/31-2.proof");
    let proof = proof.to_str().unwrap();
    let number = "2*3^43+1";
    let test = [
        "test",
        number,
        "--proof-power",
        "1",
        "--proof-format",
        "prst",
    ];
    assert!(run(made.path(), &test, None).status.success());
    let built = run(made.path(), &["build-cert", number], None);
    assert!(built.status.success(), "{}", said(&built));
    let files = fs::read_dir(made.path())
        .unwrap()
        .map(|file| file.unwrap().path());
    let certificate = files.filter(|path| path.extension().is_some_and(|end| end == "cert"));
    let certificate = certificate.last().expect("it was built");
    let certificate = certificate.to_str().unwrap();
    let commands: [&[&str]; 14] = [
        &["work"],
        &["ll", "31", "--json"],
        &["prp", "31", "--json"],
        &["pm1", "67", "--b1", "20"],
        &["tf", "29", "--from", "1", "--to", "9"],
        &["llr", "3", "43"],
        &["proth", "9", "7"],
        &["verify", proof],
        &["cert", number, certificate],
        &["bench", "31", "--time", "1us"],
        &["tune", "--from", "64", "--to", "64", "--time", "1us"],
        &["selftest", "--to", "3"],
        &["--help"],
        &["--version"],
    ];
    // Two processes at a time, whatever the machine has.
    let of_half = |half| commands.into_iter().skip(half).step_by(2);
    std::thread::scope(|scope| {
        scope.spawn(|| of_half(0).for_each(ends_well));
        of_half(1).for_each(ends_well);
    });
}

/// Runs a command with one request for memory after another failing.
fn ends_well(command: &[&str]) {
    let good = run(folder().path(), command, None);
    assert!(good.status.success(), "{command:?}: {}", said(&good));
    let told = Told::of(&said(&good)).expect("who comes to an end tells them");
    let chosen = bigint_testing::failing_requests(&told);
    let requests = told.requests;
    println!("{command:?}: {} of {requests} requests", chosen.len());
    for at in chosen {
        let ended = ends_well_at(command, at, 1);
        // Who ended at once has made no other request.
        if Told::of(&said(&ended)).is_some() {
            ends_well_at(command, at, 0);
        }
    }
}

fn ends_well_at(command: &[&str], at: u64, most: u64) -> Output {
    let folder = folder();
    let output = run(folder.path(), command, Some((at, most)));
    let said = said(&output);
    let told = said.lines().any(|line| line.starts_with("error: "));
    match output.status.code() {
        Some(0) => {}
        Some(1) if told => {}
        _ => panic!("{command:?}, request {at} and {most}: {output:?}"),
    }
    if command == ["work"] {
        nothing_is_lost(folder.path(), &format!("request {at} and {most}: {said}"));
    }
    output
}

/// What was not done is done by the next run, and every result stands there once.
fn nothing_is_lost(folder: &Path, what: &str) {
    let output = run(folder, &["work"], None);
    assert!(output.status.success(), "{what}\n{}", said(&output));
    let left = fs::read_to_string(folder.join("worktodo.txt")).unwrap();
    assert_eq!(left, "hello\n", "{what}");
    let results = fs::read_to_string(folder.join("results.json.txt")).unwrap();
    assert_eq!(results.lines().count(), 3, "{what}\n{results}");
}
