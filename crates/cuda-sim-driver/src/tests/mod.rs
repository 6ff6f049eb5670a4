//! The driver as a C program sees it: through its exported symbols, each test in
//! a process of its own with an environment of its own.

mod api;
mod contexts;
mod failures;
mod faults;
mod graphs;
mod later;
mod launches;
mod libraries;
mod memories;
mod modules;
mod runtime;
mod streams;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Set in the process that runs a test's body.
const CHILD: &str = "SIM_TEST_CHILD";

/// How the process of a test ended.
struct Ended {
    /// Its exit code, if it was not killed.
    code: Option<i32>,
    /// What it wrote to stderr.
    stderr: String,
}

/// Runs `body` in a process where of all `CUDA_SIM_*` variables only these are
/// set, to its end and exit. The caller goes on with how that process ended.
fn process<F: FnOnce()>(variables: &[(&str, &str)], body: F) -> Ended {
    if std::env::var_os(CHILD).is_some() {
        body();
        // The end of a program: what the driver does at exit is done.
        std::process::exit(0);
    }
    // The closure's type is named after the test it stands in.
    let path = std::any::type_name::<F>();
    let test = path
        .trim_start_matches("cuda_sim_driver::")
        .trim_end_matches("::{{closure}}");
    let mut command = Command::new(std::env::current_exe().expect("the test's own path"));
    command.args([test, "--exact", "--nocapture"]);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CUDA_SIM_") {
            command.env_remove(name);
        }
    }
    let mut child = command
        .env(CHILD, "1")
        .env("RUST_BACKTRACE", "0")
        .envs(variables.iter().copied())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the test's process starts");
    // A driver that hangs must fail its test, not the whole run.
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("the process is ours").is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    // An error means that it has just ended.
    let _ = child.kill();
    let output = child.wait_with_output().expect("its output");
    Ended {
        code: output.status.code(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs `body` as [`process`] does; it must end well, and leave nothing unfreed.
/// Returns what it wrote to stderr.
fn program<F: FnOnce()>(variables: &[(&str, &str)], body: F) -> String {
    let ended = process(variables, body);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains("not freed"), "{}", ended.stderr);
    ended.stderr
}
