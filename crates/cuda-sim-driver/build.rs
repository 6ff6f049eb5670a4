//! Links the library so that it is never unmapped: worker threads and the leak
//! report at exit run code of it after a program has closed its handle. Lists the
//! functions of CUDA that the library has to refuse, and those that can fail on request.

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
    let mut defined = Defined::default();
    defined.collect(Path::new("src/ffi"));
    let mut refused = String::from("unsupported! {\n");
    let mut fallible = String::from("&[\n");
    for (api, file) in APIS {
        for line in fs::read_to_string(file)
            .expect("a list of functions")
            .lines()
        {
            let mut words = line.split(' ');
            let name = words.next().expect("a name");
            if defined.plainly.contains(name) {
                continue;
            }
            if defined.as_entries.contains(name) {
                fallible += &format!("{name:?},\n");
                continue;
            }
            let per_thread = words.find(|word| word.starts_with('_'));
            let per_thread = per_thread.map(|suffix| format!("{name}{suffix}"));
            refused += &format!("{api} {name} {};\n", per_thread.unwrap_or_default());
        }
    }
    refused += "}\n";
    fallible += "]\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo's folder"));
    fs::write(out.join("unsupported.rs"), refused).expect("a file in cargo's folder");
    fs::write(out.join("functions.rs"), fallible).expect("a file in cargo's folder");
}

/// The names of functions that the Rust files of a folder define.
#[derive(Default)]
struct Defined {
    /// By `entries!`: those behind `fn`, and those that a line of a table begins with.
    as_entries: HashSet<String>,
    /// As functions of their own, which never fail on request.
    plainly: HashSet<String>,
}

impl Defined {
    fn collect(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                self.collect(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = fs::read_to_string(path).expect("a source");
                for line in source.lines().map(str::trim_start) {
                    let start = line.split_once("fn ").map_or(line, |(_, rest)| rest);
                    let end = start.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
                    let name = start[..end.unwrap_or(start.len())].to_owned();
                    if line.contains("extern \"C\" fn ") {
                        self.plainly.insert(name);
                    } else {
                        self.as_entries.insert(name);
                    }
                }
            }
        }
    }
}
