//! The header is what the sources say, and a program in C that uses it is compiled, linked and run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// What `examples/products.c` writes.
const SAYS: &str = "\
products: 7000000000000000000000 1095216660480 0
quotients: 0 16843009 0
without a value: 0 0 1
lowest limb of the first product: 16600000
refused: number 2 is divided by zero, or taken modulo zero
";

#[test]
fn the_header_is_what_cbindgen_makes_of_the_sources() {
    let here = Path::new(HERE);
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).expect("a configuration");
    let builder = cbindgen::Builder::new().with_config(config);
    let bindings = builder.with_src(here.join("src/lib.rs")).generate();
    let mut made = Vec::new();
    bindings
        .expect("sources that cbindgen reads")
        .write(&mut made);
    let header = here.join("include/bigint.h");
    if env::var_os("BIGINT_WRITE").is_some() {
        fs::write(&header, &made).expect("a header that can be written");
    }
    let committed = fs::read(&header).expect("the committed header");
    let cure = "BIGINT_WRITE=1 cargo test -p bigint-c writes it again";
    assert!(
        committed == made,
        "include/bigint.h is not what the sources say: {cure}"
    );
}

#[test]
fn a_program_in_c_computes_with_the_shared_and_the_static_library() {
    let built = build();
    let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c");
    run(Command::new("sh")
        .arg(Path::new(HERE).join("install"))
        .args([&built, &prefix]));
    let folder = prefix.join("lib");
    let settings = fs::read_to_string(folder.join("pkgconfig/bigint.pc")).expect("installed");
    let libraries = |key: &str| {
        let line = settings.lines().find_map(|line| line.strip_prefix(key));
        let words = line.expect("pkg-config's file has it").split_whitespace();
        words
            .map(|word| word.replace("${libdir}", folder.to_str().unwrap()))
            .collect::<Vec<_>>()
    };
    let example = Path::new(HERE).join("examples/products.c");
    let compile = |name: &str, libraries: &[String]| {
        let program = prefix.join(name);
        let mut cc = Command::new("cc");
        cc.args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-I",
        ]);
        cc.arg(prefix.join("include"))
            .arg(&example)
            .arg("-o")
            .arg(&program);
        run(cc.args(libraries));
        program
    };
    let mut shared = Command::new(compile("shared", &libraries("Libs:")));
    let said = run(shared
        .env("LD_LIBRARY_PATH", &folder)
        .env("BIGINT_CUDA_DRIVER", "/none"));
    assert_eq!(String::from_utf8_lossy(&said.stdout), SAYS);
    let mut whole = vec![folder.join("libbigint.a").to_str().unwrap().to_owned()];
    whole.extend(libraries("Libs.private:"));
    let mut program = Command::new(compile("static", &whole));
    let said = run(program.env("BIGINT_CUDA_DRIVER", "/none"));
    assert_eq!(String::from_utf8_lossy(&said.stdout), SAYS);
}

/// Builds both libraries in the profile of the running test, and returns their folder.
fn build() -> PathBuf {
    // <target>/<profile>/deps/<test>
    let test = env::current_exe().expect("the test's own path");
    let profile = test.ancestors().nth(2).expect("a target folder");
    let target = profile.parent().expect("a profile is in a target folder");
    // The folder of the `dev` profile is named otherwise, for history's sake.
    let name = match profile.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "build",
        "--package",
        "bigint-c",
        "--profile",
        name,
        "--target-dir",
    ]);
    run(cargo.arg(target).current_dir(HERE));
    profile.to_owned()
}

/// Runs a command that must go well.
fn run(command: &mut Command) -> Output {
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}
