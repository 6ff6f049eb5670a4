//! Runs a test in a process of its own, whose driver is given: a process opens
//! its driver once.

use std::env;
use std::path::PathBuf;
use std::process::Command;

const CHILD: &str = "CUDA_LOADER_TEST_CHILD";

/// Runs the test `name` of this executable again, in a process whose environment
/// names `driver` (which only the first process asks for). Answers whether this is that process: the one to do the test's
/// work.
pub fn in_own_process(name: &str, driver: impl FnOnce() -> PathBuf) -> bool {
    if env::var_os(CHILD).is_some() {
        return true;
    }
    let output = Command::new(env::current_exe().expect("this executable's path"))
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .env(cuda_loader::DRIVER_VARIABLE, driver())
        .output()
        .expect("this executable starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complained}");
    assert!(said.contains("1 passed"), "no test is named {name}: {said}");
    false
}
