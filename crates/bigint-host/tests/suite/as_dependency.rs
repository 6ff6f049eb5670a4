//! The library as others use it: from a crate outside the workspace, where none of
//! the workspace's settings apply.

use bigint_testing::sweep;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The crate that depends on bigint-host.
struct Dependent {
    folder: PathBuf,
}

impl Dependent {
    /// Lays the crate out, as a workspace of its own. This workspace's lock file goes
    /// along: its packages are there without a network.
    fn new(name: &str) -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(folder.join("src")).expect("a writable folder");
        let manifest = format!(
            "[package]\nname = \"dependent\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
             [features]\ncuda = [\"bigint-host/cuda\"]\n\
             [dependencies]\nbigint-host = {{ path = {here:?} }}\n\
             [workspace]\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).expect("written");
        fs::copy(here.join("../../Cargo.lock"), folder.join("Cargo.lock")).expect("copied");
        fs::copy(
            here.join("tests/suite/dependency/main.rs"),
            folder.join("src/main.rs"),
        )
        .expect("copied");
        Dependent { folder }
    }

    /// Builds and runs the crate, on a machine that seems to have no CUDA driver.
    ///
    /// Cargo reads the configuration of the folder it is started in and of those
    /// above it: from the root, it does not find this workspace's.
    fn run(&self, features: &[&str], environment: &[(&str, &Path)]) -> Output {
        self.cargo("run", features)
            .args(["--", "340282366920938463463374607431768211456", "3"])
            .envs(environment.iter().copied())
            .output()
            .expect("cargo starts")
    }

    /// What the crate depends on, a line each.
    fn dependencies(&self, features: &[&str]) -> String {
        let mut tree = self.cargo("tree", features);
        tree.args(["--edges", "normal", "--prefix", "none"]);
        printed(&tree.output().expect("cargo starts"))
    }

    /// A command of cargo for the crate.
    fn cargo(&self, command: &str, features: &[&str]) -> Command {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args([command, "--quiet", "--offline", "--manifest-path"])
            .arg(self.folder.join("Cargo.toml"))
            .args(features)
            .current_dir("/")
            .env_remove("CUDA_LIBRARY_PATH")
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("BIGINT_CUDA_DRIVER", "/nonexistent/libcuda.so.1");
        cargo
    }
}

fn printed(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn without_the_feature_cuda_nothing_of_cuda_is_a_dependency() {
    let dependent = Dependent::new("tree");
    let has = |features: &[&str], name: &str| {
        let tree = dependent.dependencies(features);
        tree.lines().any(|line| line.starts_with(name))
    };
    assert!(has(&[], "bigint-cpu v") && !has(&[], "cust v") && !has(&[], "cuda-loader v"));
    let cuda = ["--features=cuda"];
    assert!(has(&cuda, "cust v") && has(&cuda, "cuda-loader v"));
}

/// Compiles the library twice more, and so runs where sweeps do.
///
/// One test for both ways, so that they build one after the other in one folder.
#[test]
fn a_crate_outside_the_workspace_computes_with_and_without_cuda() {
    if !sweep(false, true) {
        return;
    }
    let dependent = Dependent::new("dependent");
    let product = "product 1020847100762815390390123822295304634368\nback end cpu\n";

    let cpu_only = printed(&dependent.run(&[], &[]));
    assert!(cpu_only.starts_with(product), "{cpu_only}");
    assert!(cpu_only.contains("has no CUDA back end"), "{cpu_only}");

    // What the README says for a machine without a toolkit: any folder with a lib64.
    let no_toolkit = dependent.folder.join("no-toolkit");
    fs::create_dir_all(no_toolkit.join("lib64")).expect("a writable folder");
    let cuda = dependent.run(&["--features=cuda"], &[("CUDA_LIBRARY_PATH", &no_toolkit)]);
    let cuda = printed(&cuda);
    assert!(cuda.starts_with(product), "{cuda}");
    assert!(cuda.contains("/nonexistent/libcuda.so.1"), "{cuda}");
}
