//! Processes with a simulated driver.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const CHILD: &str = "BIGINT_TEST_CHILD";

/// Runs the test `name` again in a process whose driver is simulated, shaped by
/// `settings`. Answers whether this is that process: the one to do the test's work.
pub fn on_simulator(name: &str, settings: &[(&str, &str)]) -> bool {
    if env::var_os(CHILD).is_some() {
        return true;
    }
    let output = Command::new(env::current_exe().expect("this executable's path"))
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .env("BIGINT_CUDA_DRIVER", driver())
        .env("CUDA_SIM_LEAKS", "fail")
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

/// The simulated driver, built in the profile of this test. Cargo builds it for
/// nobody who does not ask: no package depends on a library that is loaded by name.
fn driver() -> &'static Path {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    DRIVER.get_or_init(|| {
        // <target>/<profile>/deps/<test>
        let test = env::current_exe().expect("this executable's path");
        let profile = test.ancestors().nth(2).expect("a folder of the profile");
        let name = match profile.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let output = Command::new(env!("CARGO"))
            .args([
                "build",
                "--offline",
                "--package=cuda-sim-driver",
                "--profile",
                name,
            ])
            .arg("--target-dir")
            .arg(profile.parent().expect("a target folder"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        profile.join("libcuda_sim.so")
    })
}
