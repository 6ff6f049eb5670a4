//! `cargo xtask new-kernel`: a crate of one's own with a kernel, outside of this repository.

use crate::workspace;
use anyhow::{Context, Result, ensure};
use clap::Args;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Make a crate with a kernel of one's own: a sum of points of a curve, to begin with
#[derive(Args)]
pub struct Options {
    /// The folder to make; its last part is the crate's name: letters, digits, - and _
    #[arg(value_name = "NAME")]
    folder: PathBuf,
}

/// The files, by their places in the new folder. `NAME` and `CHECKOUT` stand for the crate's name and for
/// where this repository is.
const FILES: [(&str, &str); 7] = [
    ("Cargo.toml", include_str!("../template/Cargo.toml.in")),
    (
        ".cargo/config.toml",
        include_str!("../template/config.toml.in"),
    ),
    (
        "build-kernels",
        include_str!("../template/build-kernels.in"),
    ),
    ("src/main.rs", include_str!("../template/src/main.rs")),
    (
        "tests/simulator.rs",
        include_str!("../template/tests/simulator.rs.in"),
    ),
    (
        "kernels/Cargo.toml",
        include_str!("../template/kernels/Cargo.toml.in"),
    ),
    (
        "kernels/src/lib.rs",
        include_str!("../template/kernels/src/lib.rs"),
    ),
];

/// Runs the task.
pub fn run(options: &Options) -> Result<()> {
    let folder = &options.folder;
    let name = folder.file_name().and_then(|name| name.to_str());
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let begins = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic());
    let name = name.filter(|name| begins(name) && name.chars().all(is_letter));
    let name = name.with_context(|| format!("{} does not name a crate", folder.display()))?;
    ensure!(
        !folder.exists(),
        "{} exists: nothing is overwritten",
        folder.display()
    );
    let checkout = workspace::root();
    let path = checkout.to_str().context("this repository's path")?;
    for (place, text) in FILES {
        let file = folder.join(place);
        fs::create_dir_all(file.parent().unwrap_or(folder))
            .with_context(|| format!("{}", folder.display()))?;
        fs::write(&file, text.replace("CHECKOUT", path).replace("NAME", name))
            .with_context(|| format!("{}", file.display()))?;
    }
    // The versions that this repository is tested with.
    for file in ["Cargo.lock", "rust-toolchain.toml"] {
        fs::copy(checkout.join(file), folder.join(file))?;
    }
    let script = folder.join("build-kernels");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755))?;
    println!(
        "cd {}\n./build-kernels    # kernels/src/lib.rs to kernels.ptx\n\
         cargo test         # src/main.rs on the simulator and on the CPU\n\
         cargo run          # on a GPU, or on the CPU without one",
        folder.display()
    );
    Ok(())
}
