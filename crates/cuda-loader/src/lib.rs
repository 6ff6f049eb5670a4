#![doc = include_str!("../README.md")]
#![allow(unsafe_code)] // Loading a library, and jumping into it, is all this crate does.

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
compile_error!(
    "cuda-loader knows the calling conventions of Linux on x86-64 and AArch64 only; \
     build without the `cuda` feature elsewhere"
);

#[cfg_attr(target_arch = "x86_64", path = "arch/x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "arch/aarch64.rs")]
mod arch;
mod functions;
mod library;

pub use library::{DRIVER_VARIABLE, DriverError, DriverInfo, driver, exit};
