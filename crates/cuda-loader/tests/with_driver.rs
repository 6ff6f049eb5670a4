//! What a program sees that has a driver: here, one built by the test.
#![allow(unsafe_code)] // Calls the driver API itself.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;
use std::sync::{Barrier, OnceLock};
use std::thread;

use cust_raw::{CUresult, cuDeviceGetCount, cuInit, cuLaunchKernel, cuTexRefSetMipmapLevelClamp};

mod common;

/// Builds the shared library of `fixture/driver.rs`.
fn fixture() -> PathBuf {
    static FIXTURE: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixture/driver.rs");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("libdriver_fixture_{}.so", std::process::id()));
        let status = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .args(["--edition=2024", "--crate-type=cdylib", "-O", "-o"])
            .args([&library, &source])
            .status()
            .expect("rustc starts");
        assert!(status.success(), "the fixture is valid Rust");
        library
    };
    FIXTURE.get_or_init(build).clone()
}

/// Launches with arguments in every integer register and on the stack.
fn launch() -> CUresult {
    let at = |address| ptr::without_provenance_mut(address);
    // SAFETY: the fixture reads through none of these pointers.
    unsafe {
        cuLaunchKernel(
            ptr::without_provenance_mut(usize::MAX),
            1,
            2,
            3,
            4,
            5,
            6,
            7,
            ptr::without_provenance_mut(8),
            at(9),
            at(10),
        )
    }
}

#[test]
fn arguments_arrive_on_the_first_call_and_on_later_ones() {
    if !common::in_own_process(
        "arguments_arrive_on_the_first_call_and_on_later_ones",
        fixture,
    ) {
        return;
    }
    for _ in 0..3 {
        assert_eq!(launch(), CUresult::CUDA_SUCCESS);
        // SAFETY: the fixture does not read through the pointer.
        let status =
            unsafe { cuTexRefSetMipmapLevelClamp(ptr::without_provenance_mut(11), 0.5, 1.5) };
        assert_eq!(status, CUresult::CUDA_SUCCESS);
        for code in [CUresult::CUDA_SUCCESS, CUresult::CUDA_ERROR_NOT_FOUND] {
            // SAFETY: any argument is valid; the fixture answers it.
            assert_eq!(unsafe { cuInit(code as u32) }, code);
        }
    }
}

#[test]
fn a_function_the_driver_lacks_is_not_supported() {
    if !common::in_own_process("a_function_the_driver_lacks_is_not_supported", fixture) {
        return;
    }
    let mut count = 7;
    // SAFETY: the address is valid for one integer.
    let status = unsafe { cuDeviceGetCount(&mut count) };
    assert_eq!((status, count), (CUresult::CUDA_ERROR_NOT_SUPPORTED, 7));
}

#[test]
fn the_driver_is_named_with_its_version() {
    if !common::in_own_process("the_driver_is_named_with_its_version", fixture) {
        return;
    }
    let driver = cuda_loader::driver().expect("the fixture is a driver");
    assert_eq!(driver.cuda_version, (13, 1));
    assert_eq!(
        Some(driver.library.into_os_string()),
        env::var_os("BIGINT_CUDA_DRIVER")
    );
}

#[test]
fn threads_that_make_the_first_call_at_once_all_arrive() {
    if !common::in_own_process(
        "threads_that_make_the_first_call_at_once_all_arrive",
        fixture,
    ) {
        return;
    }
    let start = Barrier::new(16);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                start.wait();
                assert_eq!(launch(), CUresult::CUDA_SUCCESS);
            });
        }
    });
}
