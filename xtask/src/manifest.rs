//! `crates/bigint-host/ptx/MANIFEST`: from what the committed PTX was built, so
//! that host and device never disagree silently.

use crate::workspace;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What the PTX depends on, below the root.
const SOURCES: [&str; 4] = [
    "crates/bigint-core/Cargo.toml",
    "crates/bigint-core/src",
    "crates/bigint-kernels/Cargo.toml",
    "crates/bigint-kernels/src",
];

const HEADER: &str = "# Written by `cargo xtask build-ptx`; `--check` compares. Do not edit.\n\n";

/// From what the PTX was built. The file is TOML.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The device compiler and its LLVM.
    pub compiler: String,
    /// The compiler's flags.
    pub flags: Vec<String>,
    /// Hash of the kernels' sources; see [`hash_of_sources`].
    pub sources: String,
    /// Hash of each module.
    pub modules: BTreeMap<String, String>,
}

impl Manifest {
    /// Where it is.
    pub fn path() -> PathBuf {
        workspace::ptx_folder().join("MANIFEST")
    }

    /// The committed manifest.
    pub fn read() -> Result<Manifest> {
        let path = Self::path();
        let text = fs::read_to_string(&path)
            .with_context(|| format!("{}: run `cargo xtask build-ptx`", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{}", path.display()))
    }

    /// Writes the manifest in place of the committed one.
    pub fn write(&self) -> Result<()> {
        let text = format!("{HEADER}{}", toml::to_string_pretty(self)?);
        Ok(fs::write(Self::path(), text)?)
    }
}

/// SHA-256 as the manifest writes it.
pub fn hash(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// SHA-256 over all sources in the order of their paths: for each, its path below
/// the root, its length, and its bytes.
pub fn hash_of_sources() -> Result<String> {
    let root = workspace::root();
    let mut files = Vec::new();
    for source in SOURCES {
        collect(&root, Path::new(source), &mut files)?;
    }
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        let bytes = fs::read(root.join(&file)).with_context(|| file.clone())?;
        hasher.update(format!("{file}\n{}\n", bytes.len()));
        hasher.update(&bytes);
    }
    Ok(hexadecimal(&hasher.finalize()))
}

/// The files at or below `path`, with `/` between their parts on every system.
fn collect(root: &Path, path: &Path, files: &mut Vec<String>) -> Result<()> {
    let full = root.join(path);
    if full.is_dir() {
        for entry in fs::read_dir(&full)? {
            collect(root, &path.join(entry?.file_name()), files)?;
        }
    } else {
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        files.push(parts.join("/"));
    }
    Ok(())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
