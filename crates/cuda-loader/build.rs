//! Puts the empty `libcuda.so` on the linker's path: `cust_raw` asks for
//! `-lcuda`, whose symbols this crate defines itself.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(root) = env::var_os("CARGO_MANIFEST_DIR") {
        let stub = Path::new(&root).join("stub").join("lib64");
        println!("cargo::rustc-link-search=native={}", stub.display());
    }
}
