//! The program, killed.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::common::program::mersenne;

/// Starts the program, and kills it after so long.
pub fn run_and_kill(folder: &Path, arguments: &[&str], milliseconds: u64) {
    let mut child = mersenne(folder, arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(milliseconds));
    let _ = child.kill();
    let _ = child.wait();
}
