//! Where things are in the repository.

use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// The committed PTX and its manifest.
pub fn ptx_folder() -> PathBuf {
    root().join("crates/bigint-host/ptx")
}

/// What the tasks build and fetch for themselves; ignored by git.
pub fn target(folder: &str) -> PathBuf {
    root().join("target").join(folder)
}
