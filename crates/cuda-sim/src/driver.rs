//! Where the simulator's `libcuda` is, for tests of whole programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Builds `libcuda_sim.so`, of the package `cuda-sim-driver` beside this one, in the profile of the
/// running test, and returns its path. `cargo test` does not build it by itself: no test links to a
/// `cdylib`. A test passes the path to the program under test, in place of `libcuda.so.1`.
///
/// The cargo that this runs, once in a process, finds everything but the last link done, or waits
/// for another that is at it.
///
/// # Panics
/// Where the library does not build, or the caller is not in a target folder of cargo's.
pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(build)
}

fn build() -> PathBuf {
    // <target>/<profile>/deps/<test>
    let test = std::env::current_exe().expect("the test's own path");
    let profile = test
        .ancestors()
        .nth(2)
        .expect("the test is in a target folder");
    let target = profile.parent().expect("a profile is in a target folder");
    // The folder of the `dev` profile is named otherwise, for history's sake.
    let name = match profile.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let output = Command::new(env!("CARGO"))
        .args(["build", "--package", "cuda-sim-driver", "--profile", name])
        .arg("--target-dir")
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    profile.join("libcuda_sim.so")
}
