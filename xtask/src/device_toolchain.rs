//! Finding a compiler that can build the kernels, and building with it.
//!
//! A device toolchain is a rustc with the sources of its standard library: no
//! toolchain ships a compiled `core` for `nvptx64-nvidia-cuda`, so cargo builds
//! one. The compiler's unstable features are opened by `RUSTC_BOOTSTRAP`, which
//! holds for this build alone, so a stable rustc will do.

use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names a rustc to use before all others.
const CHOICE: &str = "BIGINT_DEVICE_RUSTC";

const TARGET: &str = "nvptx64-nvidia-cuda";

/// The oldest architecture that a CUDA 13 driver takes. Drivers compile the PTX
/// for theirs.
pub const ARCHITECTURE: &str = "sm_75";

const HOW_TO_INSTALL: &str = "\
no device toolchain: building the kernels takes a rustc with the sources of its
standard library. Any one of these gives you that:
  Debian:  apt-get install --no-install-recommends rustc-web rust-web-src
  rustup:  rustup toolchain install nightly --component rust-src
  other:   BIGINT_DEVICE_RUSTC=/path/to/rustc, with lib/rustlib/src/rust/library in its sysroot
The committed PTX works without: this is needed only to change kernels.";

/// Where device crates are built, below the target folder: two, so that two are built at the same time.
pub const LIBRARY_ROOM: &str = "device";
pub const EXAMPLES_ROOM: &str = "device-crates";

/// Flags of the device compiler.
///
/// * Nothing can print a panic, so a failed check is a trap.
/// * LLVM knows that a shuffle or a vote must not be moved into a branch or
///   doubled (`convergent`). The optimisations of Rust's MIR do not: jump
///   threading copies a vote into both arms of a branch on the lane, and no two
///   lanes vote together any more. LLVM alone gives the same code or better.
pub fn flags() -> Vec<String> {
    [
        "-Zunstable-options",
        "-Cpanic=immediate-abort",
        "-Zmir-opt-level=0",
        &format!("-Ctarget-cpu={ARCHITECTURE}"),
    ]
    .map(String::from)
    .to_vec()
}

/// Whether the user named the compiler: then no other will do.
pub fn is_chosen() -> bool {
    env::var_os(CHOICE).is_some()
}

/// A rustc that can build the kernels.
pub struct DeviceToolchain {
    rustc: PathBuf,
    /// What `rustc --version` and its LLVM say.
    pub version: String,
}

impl DeviceToolchain {
    /// The toolchain to build with; the one of this `version`, if it is here.
    pub fn find(version: Option<&str>) -> Result<DeviceToolchain> {
        if let Some(rustc) = env::var_os(CHOICE) {
            return Self::at(PathBuf::from(rustc)).with_context(|| format!("{CHOICE} is set"));
        }
        let mut found: Vec<DeviceToolchain> = candidates()
            .into_iter()
            .filter_map(|rustc| Self::at(rustc).ok())
            .collect();
        ensure!(!found.is_empty(), HOW_TO_INSTALL);
        let wanted = found
            .iter()
            .position(|toolchain| Some(toolchain.version.as_str()) == version);
        Ok(found.swap_remove(wanted.unwrap_or(0)))
    }

    fn at(rustc: PathBuf) -> Result<DeviceToolchain> {
        let sysroot = output(clean(&rustc).args(["--print", "sysroot"]))?;
        let library = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/core/src");
        ensure!(
            library.is_dir(),
            "{} has no library sources: there is no {}",
            rustc.display(),
            library.display()
        );
        let verbose = output(clean(&rustc).arg("-vV"))?;
        let first = verbose.lines().next().unwrap_or("rustc");
        let llvm = verbose
            .lines()
            .find_map(|line| line.strip_prefix("LLVM version: "));
        let version = format!("{first}, LLVM {}", llvm.unwrap_or("unknown"));
        Ok(DeviceToolchain { rustc, version })
    }

    /// Builds all kernels of the library, as one PTX module.
    pub fn build(&self) -> Result<String> {
        self.build_crate(
            &workspace::root().join("crates/bigint-kernels"),
            LIBRARY_ROOM,
            &["--features", "entry-points"],
        )
    }

    /// Builds a device crate with its entry points, as one PTX module: below the target folder in this room.
    pub fn build_crate(&self, folder: &Path, room: &str, options: &[&str]) -> Result<String> {
        let package = package_name(folder)?;
        // Outside of the repository nothing is written to it.
        let folder = fs::canonicalize(folder).with_context(|| format!("{}", folder.display()))?;
        let target = match folder.starts_with(workspace::root()) {
            true => workspace::target(room),
            false => folder.join("target"),
        };
        let ptx = target.join(&package).with_extension("ptx");
        fs::create_dir_all(&target)?;
        let cargo = |task: &str| {
            let mut command = clean("cargo");
            command
                .args([task, "--release", "--package", &package, "--target", TARGET])
                .arg("--target-dir")
                .arg(&target)
                .env("RUSTC", &self.rustc)
                .env("RUSTC_BOOTSTRAP", "1")
                .current_dir(&folder);
            command
        };
        if !ptx.exists() {
            // Cargo does not know this file: it would take the build for fresh.
            output(cargo("clean").arg("--quiet"))?;
        }
        let mut emit = OsString::from("--emit=asm=");
        emit.push(&ptx);
        eprintln!(
            "compiling {package} with {}: the first time with all of core, for a minute",
            self.version
        );
        // Cargo says how far it is, and what is wrong.
        let mut compiling = cargo("rustc")
            .arg("-Zbuild-std=core")
            // Kernels inline what they call, so no machine code of these is used: the least is made.
            .args(["--config", "profile.release.package.core.opt-level=0"])
            .args(["--config", "profile.release.package.core.codegen-units=16"])
            .args([
                "--config",
                "profile.release.package.compiler_builtins.opt-level=0",
            ])
            .args(options)
            .arg("--")
            .arg(emit)
            // One unit, so that everything a kernel calls is inlined.
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3")
            // Debug sections would carry paths.
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            .env("CARGO_ENCODED_RUSTFLAGS", flags().join("\u{1f}"))
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot run cargo")?;
        if let Some(said) = compiling.stderr.take() {
            pass_on(BufReader::new(said), &mut io::stderr())?;
        }
        ensure!(
            compiling.wait()?.success(),
            "{package} does not compile for the device"
        );
        let text = fs::read_to_string(&ptx).with_context(|| format!("{}", ptx.display()))?;
        let text = with_shared_memory(text);
        refuse(&package, &text)?;
        Ok(text)
    }
}

/// Passes on what cargo says, but for what only follows from an error before: that a type which is
/// not there lacks each of its methods.
fn pass_on(said: impl BufRead, to: &mut impl Write) -> io::Result<()> {
    let (mut is_told, mut is_left_out) = (false, false);
    for line in said.lines() {
        let line = line?;
        if line.starts_with("error") {
            is_told |= line.starts_with("error[E0277]");
            is_left_out = is_told && line.ends_with("but its trait bounds were not satisfied");
        }
        if !is_left_out {
            writeln!(to, "{line}")?;
        }
        // A message ends with an empty line.
        is_left_out &= !line.is_empty();
    }
    Ok(())
}

/// The PTX with the block's shared memory declared. `bigint_kernels::gpu::shared` does so
/// where it is compiled, which for other device crates is another file.
fn with_shared_memory(ptx: String) -> String {
    const DECLARATION: &str = ".extern .shared .align 16 .b8 bigint_shared[];";
    const BEFORE: &str = ".address_size 64\n";
    if ptx.contains("bigint_shared") && !ptx.contains(DECLARATION) {
        ptx.replacen(BEFORE, &format!("{BEFORE}\n{DECLARATION}\n"), 1)
    } else {
        ptx
    }
}

/// The name of the package in a folder.
fn package_name(folder: &Path) -> Result<String> {
    #[derive(Deserialize)]
    struct Manifest {
        package: Package,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
    }
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let manifest: Manifest =
        toml::from_str(&text).with_context(|| format!("{}", path.display()))?;
    Ok(manifest.package.name)
}

/// Compilers that may have library sources, the likeliest first.
fn candidates() -> Vec<PathBuf> {
    let toolchains = output(clean("rustup").args(["toolchain", "list"])).unwrap_or_default();
    let mut candidates: Vec<PathBuf> = toolchains
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter_map(|name| {
            output(clean("rustup").args(["which", "--toolchain", name, "rustc"])).ok()
        })
        .map(|path| PathBuf::from(path.trim()))
        .collect();
    candidates.push(PathBuf::from("/usr/bin/rustc"));
    candidates
}

/// A kernel stands alone: PTX that calls or needs anything else is refused.
fn refuse(package: &str, ptx: &str) -> Result<()> {
    for (number, line) in ptx.lines().enumerate() {
        let line = line.trim();
        // The launch says how long the block's shared memory is, not a linker.
        let is_left = line.starts_with(".extern") && !line.starts_with(".extern .shared ");
        let why = if is_left {
            "is left for a linker, and there is none"
        } else if line.starts_with(".func") || line.starts_with("call") {
            "was not inlined"
        } else if line.starts_with("trap") || line.ends_with(" trap;") {
            "can fail: kernels have no checks"
        } else {
            continue;
        };
        bail!("{package}.ptx:{}: `{line}` {why}", number + 1);
    }
    Ok(())
}

/// A command without what `cargo run` and the user's environment would tell it
/// about another toolchain, other flags or another target directory.
fn clean(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let program = program.as_ref();
    // The cargo that runs this task, not the one a proxy would choose.
    let mut command = match env::var_os("CARGO") {
        Some(cargo) if program == "cargo" => Command::new(cargo),
        _ => Command::new(program),
    };
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let kept = ["CARGO_HOME", "CARGO_NET_", "CARGO_HTTP_"];
        let of_cargo = text.starts_with("CARGO") && !kept.iter().any(|kept| text.starts_with(kept));
        let of_rust = text.starts_with("RUST") && text != "RUSTUP_HOME";
        // Cargo adds the libraries of its own toolchain.
        if of_cargo || of_rust || text == "LD_LIBRARY_PATH" {
            command.env_remove(&name);
        }
    }
    command
}

/// What a command prints; its messages, if it fails.
fn output(command: &mut Command) -> Result<String> {
    let said = command
        .output()
        .with_context(|| format!("cannot run {}", command.get_program().display()))?;
    ensure!(
        said.status.success(),
        "{command:?} failed:\n{}",
        String::from_utf8_lossy(&said.stderr)
    );
    Ok(String::from_utf8(said.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::{pass_on, refuse};

    #[test]
    fn of_a_width_that_no_field_has_the_first_error_is_told() {
        let first = "   Compiling a v0.0.0\nerror[E0277]: numbers in registers have 2 or 4 limbs\n  --> src/lib.rs\n\n";
        let follows = "error[E0599]: the method `mul` exists for struct `Field<6>`, but its trait \
                       bounds were not satisfied\n  --> src/lib.rs\n\n";
        let last = "error[E0308]: mismatched types\n\nerror: could not compile `a`\n";
        let passed = |said: String| {
            let mut told = Vec::new();
            pass_on(said.as_bytes(), &mut told).unwrap();
            String::from_utf8(told).unwrap()
        };
        let said = [first, follows, follows, last].concat();
        assert_eq!(passed(said), [first, last].concat());
        // By itself it is an error as others are.
        assert_eq!(passed(follows.to_owned()), follows);
    }

    #[test]
    fn ptx_that_does_not_stand_alone_is_refused() {
        assert!(refuse("kernels", ".visible .entry add(\n)\n{\n\tret;\n}").is_ok());
        for line in [
            ".extern .func panic_bounds_check",
            ".func helper(",
            "call.uni helper, (param0);",
            "trap;",
            "@%p1 trap;",
        ] {
            let refused = refuse("kernels", &format!("ret;\n\t{line}\n"));
            let why = refused.unwrap_err().to_string();
            assert!(
                why.starts_with(&format!("kernels.ptx:2: `{line}`")),
                "{why}"
            );
        }
    }
}
