//! A kernel of one's own, from nothing to a result, as docs/kernels.md says; and the header for kernels in
//! CUDA C++.

use std::mem::offset_of;
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

use bigint_core::Arguments;
use bigint_core::kernel::MatrixArgument;

fn xtask() -> Command {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
}

fn said(output: &Output) -> String {
    let of = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    of(&output.stdout) + &of(&output.stderr)
}

/// Runs a command of the page in a folder, without what cargo told this test.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    for (name, _) in env::vars().filter(|(name, _)| {
        name.starts_with("CARGO_PKG") || name.starts_with("CARGO_MANIFEST") || name == "CARGO"
    }) {
        command.env_remove(name);
    }
    // What the engine is built to stays there for the next time.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-kernel-target");
    command
        .args(arguments)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .output()
        .unwrap()
}

/// Cargo compiles the engine for the new crate: a test of CI.
#[test]
fn a_new_kernel_is_built_and_runs_on_the_simulator() {
    if env::var_os("BIGINT_SWEEPS").is_none() {
        return;
    }
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("point-addition");
    let made = xtask().arg("new-kernel").arg(&folder).output().unwrap();
    assert!(made.status.success(), "{}", said(&made));
    let built = run(&folder, "./build-kernels", &[]);
    if said(&built).contains("no device toolchain") {
        eprintln!("{}", said(&built));
        return;
    }
    assert!(built.status.success(), "{}", said(&built));
    let tested = run(&folder, "cargo", &["test", "--quiet"]);
    assert!(tested.status.success(), "{}", said(&tested));
    assert!(said(&tested).contains("1 passed"), "{}", said(&tested));
}

#[test]
fn what_is_there_is_not_overwritten_and_a_name_is_a_crates() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("there");
    fs::create_dir(&folder).unwrap();
    for (path, why) in [
        (folder.clone(), "exists"),
        (folder.join("a b"), "does not name a crate"),
        (folder.join("1st"), "does not name a crate"),
    ] {
        let made = xtask().arg("new-kernel").arg(&path).output().unwrap();
        assert!(!made.status.success());
        assert!(said(&made).contains(why), "{}", said(&made));
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

/// What the header says of each field: C's `offsetof`, and `sizeof` at the end.
const FIELDS: &str = "r s a b c scratch carry first_carry roots count workers";
const OF_MATRIX: &str = "limbs number_stride limb_stride width";

#[test]
fn the_header_has_the_arguments_as_they_are_in_c_and_in_cpp() {
    let arguments = [
        offset_of!(Arguments, r),
        offset_of!(Arguments, s),
        offset_of!(Arguments, a),
        offset_of!(Arguments, b),
        offset_of!(Arguments, c),
        offset_of!(Arguments, scratch),
        offset_of!(Arguments, carry),
        offset_of!(Arguments, first_carry),
        offset_of!(Arguments, roots),
        offset_of!(Arguments, count),
        offset_of!(Arguments, workers),
        size_of::<Arguments>(),
    ];
    let matrix = [
        offset_of!(MatrixArgument, limbs),
        offset_of!(MatrixArgument, number_stride),
        offset_of!(MatrixArgument, limb_stride),
        offset_of!(MatrixArgument, width),
        size_of::<MatrixArgument>(),
    ];
    // A compiler that takes this agrees with Rust about every field.
    let mut source = String::from("#include \"bigint_kernels.h\"\n");
    let mut check = |of: &str, fields: &str, values: &[usize]| {
        for (field, value) in fields.split(' ').zip(values) {
            source += &format!("BIGINT_CHECK(offsetof(struct {of}, {field}) == {value});\n");
        }
        let size = values.last().unwrap();
        source += &format!("BIGINT_CHECK(sizeof(struct {of}) == {size});\n");
        assert_eq!(fields.split(' ').count() + 1, values.len());
    };
    check("bigint_arguments", FIELDS, &arguments);
    check("bigint_matrix", OF_MATRIX, &matrix);
    let folder = tempfile::tempdir().unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/bigint-kernels/include");
    for (compiler, language) in [("cc", "c"), ("c++", "c++")] {
        let file = folder.path().join("check").with_extension(language);
        fs::write(&file, &source).unwrap();
        let compiled = Command::new(compiler)
            .args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
            .args([&include, &file])
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{}", said(&compiled));
    }
}
