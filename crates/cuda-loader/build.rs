//! Puts the empty `libcuda.so` on the linker's path: `cust_raw` asks for `-lcuda`, whose symbols this
//! crate defines itself. And says what to do where `cust_raw` will not build: its own build script,
//! which others' builds must pass first, does not.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CUDA_LIBRARY_PATH");
    if let Some(root) = env::var_os("CARGO_MANIFEST_DIR") {
        let stub = Path::new(&root).join("stub").join("lib64");
        println!("cargo::rustc-link-search=native={}", stub.display());
    }
    if env::var_os("DOCS_RS").is_none() && !roots().iter().any(|root| is_taken(root)) {
        println!(
            "cargo::error=the CUDA back end builds without a CUDA toolkit, but the crate `cust_raw` \
             wants to see a folder of one. Any folder that has a folder `lib64` will do, as nothing \
             is taken from it: build with CUDA_LIBRARY_PATH=/ (or, where / has no lib64, an empty \
             folder with an empty lib64 in it), or put [env] CUDA_LIBRARY_PATH = \"/\" into \
             .cargo/config.toml"
        );
    }
}

/// Where `cust_raw` looks for a toolkit.
fn roots() -> Vec<PathBuf> {
    let named = env::var_os("CUDA_LIBRARY_PATH").unwrap_or_default();
    let mut roots: Vec<PathBuf> = env::split_paths(&named).collect();
    roots.push("/opt/cuda".into());
    let installed = fs::read_dir("/usr/local").into_iter().flatten().flatten();
    let is_toolkit = |name: &str| name == "cuda" || name.starts_with("cuda-");
    roots.extend(
        installed
            .filter(|entry| entry.file_name().to_str().is_some_and(is_toolkit))
            .map(|entry| entry.path()),
    );
    roots
}

/// Whether it takes this folder for one.
fn is_taken(root: &Path) -> bool {
    let header = root.join("targets/x86_64-linux/include/cuda.h");
    root.join("lib64").is_dir() || header.is_file()
}
