//! Links the library so that it is never unmapped: worker threads and the leak
//! report at exit run code of it after a program has closed its handle. Lists the
//! functions of CUDA that the library has to refuse.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The functions of CUDA's two APIs, and which calls refuse them.
const APIS: [(&str, &str); 2] = [
    ("driver", "src/ffi/driver_functions.txt"),
    ("runtime", "src/ffi/runtime_functions.txt"),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/ffi");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,-z,nodelete");
    }
    let mut defined = HashSet::new();
    collect(Path::new("src/ffi"), &mut defined);
    let mut list = String::from("unsupported! {\n");
    for (api, file) in APIS {
        for line in fs::read_to_string(file)
            .expect("a list of functions")
            .lines()
        {
            let mut words = line.split(' ');
            let name = words.next().expect("a name");
            if defined.contains(name) {
                continue;
            }
            let per_thread = words.find(|word| word.starts_with('_'));
            let per_thread = per_thread.map(|suffix| format!("{name}{suffix}"));
            list += &format!("{api} {name} {};\n", per_thread.unwrap_or_default());
        }
    }
    list += "}\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo's folder"));
    fs::write(out.join("unsupported.rs"), list).expect("a file in cargo's folder");
}

/// The names of functions that the Rust files in a folder define: those behind `fn`, and
/// those that a line of a table begins with.
fn collect(folder: &Path, defined: &mut HashSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("a file").path();
        if path.is_dir() {
            collect(&path, defined);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(path).expect("a source");
            for line in source.lines().map(str::trim_start) {
                let start = line.split_once("fn ").map_or(line, |(_, rest)| rest);
                let end = start.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
                defined.insert(start[..end.unwrap_or(start.len())].to_owned());
            }
        }
    }
}
