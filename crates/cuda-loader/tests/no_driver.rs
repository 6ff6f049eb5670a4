//! What a program sees that has no driver.
#![allow(unsafe_code)] // Calls the driver API itself.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::ptr;

use cuda_loader::{DriverError, driver};
use cust_raw::{CUresult, cuDeviceGetCount, cuGetErrorName, cuGetErrorString, cuInit};

mod common;

#[test]
fn without_a_driver_every_function_answers_no_device() {
    let missing = Path::new("/nonexistent/libcuda.so.1");
    if !common::in_own_process("without_a_driver_every_function_answers_no_device", || {
        missing.into()
    }) {
        return;
    }
    // SAFETY: any argument is valid.
    assert_eq!(unsafe { cuInit(0) }, CUresult::CUDA_ERROR_NO_DEVICE);
    let mut count = 7;
    // SAFETY: the address is valid for one integer.
    let status = unsafe { cuDeviceGetCount(&mut count) };
    assert_eq!((status, count), (CUresult::CUDA_ERROR_NO_DEVICE, 7));

    let error = driver().expect_err("no driver has this path");
    assert!(matches!(&error, DriverError::Unloadable { library, .. } if library == missing));
    assert!(
        error.to_string().contains("/nonexistent/libcuda.so.1"),
        "{error}"
    );
    assert!(error.to_string().contains("BIGINT_CUDA_DRIVER"), "{error}");
}

#[test]
fn the_error_of_a_missing_driver_can_be_printed() {
    let missing = Path::new("/nonexistent/libcuda.so.1");
    if !common::in_own_process("the_error_of_a_missing_driver_can_be_printed", || {
        missing.into()
    }) {
        return;
    }
    for describe in [cuGetErrorName, cuGetErrorString] {
        let mut text = ptr::null();
        // SAFETY: the address is valid for one pointer.
        let status = unsafe { describe(CUresult::CUDA_ERROR_NO_DEVICE, &mut text) };
        assert_eq!(status, CUresult::CUDA_SUCCESS);
        // SAFETY: on success the pointer is to a string that lives for ever.
        assert!(!unsafe { CStr::from_ptr(text) }.is_empty());
    }
}

#[test]
fn a_library_that_is_no_driver_is_named_as_such() {
    let mathematics = Path::new("libm.so.6");
    if !common::in_own_process("a_library_that_is_no_driver_is_named_as_such", || {
        mathematics.into()
    }) {
        return;
    }
    let error = driver().expect_err("the C library is no driver");
    assert_eq!(
        error,
        DriverError::NotADriver {
            library: mathematics.into(),
            function: "cuInit"
        }
    );
    // SAFETY: any argument is valid.
    assert_eq!(unsafe { cuInit(0) }, CUresult::CUDA_ERROR_NO_DEVICE);
}

#[test]
fn an_empty_variable_means_the_systems_driver() {
    if !common::in_own_process("an_empty_variable_means_the_systems_driver", PathBuf::new) {
        return;
    }
    match driver() {
        Ok(driver) => assert_eq!(driver.library, Path::new("libcuda.so.1")),
        Err(error) => {
            assert!(
                matches!(&error, DriverError::NotInstalled { .. }),
                "{error}"
            );
            // SAFETY: any argument is valid.
            assert_eq!(unsafe { cuInit(0) }, CUresult::CUDA_ERROR_NO_DEVICE);
        }
    }
}
