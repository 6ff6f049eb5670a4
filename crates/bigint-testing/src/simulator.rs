//! Tests that run again in a process of their own, on the simulated driver, under all of its checks.

use std::env;
use std::process::Command;

const CHILD: &str = "BIGINT_TEST_CHILD";

/// Runs the test `name` again in a process whose driver is the simulator's, with `settings` among its
/// environment variables. Answers whether this is that process, which is the one to do the test's work.
///
/// # Panics
/// If the test fails there, or there is none of that name.
pub fn on_simulator(name: &str, settings: &[(&str, &str)]) -> bool {
    let executable = env::current_exe().expect("this executable's path");
    run(Command::new(executable), name, settings)
}

/// [`on_simulator`] by this command, which is given the arguments that select a test.
///
/// # Panics
/// As for [`on_simulator`].
pub fn run(mut command: Command, name: &str, settings: &[(&str, &str)]) -> bool {
    if env::var_os(CHILD).is_some() {
        return true;
    }
    let output = command
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .env("BIGINT_CUDA_DRIVER", cuda_sim::driver::library())
        .env("CUDA_SIM_LEAKS", "fail")
        .env("CUDA_SIM_CHECKS", "all,copies")
        .envs(settings.iter().copied())
        .output()
        .expect("this executable starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}\n{said}{complained}",
        output.status
    );
    assert!(said.contains("1 passed"), "no test is named {name}: {said}");
    false
}
