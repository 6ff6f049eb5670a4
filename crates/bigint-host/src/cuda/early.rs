//! Launches of raw kernels, and programmatic dependent ones: kernels that begin before the last one of their stream has
//! ended, and wait for it by themselves, which hides the time of a start.

use super::failure;
use bigint_core::Launch;
use bigint_core::weighted::long::EARLY_CAPABILITY;
use cust::device::{Device, DeviceAttribute};
use cust::error::CudaResult;
use cust::stream::Stream;
use cust::sys;
use std::ffi::c_void;

unsafe extern "C" {
    // `cust_raw` is older than it: CUDA 11.8. The answer is just a number here.
    fn cuLaunchKernelEx(
        config: *const LaunchConfig,
        function: sys::CUfunction,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> u32;
    // `cust_raw` declares it as well, with an enum for a result that lacks the codes of later drivers.
    fn cuLaunchKernel(
        function: sys::CUfunction,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared_bytes: u32,
        stream: sys::CUstream,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> u32;
}

/// A `CUlaunchConfig`.
#[repr(C)]
struct LaunchConfig {
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    stream: sys::CUstream,
    attributes: *const LaunchAttribute,
    count: u32,
}

/// A `CUlaunchAttribute`, of 64 bytes of values.
#[repr(C)]
struct LaunchAttribute {
    id: u32,
    padding: u32,
    value: [u64; 8],
}

/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
const PROGRAMMATIC_STREAM_SERIALIZATION: u32 = 6;

/// Launches a kernel that may begin before the last one has ended.
///
/// # Safety
/// That of any launch of the kernel with the parameter at this address; and the kernel waits for the one before it by itself.
pub(super) unsafe fn launch(
    function: sys::CUfunction,
    launch: Launch,
    stream: &Stream,
    parameter: *mut c_void,
) -> CudaResult<()> {
    let attribute = LaunchAttribute {
        id: PROGRAMMATIC_STREAM_SERIALIZATION,
        padding: 0,
        value: [1, 0, 0, 0, 0, 0, 0, 0],
    };
    let config = LaunchConfig {
        grid: [launch.grid, 1, 1],
        block: [launch.block, 1, 1],
        shared_bytes: launch.shared_bytes,
        stream: stream.as_inner(),
        attributes: &attribute,
        count: 1,
    };
    let mut parameters = [parameter];
    // SAFETY: the driver reads configuration, attribute and parameter before it returns; the rest
    // is this function's own contract.
    let code = unsafe {
        cuLaunchKernelEx(
            &config,
            function,
            parameters.as_mut_ptr(),
            std::ptr::null_mut(),
        )
    };
    failure::answered(code)
}

/// Launches a kernel behind the last one.
///
/// # Safety
/// That of any launch of the kernel with the parameter at this address.
pub(super) unsafe fn launch_in_turn(
    function: sys::CUfunction,
    launch: Launch,
    stream: &Stream,
    parameter: *mut c_void,
) -> CudaResult<()> {
    let mut parameters = [parameter];
    // SAFETY: the driver reads the parameter before it returns; the rest is this function's own contract.
    let code = unsafe {
        cuLaunchKernel(
            function,
            launch.grid,
            1,
            1,
            launch.block,
            1,
            1,
            launch.shared_bytes,
            stream.as_inner(),
            parameters.as_mut_ptr(),
            std::ptr::null_mut(),
        )
    };
    failure::answered(code)
}

/// Whether a kernel can begin before the last one has ended.
pub(super) fn is_possible(device: Device) -> CudaResult<bool> {
    let number = |attribute| Ok(device.get_attribute(attribute)?.unsigned_abs());
    let major = number(DeviceAttribute::ComputeCapabilityMajor)?;
    let minor = number(DeviceAttribute::ComputeCapabilityMinor)?;
    Ok((major, minor) >= EARLY_CAPABILITY)
}
