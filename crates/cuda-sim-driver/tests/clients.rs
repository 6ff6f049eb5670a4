//! Programs that nobody here wrote, on the library in place of NVIDIA's: Numba from PyPI,
//! and what `nvcc` from PyPI makes of a CUDA program. They take some 85 and 100 MB from
//! PyPI, into the target folder and once, so they run where `CUDA_SIM_CLIENTS=fetch`
//! asks for it, as `.ci/run` does.

mod support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Numba with all it needs to compile kernels to PTX: NVVM, and the runtime's version.
const NUMBA: [&str; 4] = [
    "numba==0.61.2",
    "numpy==2.2.6",
    "nvidia-cuda-nvcc-cu12==12.1.105",
    "nvidia-cuda-runtime-cu12==12.1.105",
];

/// `nvcc` with all it needs but a host compiler.
const NVCC: [&str; 4] = [
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
    link(support::library(), &drivers.join("libcuda.so.1"));
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
    let Some(folder) = fetched("nvcc", &NVCC) else {
        return;
    };
    let toolkit = folder.join("packages/nvidia/cu13");
    let theirs = toolkit.join("lib");
    link(
        &theirs.join("libcudart.so.13"),
        &theirs.join("libcudart.so"),
    );
    let program = folder.join("on_runtime");
    // Linked to NVIDIA's library, as everybody's programs are.
    let mut nvcc = Command::new(toolkit.join("bin/nvcc"));
    nvcc.args(["--cudart", "shared", "-std=c++17"])
        .args(["-gencode", "arch=compute_75,code=[sm_75,compute_75]"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/on_runtime.cu"))
        .arg("-L")
        .arg(&theirs)
        .arg("-o")
        .arg(&program);
    run(&mut nvcc);
    let ours = folder.join("runtime");
    link(support::library(), &ours.join("libcudart.so.13"));
    for schedule in ["submission", "adversarial"] {
        let mut program = Command::new(&program);
        program
            .env("LD_LIBRARY_PATH", &ours)
            .env("CUDA_SIM_DRIVER_VERSION", "13.0")
            .env("CUDA_SIM_SCHEDULE", schedule)
            .env("CUDA_SIM_LEAKS", "fail");
        assert_eq!(run(&mut program), RUNTIME_SAYS);
    }
}

/// A folder beside the library with `packages`, if the environment asks for it.
fn fetched(name: &str, packages: &[&str]) -> Option<PathBuf> {
    if std::env::var_os("CUDA_SIM_CLIENTS").is_none_or(|asked| asked != "fetch") {
        // Past the harness, which keeps what passing tests say to itself.
        let note = format!("SKIPPED: the test with {name}, without CUDA_SIM_CLIENTS=fetch");
        let _ = writeln!(std::io::stderr(), "{note}");
        return None;
    }
    let folder = support::library().with_file_name(name);
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
