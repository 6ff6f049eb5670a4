//! Launches, and what there is to know of a kernel.

use super::call::{self, current, driver_call};
use super::programs::{is_kernel, kernel, no_kernel};
use crate::error::{Code, Result, invalid};
use crate::ffi::entries::entries;
use crate::ffi::launches::{
    LaunchConfig, cuLaunchCooperativeKernel, cuLaunchKernel, cuLaunchKernelEx,
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
};
use crate::ffi::modules::{attribute_of, cuFuncSetAttribute, known_function};
use crate::ffi::raw::{HostPointer, Out, Values};
use crate::state::handle::Handle;
use std::cell::RefCell;
use std::sync::atomic::Ordering;

/// A `dim3`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dim3 {
    x: u32,
    y: u32,
    z: u32,
}

/// The configuration of a launch, between `<<<` and `>>>`.
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: Handle,
}

/// A `cudaFuncAttributes`.
#[repr(C)]
pub struct FunctionAttributes {
    /// Bytes of shared, constant and local memory.
    bytes: [usize; 3],
    /// The numbers of the properties, in the order of [`NUMBERS`], and then reserved ones.
    numbers: [i32; 30],
}

/// Which `CUfunction_attribute` each of a kernel's attributes is.
const BYTES: [u32; 3] = [1, 2, 3];
const NUMBERS: [u32; 13] = [0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14];

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

entries! {
    runtime_wide fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared_bytes: usize, stream: Handle) | | {
        let configuration = Configuration { grid, block, shared_bytes, stream };
        CONFIGURATIONS.with_borrow_mut(|all| all.push(configuration));
        Ok(())
    }

    runtime_wide fn __cudaPopCallConfiguration(
        grid: Out<Dim3>,
        block: Out<Dim3>,
        shared_bytes: Out<usize>,
        stream: Out<Handle>,
    ) | | {
        let last = CONFIGURATIONS.with_borrow_mut(Vec::pop);
        let last = last.ok_or_else(|| Code::MISSING_CONFIGURATION.because("no launch is under way"))?;
        grid.set(last.grid)?;
        block.set(last.block)?;
        shared_bytes.set(last.shared_bytes)?;
        stream.set(last.stream)
    }

    // The program asks once for each place that launches, and looks at the answer of
    // the launch alone: so its own address is the handle, and the launch finds the rest.
    runtime_wide fn __cudaGetKernel(out: Out<u64>, function: u64) | | {
        if !is_kernel(function) {
            return Err(no_kernel(function));
        }
        out.set(function)
    }

    runtime fn __cudaLaunchKernel + _ptsz(
        function: u64,
        grid: Dim3,
        block: Dim3,
        params: Values<HostPointer>,
        shared_bytes: usize,
        stream: Handle,
    ) | | {
        launch(function, grid, block, params, shared_bytes, stream)
    }

    runtime fn cudaLaunchKernel + _ptsz(
        function: u64,
        grid: Dim3,
        block: Dim3,
        params: Values<HostPointer>,
        shared_bytes: usize,
        stream: Handle,
    ) | | {
        launch(function, grid, block, params, shared_bytes, stream)
    }

    runtime fn cudaLaunchCooperativeKernel + _ptsz(
        function: u64,
        grid: Dim3,
        block: Dim3,
        params: Values<HostPointer>,
        shared_bytes: usize,
        stream: Handle,
    ) | | {
        let kernel = kernel(function)?;
        let shared = shared_size(shared_bytes)?;
        let launched = driver_call!(cuLaunchCooperativeKernel(
            kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, params,
        ));
        launched.map_err(|code| refusal(code, kernel, shared))
    }

    runtime fn cudaLaunchKernelExC + _ptsz(
        config: Values<LaunchConfig>,
        function: u64,
        params: Values<HostPointer>,
    ) | | {
        let kernel = kernel(function)?;
        // The runtime's structure is the driver's but for the width of one field.
        let asked = config.get(0)?;
        if asked.shared_high != 0 {
            return Err(invalid("more than 4 GiB of dynamic shared memory"));
        }
        let launched = driver_call!(cuLaunchKernelEx(config, kernel, params, Values::NONE));
        launched.map_err(|code| refusal(code, kernel, asked.shared_bytes))
    }

    runtime fn cudaGetFuncBySymbol(out: Out<Handle>, function: u64) | | {
        out.set(kernel(function)?)
    }

    runtime fn cudaGetKernel(out: Out<Handle>, function: u64) | | {
        out.set(kernel(function)?)
    }

    runtime fn cudaFuncGetAttributes(out: Out<FunctionAttributes>, function: u64) | | {
        let context = current()?;
        let function = known_function(&context, kernel(function)?)?;
        let attribute = |number| attribute_of(&context, &function, number);
        let mut attributes = FunctionAttributes { bytes: [0; 3], numbers: [0; 30] };
        for (value, number) in attributes.bytes.iter_mut().zip(BYTES) {
            *value = attribute(number)? as usize;
        }
        for (value, number) in attributes.numbers.iter_mut().zip(NUMBERS) {
            *value = attribute(number)?;
        }
        out.set(attributes)
    }

    runtime fn cudaFuncSetAttribute(function: u64, attribute: u32, value: i32) | | {
        driver_call!(cuFuncSetAttribute(kernel(function)?, attribute, value))
    }

    runtime fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<i32>,
        function: u64,
        threads: i32,
        dynamic_shared: usize,
    ) | | {
        let kernel = kernel(function)?;
        driver_call!(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            blocks, kernel, threads, dynamic_shared, 0,
        ))
    }

    runtime fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<i32>,
        function: u64,
        threads: i32,
        dynamic_shared: usize,
        flags: u32,
    ) | | {
        let kernel = kernel(function)?;
        driver_call!(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            blocks, kernel, threads, dynamic_shared, flags,
        ))
    }
}

fn shared_size(bytes: usize) -> Result<u32> {
    u32::try_from(bytes).map_err(|_| invalid(format!("{bytes} bytes of dynamic shared memory")))
}

fn launch(
    function: u64,
    grid: Dim3,
    block: Dim3,
    params: Values<HostPointer>,
    shared_bytes: usize,
    stream: Handle,
) -> Result {
    let kernel = kernel(function)?;
    let shared = shared_size(shared_bytes)?;
    // `nvcc` passes a list even where there are no parameters.
    let launched = driver_call!(cuLaunchKernel(
        kernel,
        grid.x,
        grid.y,
        grid.z,
        block.x,
        block.y,
        block.z,
        shared,
        stream,
        params,
        Values::NONE,
    ));
    launched.map_err(|code| refusal(code, kernel, shared))
}

/// The runtime's answer where the driver's refuses a launch: a bad shape is
/// another error than other bad arguments.
fn refusal(code: Code, kernel: Handle, shared: u32) -> Code {
    let room = current().and_then(|context| known_function(&context, kernel));
    match room {
        Ok(function)
            if code == Code::INVALID_VALUE
                && shared <= function.max_dynamic_shared.load(Ordering::Relaxed) =>
        {
            Code::INVALID_CONFIGURATION
        }
        _ => code,
    }
}
