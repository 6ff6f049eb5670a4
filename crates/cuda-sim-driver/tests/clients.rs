//! Programs on libraries that nobody here wrote, with ours in place of NVIDIA's: Numba
//! from PyPI, what `nvcc` from PyPI makes of CUDA programs, thrust among them, and cudarc
//! from crates.io. They take some 200 MB, into the target folder and once, so they run
//! where `CUDA_SIM_CLIENTS=fetch` asks for it, as `.ci/run` does.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use sim::driver::library;

/// Numba with all it needs to compile kernels to PTX: NVVM, and the runtime's version.
const NUMBA: [&str; 4] = [
    "numba==0.61.2",
    "numpy==2.2.6",
    "nvidia-cuda-nvcc-cu12==12.1.105",
    "nvidia-cuda-runtime-cu12==12.1.105",
];

/// `nvcc` with all it needs but a host compiler, and thrust.
const NVCC: [&str; 5] = [
    "nvidia-cuda-cccl==13.0.85",
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
];

/// What `tests/on_runtime.cu` writes.
const RUNTIME_SAYS: &str = "\
0 wrong, sum right, time forward
last 123456789abcdef
0 of 1: 9.0, 4096 MiB, warps of 32, 49152 of 232448 bytes shared
kernel for 75, 49152 bytes of dynamic shared memory, resident yes
cudaErrorInvalidConfiguration
cudaErrorInvalidValue
cudaErrorInvalidValue
cudaErrorInvalidValue
cudaErrorInvalidDevice
cudaErrorIllegalAddress
cudaErrorIllegalAddress
7
";

#[test]
fn the_example_of_the_readme_computes_on_plain_python() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("SKIPPED: there is no python3");
        return;
    }
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/saxpy.py");
    let mut python = Command::new("python3");
    python.arg(example).arg(library());
    assert_eq!(
        run(python.env("CUDA_SIM_LEAKS", "fail")),
        "1000 numbers, 0 wrong\n"
    );
}

#[test]
fn numba_computes_what_numpy_does() {
    let Some(folder) = fetched("numba", &NUMBA) else {
        return;
    };
    let packages = folder.join("packages");
    let cuda = folder.join("cuda");
    // Numba looks for a toolkit's folders, and for names with versions.
    let nvidia = packages.join("nvidia");
    for (from, to) in [
        ("cuda_nvcc/nvvm/lib64/libnvvm.so", "nvvm/lib64/libnvvm.so.4"),
        ("cuda_nvcc/nvvm/libdevice", "nvvm/libdevice"),
        ("cuda_runtime/lib/libcudart.so.12", "lib64/libcudart.so.12"),
    ] {
        link(&nvidia.join(from), &cuda.join(to));
    }
    let drivers = folder.join("driver");
    link(library(), &drivers.join("libcuda.so.1"));
    for schedule in ["submission", "adversarial"] {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/on_numba.py");
        let mut python = Command::new("python3");
        python
            .arg(script)
            .env("PYTHONPATH", &packages)
            .env("CUDA_HOME", &cuda)
            .env("LD_LIBRARY_PATH", &drivers)
            .env("CUDA_SIM_SCHEDULE", schedule)
            .env("CUDA_SIM_LEAKS", "off");
        let said = run(&mut python);
        assert_eq!(said, "thread 0 says 2.500000\nthread 1 says 2.500000\n");
    }
}

#[test]
fn a_program_linked_to_the_cuda_runtime_runs() {
    let Some(program) = compiled("on_runtime") else {
        return;
    };
    for schedule in ["submission", "adversarial"] {
        let variables = [("CUDA_SIM_SCHEDULE", schedule)];
        assert_eq!(run_on_runtime(&program, &variables), RUNTIME_SAYS);
    }
}

#[test]
fn blocks_of_a_cooperative_launch_wait_for_each_other() {
    let Some(program) = compiled("on_grid") else {
        return;
    };
    for blocks in ["rotating", "random:1", "adversarial"] {
        let said = run_on_runtime(&program, &[("CUDA_SIM_BLOCKS", blocks)]);
        assert_eq!(said, "0 wrong, grid valid\n", "{blocks}");
    }
}

#[test]
fn thrust_sorts_scans_and_reduces() {
    let Some(program) = compiled("on_thrust") else {
        return;
    };
    let said = run_on_runtime(&program, &[]);
    assert_eq!(said, "sorted, scanned, sum right\n");
}

#[test]
fn a_program_of_cudarc_finds_every_function() {
    if !may_fetch("cudarc") {
        return;
    }
    let folder = library().with_file_name("cudarc");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/on_cudarc/Cargo.toml");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--locked", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(&folder);
    run(&mut cargo);
    let drivers = folder.join("driver");
    link(library(), &drivers.join("libcuda.so"));
    let mut program = Command::new(folder.join("debug/on-cudarc"));
    program
        .env("LD_LIBRARY_PATH", &drivers)
        .env("CUDA_SIM_LEAKS", "fail");
    assert_eq!(
        run(&mut program),
        "Simulated H200 (sm_90)\nlaunched: true\nfrom a graph: true\n\
         Some(CUDA_ERROR_NOT_FOUND)\n"
    );
}

/// What `nvcc` makes of a program beside this file, linked to NVIDIA's runtime as
/// everybody's programs are; none without `CUDA_SIM_CLIENTS=fetch`.
fn compiled(name: &str) -> Option<PathBuf> {
    let folder = nvcc_folder()?;
    let toolkit = folder.join("packages/nvidia/cu13");
    let program = folder.join(name);
    let source = format!("tests/{name}.cu");
    let mut nvcc = Command::new(toolkit.join("bin/nvcc"));
    nvcc.args(["--cudart", "shared", "-std=c++17"])
        .args(["-gencode", "arch=compute_75,code=[sm_75,compute_75]"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(source))
        .arg("-I")
        .arg(toolkit.join("include/cccl"))
        .arg("-L")
        .arg(toolkit.join("lib"))
        .arg("-o")
        .arg(&program);
    run(&mut nvcc);
    Some(program)
}

/// The folder with `nvcc`, with NVIDIA's runtime by the name that linkers look for and
/// with ours by the name that programs do; none without `CUDA_SIM_CLIENTS=fetch`.
fn nvcc_folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let fetch = || {
        let folder = fetched("nvcc", &NVCC)?;
        let theirs = folder.join("packages/nvidia/cu13/lib");
        link(
            &theirs.join("libcudart.so.13"),
            &theirs.join("libcudart.so"),
        );
        link(library(), &folder.join("runtime/libcudart.so.13"));
        Some(folder)
    };
    FOLDER.get_or_init(fetch).as_deref()
}

/// Runs such a program on ours, with these variables, and returns what it wrote.
fn run_on_runtime(program: &Path, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(program);
    command
        .env("LD_LIBRARY_PATH", program.with_file_name("runtime"))
        .env("CUDA_SIM_DRIVER_VERSION", "13.0")
        .env("CUDA_SIM_LEAKS", "fail")
        .envs(variables.iter().copied());
    run(&mut command)
}

/// Whether the environment lets tests fetch what they run; it says so if not.
fn may_fetch(name: &str) -> bool {
    let may = std::env::var_os("CUDA_SIM_CLIENTS").is_some_and(|asked| asked == "fetch");
    if !may {
        // Past the harness, which keeps what passing tests say to itself.
        let note = format!("SKIPPED: a test with {name}, without CUDA_SIM_CLIENTS=fetch");
        let _ = writeln!(std::io::stderr(), "{note}");
    }
    may
}

/// A folder beside the library with `packages`, if the environment asks for it.
fn fetched(name: &str, packages: &[&str]) -> Option<PathBuf> {
    if !may_fetch(name) {
        return None;
    }
    let folder = library().with_file_name(name);
    let whole = folder.join("whole");
    if !whole.exists() {
        // What an earlier run did not finish is begun again.
        let _ = std::fs::remove_dir_all(&folder);
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--target"]);
        run(pip.arg(folder.join("packages")).args(packages));
        std::fs::write(whole, "").expect("a mark");
    }
    Some(folder)
}

/// Makes a link, and its folder, anew.
fn link(to: &Path, name: &Path) {
    let folder = name.parent().expect("a folder within");
    std::fs::create_dir_all(folder).expect("a new folder");
    let _ = std::fs::remove_file(name);
    std::os::unix::fs::symlink(to, name).expect("a new link");
}

/// Runs a command, which must end well, and returns what it wrote to stdout.
fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|why| panic!("{command:?}: {why}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
