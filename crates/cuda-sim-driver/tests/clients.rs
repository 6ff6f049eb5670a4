//! A program that nobody here wrote: Numba from PyPI, on the library in place of
//! `libcuda.so.1`. It takes some 85 MB from PyPI, into the target folder and once, so
//! it runs where `CUDA_SIM_CLIENTS=fetch` asks for it, as `.ci/run` does.

mod support;

use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Numba with all it needs to compile kernels to PTX: NVVM, and the runtime's version.
const PACKAGES: [&str; 4] = [
    "numba==0.61.2",
    "numpy==2.2.6",
    "nvidia-cuda-nvcc-cu12==12.1.105",
    "nvidia-cuda-runtime-cu12==12.1.105",
];

#[test]
fn numba_computes_what_numpy_does() {
    if std::env::var_os("CUDA_SIM_CLIENTS").is_none_or(|asked| asked != "fetch") {
        // Past the harness, which keeps what passing tests say to itself.
        let note = "SKIPPED: numba_computes_what_numpy_does, without CUDA_SIM_CLIENTS=fetch";
        let _ = writeln!(std::io::stderr(), "{note}");
        return;
    }
    let library = support::library();
    let folder = library.with_file_name("numba");
    let packages = folder.join("packages");
    let cuda = folder.join("cuda");
    if !folder.join("whole").exists() {
        // What an earlier run did not finish is begun again.
        let _ = std::fs::remove_dir_all(&folder);
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--target"]);
        run(pip.arg(&packages).args(PACKAGES));
        // Numba looks for a toolkit's folders, and for names with versions.
        let nvidia = packages.join("nvidia");
        let link = |from: &str, to: &str| {
            let to = cuda.join(to);
            let parent = to.parent().expect("a folder within");
            std::fs::create_dir_all(parent).expect("a new folder");
            std::os::unix::fs::symlink(nvidia.join(from), to).expect("a new link");
        };
        link("cuda_nvcc/nvvm/lib64/libnvvm.so", "nvvm/lib64/libnvvm.so.4");
        link("cuda_nvcc/nvvm/libdevice", "nvvm/libdevice");
        link("cuda_runtime/lib/libcudart.so.12", "lib64/libcudart.so.12");
        std::fs::write(folder.join("whole"), "").expect("a mark");
    }
    let drivers = folder.join("driver");
    std::fs::create_dir_all(&drivers).expect("a folder");
    let name = drivers.join("libcuda.so.1");
    let _ = std::fs::remove_file(&name);
    std::os::unix::fs::symlink(library, &name).expect("a new link");
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

/// Runs a command, which must end well, and returns what it wrote to stdout.
fn run(command: &mut Command) -> String {
    let output = command.output().expect("python3 starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
