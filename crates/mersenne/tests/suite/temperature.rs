//! The temperature of a simulated device, told by a library in the place of NVIDIA's.
#![cfg(feature = "cuda")]

use std::path::Path;
use std::process::Command;

use bigint_testing::simulator::on_simulator;
use mersenne::{Backend, Cuda};

/// A library that tells 61 degrees for the first simulated device.
const LIBRARY: &str = r#"
int strcmp(const char *, const char *);
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device) {
    *device = (void *)1;
    return strcmp(id, "0000:01:00.0") ? 6 : 0;
}
int nvmlDeviceGetTemperature(void *device, unsigned sensor, unsigned *degrees) {
    *degrees = 61;
    return sensor == 0 ? 0 : 2;
}
"#;

/// Compiles the library, with what links Rust's programs.
fn library(folder: &Path) -> String {
    let (source, library) = (folder.join("nvml.c"), folder.join("libnvml.so"));
    std::fs::write(&source, LIBRARY).unwrap();
    let arguments = ["-shared", "-fPIC", "-fno-builtin", "-o"];
    let built = Command::new("cc")
        .args(arguments)
        .arg(&library)
        .arg(&source)
        .status();
    assert!(built.unwrap().success());
    library.to_str().unwrap().to_owned()
}

#[test]
fn a_device_is_found_by_its_place_on_the_bus() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("BIGINT_NVML", &*library(folder.path())),
        ("CUDA_SIM_DEVICES", "sm_90,sm_90"),
    ];
    if !on_simulator(
        "temperature::a_device_is_found_by_its_place_on_the_bus",
        &settings,
    ) {
        return;
    }
    assert_eq!(Cuda::open(0).unwrap().celsius(), Some(61));
    // The library does not know the second one.
    assert_eq!(Cuda::open(1).unwrap().celsius(), None);
}

#[test]
fn where_there_is_no_library_there_is_no_temperature() {
    let settings = [("BIGINT_NVML", "/nowhere/libnvml.so")];
    if on_simulator(
        "temperature::where_there_is_no_library_there_is_no_temperature",
        &settings,
    ) {
        assert_eq!(Cuda::open(0).unwrap().celsius(), None);
    }
}

#[test]
fn progress_and_status_tell_it() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(folder.path());
    if !on_simulator(
        "temperature::progress_and_status_tell_it",
        &[("BIGINT_NVML", &library)],
    ) {
        return;
    }
    let program = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mersenne"));
        command.args(arguments).arg("--folder").arg(folder.path());
        command
    };
    let mut test = program(&["ll", "44497", "--backend", "cuda", "--report-every", "1ms"]);
    let mut test = test.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let lines = std::io::BufReader::new(test.stderr.take().unwrap());
    let mut lines = std::io::BufRead::lines(lines).map(Result::unwrap);
    assert!(lines.any(|line| line.ends_with("cuda, 61 C")));
    let status = program(&["status"]).output().unwrap();
    test.kill().unwrap();
    test.wait().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    let row = status.lines().nth(1).expect("a row for the test");
    let cells: Vec<_> = row.split_whitespace().collect();
    assert!(
        cells.windows(2).any(|pair| pair == ["cuda", "61"]),
        "{status}"
    );
}
