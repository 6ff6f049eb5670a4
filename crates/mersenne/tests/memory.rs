//! Memory that ends at the n-th request: the program says so and ends with the exit code 1, or goes
//! on; nothing is lost.
//!
//! This is the program itself with an allocator that fails, where it is told to be, and a test that
//! starts it again and again. `BIGINT_SWEEPS=1` takes more requests.

#[path = "../../../tests/src/failing.rs"]
mod failing;
// Its unit tests are not run here.
#[allow(dead_code, unused_imports)]
#[path = "../src/program/mod.rs"]
mod program;

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use bigint_cpu::program::Memory;
use failing::Failing;

#[global_allocator]
static MEMORY: Memory<Failing> = Memory(Failing);

/// Has this be the program.
const IS_PROGRAM: &str = "MERSENNE_TEST_PROGRAM";

fn main() -> ExitCode {
    if env::var_os(IS_PROGRAM).is_some() {
        Failing::arm();
        let code = program::main();
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
    if let Some((at, most)) = fails {
        command.env("BIGINT_FAIL_AT", at.to_string());
        command.env("BIGINT_FAIL_FOR", most.to_string());
    }
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with work of three kinds, and a proof.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lines = "PRP=N/A,1,2,127,-1\nTest=89,60,1\nFactor=N/A,29,1,12\nhello\n";
    fs::write(folder.path().join("worktodo.txt"), lines).unwrap();
    folder
}

fn memory_that_ends_is_told_and_costs_nothing() {
    let made = folder();
    assert!(run(made.path(), &["prp", "521"], None).status.success());
    let proof = made.path().join("521-4.proof");
    let proof = proof.to_str().unwrap();
    let commands: [&[&str]; 11] = [
        &["work"],
        &["ll", "521", "--json"],
        &["prp", "521", "--json"],
        &["pm1", "131", "--b1", "1000"],
        &["tf", "29", "--from", "1", "--to", "12"],
        &["llr", "3", "391"],
        &["proth", "9", "461"],
        &["verify", proof],
        &["bench", "127", "--time", "1ms"],
        &["tune", "--from", "64", "--to", "64", "--time", "1ms"],
        &["selftest", "--to", "31"],
    ];
    let tries = match env::var_os("BIGINT_SWEEPS") {
        Some(_) => 120,
        None => 10,
    };
    for command in commands {
        let good = run(folder().path(), command, None);
        assert!(good.status.success(), "{command:?}: {}", said(&good));
        let told = said(&good);
        let told = told.lines().find_map(|line| line.strip_prefix("memory: "));
        let (requests, _) = told.unwrap().split_once(' ').unwrap();
        let requests: u64 = requests.parse().unwrap();
        for i in 0..tries {
            // The first ones, and steps that are no multiples of a loop's requests.
            let at = if i < 2 {
                i + 1
            } else {
                1 + (i * 7919 + 13) * requests / tries % requests
            };
            for most in [1, 0] {
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
            }
        }
    }
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
