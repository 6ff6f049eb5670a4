//! The README's main command, against products computed by another program.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Workplace;
use sha2::{Digest, Sha256};

fn example(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples/rsa-moduli")
        .join(file)
}

/// The README's main command, to standard output.
pub fn arguments(format: &str) -> Vec<String> {
    let binding = |name, file| format!("{name}={}", example(file).display());
    let (a, b) = (binding("a", "left.txt"), binding("b", "right.txt"));
    let arguments = ["calc", "a*b", "--let", &a, "--let", &b, "--format", format];
    arguments.map(str::to_owned).to_vec()
}

/// What it writes, computed on the CPU.
pub fn products(format: &str) -> String {
    let arguments = arguments(format);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = Workplace::new().run(&arguments);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    ended.stdout
}

#[test]
fn products_of_the_moduli_hash_as_those_of_python() {
    let expected = std::fs::read_to_string(example("products.sha256")).unwrap();
    for (format, file) in [("dec", "products.txt"), ("hex", "products.hex.txt")] {
        let hash: String = Sha256::digest(products(format))
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert!(
            expected.contains(&format!("{hash}  {file}\n")),
            "{file} hashes to {hash}"
        );
    }
}

#[test]
fn products_of_the_moduli_are_those_that_python_computes_now() {
    let python = |format| {
        Command::new("python3")
            .arg(example("products.py"))
            .args(["--format", format])
            .output()
    };
    for format in ["dec", "hex"] {
        let Ok(output) = python(format) else {
            eprintln!("no python3 here: only the hash was compared");
            return;
        };
        let ended = crate::common::ended(output);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stdout == products(format), "{format}");
    }
}
