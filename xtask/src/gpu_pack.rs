//! `cargo xtask gpu-pack`: what it takes to test and measure a GPU, in one folder
//! that a machine without Rust can run.

use crate::workspace;
use anyhow::{Context, Result, ensure};
use clap::Args;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const SCRIPT: &str = include_str!("gpu_pack/run.sh");

/// Make a folder that tests and measures the GPU of a machine without Rust
///
/// It holds the command, with the kernels in it, and `run.sh`, which begins with how
/// to use it. The other machine needs Linux on x86-64 with a C library as new as this
/// machine's, and NVIDIA's driver.
#[derive(Args)]
pub struct Options {
    /// The folder; what it has of these two files is replaced
    #[arg(value_name = "FOLDER", default_value = "target/gpu-pack")]
    folder: PathBuf,
}

/// Runs the task.
pub fn run(options: &Options) -> Result<()> {
    let built = workspace::target("gpu-pack-build");
    let status = Command::new("cargo")
        .args([
            "build",
            "--release",
            "--package",
            "bigint-cli",
            "--target-dir",
        ])
        .arg(&built)
        // The debug information is nine tenths of the file.
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols")
        .current_dir(workspace::root())
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "the command does not build");
    fs::create_dir_all(&options.folder)?;
    put(
        &options.folder,
        "bigint",
        &fs::read(built.join("release/bigint"))?,
    )?;
    put(&options.folder, "run.sh", SCRIPT.as_bytes())?;
    println!(
        "{0}: copy it to a machine with a GPU, run {0}/run.sh there, and commit the \
         records under benches/record/gpu",
        options.folder.display()
    );
    Ok(())
}

/// Writes a program into the folder.
fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = folder.join(name);
    fs::write(&path, bytes).with_context(|| format!("{}", path.display()))?;
    Ok(fs::set_permissions(
        path,
        fs::Permissions::from_mode(0o755),
    )?)
}
