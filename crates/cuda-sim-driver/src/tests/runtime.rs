//! The runtime API, as the code that `nvcc` writes around a program calls it.

#![allow(unsafe_code)] // Calls C functions, as a program would.

use super::api::answer;
use super::libraries::{fat_binary, image};
use super::{process, program};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null;

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Dim3(u32, u32, u32);

/// A `__fatBinC_Wrapper_t`.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    binary: *const u8,
    file: *const c_char,
}

/// A `cudaLaunchConfig_t`.
#[repr(C)]
struct Config {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: usize,
    attributes: *const c_void,
    count: u32,
}

unsafe extern "C" {
    fn __cudaRegisterFatBinary(wrapper: *const Wrapper) -> usize;
    fn __cudaRegisterFatBinaryEnd(binary: usize);
    fn __cudaUnregisterFatBinary(binary: usize);
    fn __cudaRegisterFunction(
        binary: usize,
        function: *const u8,
        device_function: *const c_char,
        name: *const c_char,
        threads: i32,
        thread: *const c_void,
        block: *const c_void,
        block_shape: *const c_void,
        grid_shape: *const c_void,
        warp: *const c_void,
    );
    fn __cudaRegisterVar(
        binary: usize,
        variable: *const u8,
        device_address: *const c_char,
        name: *const c_char,
        external: i32,
        bytes: usize,
        constant: i32,
        global: i32,
    );
    fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: usize, stream: usize) -> u32;
    fn __cudaPopCallConfiguration(
        grid: *mut Dim3,
        block: *mut Dim3,
        shared: *mut usize,
        stream: *mut usize,
    ) -> u32;
    fn cudaLaunchKernel(
        function: *const u8,
        grid: Dim3,
        block: Dim3,
        params: *mut *mut c_void,
        shared: usize,
        stream: usize,
    ) -> u32;
    fn cudaLaunchKernelExC(
        config: *const Config,
        function: *const u8,
        params: *mut *mut c_void,
    ) -> u32;
    fn cudaMemcpy2D(
        to: *mut c_void,
        to_pitch: usize,
        from: u64,
        from_pitch: usize,
        width: usize,
        height: usize,
        direction: u32,
    ) -> u32;
    fn cudaMemset2D(to: u64, pitch: usize, value: i32, width: usize, height: usize) -> u32;
    fn cudaPointerGetAttributes(out: *mut [u64; 11], address: u64) -> u32;
    fn cudaGetDriverEntryPoint(
        symbol: *const c_char,
        function: *mut usize,
        flags: u64,
        status: *mut u32,
    ) -> u32;
    fn cudaMalloc(out: *mut u64, bytes: usize) -> u32;
    fn cudaFree(address: u64) -> u32;
    fn cudaMemcpy(to: *mut c_void, from: u64, bytes: usize, direction: u32) -> u32;
    fn cudaMemcpyFromSymbol(
        to: *mut c_void,
        symbol: *const u8,
        bytes: usize,
        offset: usize,
        direction: u32,
    ) -> u32;
    fn cudaSetDevice(device: i32) -> u32;
    fn cudaGetDevice(device: *mut i32) -> u32;
    fn cudaGetLastError() -> u32;
    fn cudaPeekAtLastError() -> u32;
    fn cudaGetErrorName(code: u32) -> *const c_char;
}

const RUNTIME_13: (&str, &str) = ("CUDA_SIM_DRIVER_VERSION", "13.0");
/// What stands for the kernel, the variable and nothing in the program.
static PUT: u8 = 0;
static LAST: u8 = 0;
static NOTHING: u8 = 0;

/// Registers a program with the kernel `put` and the variable `last`.
fn register(machine_code: bool) -> usize {
    let source = image();
    let kind = if machine_code { 2 } else { 1 };
    let binary = fat_binary(&[(kind, 75, 0, &source, 0)]).leak();
    let wrapper = Box::leak(Box::new(Wrapper {
        magic: 0x4662_43b1,
        version: 1,
        binary: binary.as_ptr(),
        file: null(),
    }));
    // SAFETY: the binary and its wrapper are never freed, and the names are C strings.
    unsafe {
        let handle = __cudaRegisterFatBinary(wrapper);
        let name = c"put".as_ptr();
        __cudaRegisterFunction(
            handle,
            &PUT,
            name,
            name,
            -1,
            null(),
            null(),
            null(),
            null(),
            null(),
        );
        let name = c"last".as_ptr();
        __cudaRegisterVar(handle, &LAST, name, name, 0, 4, 0, 0);
        __cudaRegisterFatBinaryEnd(handle);
        handle
    }
}

fn launch(function: &'static u8, block: u32, mut out: u64) -> Result<(), u32> {
    let mut params = [(&raw mut out).cast::<c_void>()];
    let (grid, block) = (Dim3(1, 1, 1), Dim3(block, 1, 1));
    // SAFETY: there is a pointer to each parameter.
    answer(unsafe { cudaLaunchKernel(function, grid, block, params.as_mut_ptr(), 0, 0) })
}

fn malloc(bytes: usize) -> Result<u64, u32> {
    let mut address = 0;
    // SAFETY: the pointer is good for the write.
    answer(unsafe { cudaMalloc(&mut address, bytes) }).map(|()| address)
}

/// Launches `put`, and reads what it wrote to memory and to the variable.
fn put() -> (u32, u32) {
    let out = malloc(4).expect("memory");
    launch(&PUT, 1, out).expect("launched");
    let (mut there, mut last) = (0_u32, 0_u32);
    // SAFETY: the pointers are good for four bytes.
    unsafe {
        assert_eq!(cudaMemcpy((&raw mut there).cast(), out, 4, 2), 0);
        assert_eq!(
            cudaMemcpyFromSymbol((&raw mut last).cast(), &LAST, 4, 0, 2),
            0
        );
        assert_eq!(cudaFree(out), 0);
    }
    (there, last)
}

#[test]
fn each_thread_has_a_device_and_an_error_of_its_own() {
    program(&[RUNTIME_13, ("CUDA_SIM_DEVICES", "2xsm_90")], || {
        register(false);
        assert_eq!(put(), (7, 7));
        assert_eq!(launch(&NOTHING, 1, 0), Err(98));
        let other = std::thread::spawn(|| {
            let mut device = -1;
            // SAFETY: the pointer is good for the write.
            unsafe {
                assert_eq!(cudaGetLastError(), 0);
                assert_eq!(cudaSetDevice(2), 101);
                assert_eq!(cudaSetDevice(1), 0);
                assert_eq!(cudaGetDevice(&mut device), 0);
            }
            assert_eq!((device, put()), (1, (7, 7)));
        });
        other.join().expect("it ends well");
        let mut device = -1;
        // SAFETY: as above.
        unsafe {
            assert_eq!(cudaGetDevice(&mut device), 0);
            assert_eq!(cudaPeekAtLastError(), 98);
            assert_eq!(cudaGetLastError(), 98);
            assert_eq!(cudaGetLastError(), 0);
        }
        assert_eq!(device, 0);
        // A block of more threads than there can be.
        assert_eq!(launch(&PUT, 2048, 0), Err(9));
        assert_eq!(malloc(0), Ok(0));
    });
}

#[test]
fn a_launch_may_have_a_configuration() {
    program(&[RUNTIME_13], || {
        register(false);
        let mut out = malloc(4).expect("memory");
        let mut params = [(&raw mut out).cast::<c_void>()];
        let mut launch = |shared| {
            let one = Dim3(1, 1, 1);
            let config = Config {
                grid: one,
                block: one,
                shared,
                stream: 0,
                attributes: null(),
                count: 0,
            };
            // SAFETY: there is a pointer to each parameter.
            answer(unsafe { cudaLaunchKernelExC(&config, &PUT, params.as_mut_ptr()) })
        };
        assert_eq!(launch(1 << 32), Err(1));
        assert_eq!(launch(0), Ok(()));
        let mut there = 0_u32;
        // SAFETY: good for four bytes.
        unsafe {
            assert_eq!(cudaMemcpy((&raw mut there).cast(), out, 4, 2), 0);
            assert_eq!(cudaFree(out), 0);
        }
        assert_eq!(there, 7);
    });
}

#[test]
fn memory_has_a_side_and_rows() {
    program(&[RUNTIME_13], || {
        let memory = malloc(4 * 16).expect("memory");
        let mut rows = [[0_u8; 5]; 4];
        let host = rows.as_mut_ptr().cast::<c_void>();
        let mut attributes = [9; 11];
        // SAFETY: the pointers are good for what is written: four rows of 3 bytes.
        unsafe {
            assert_eq!(cudaMemset2D(memory, 16, 6, 3, 4), 0);
            // The other direction than the addresses say.
            assert_eq!(cudaMemcpy2D(host, 5, memory, 16, 3, 4, 1), 1);
            assert_eq!(cudaMemcpy2D(host, 5, memory, 16, 3, 4, 2), 0);
            assert_eq!(cudaPointerGetAttributes(&mut attributes, memory + 8), 0);
            // Device memory, of device 0, at that address, and not on the host.
            assert_eq!(attributes[..4], [2, memory + 8, 0, 0]);
            let host = host.expose_provenance() as u64;
            assert_eq!(cudaPointerGetAttributes(&mut attributes, host), 0);
            // Nobody's, of device -2.
            assert_eq!(attributes[..4], [0xffff_fffe << 32, 0, host, 0]);
            assert_eq!(cudaFree(memory), 0);
        }
        assert_eq!(rows, [[6, 6, 6, 0, 0]; 4]);
    });
}

#[test]
fn the_driver_is_found_by_name() {
    program(&[RUNTIME_13], || {
        let find = |name: &CStr| {
            let (mut function, mut status) = (9, 9);
            // SAFETY: a C string, and pointers that are good for the writes.
            let code =
                unsafe { cudaGetDriverEntryPoint(name.as_ptr(), &mut function, 0, &mut status) };
            (code, function != 0, status)
        };
        assert_eq!(find(c"cuMemAlloc"), (0, true, 0));
        assert_eq!(find(c"cuFrobnicate"), (0, false, 1));
    });
}

#[test]
fn configurations_are_taken_back_in_turn() {
    program(&[RUNTIME_13], || {
        let (mut grid, mut block) = (Dim3(0, 0, 0), Dim3(0, 0, 0));
        let (mut shared, mut stream) = (0, 0);
        let mut pop = || {
            // SAFETY: the pointers are good for the writes.
            let code = unsafe {
                __cudaPopCallConfiguration(&mut grid, &mut block, &mut shared, &mut stream)
            };
            answer(code).map(|()| (grid, block, shared, stream))
        };
        for n in [1, 2] {
            let (grid, block) = (Dim3(n, 2, 3), Dim3(4, 5, n));
            // SAFETY: only numbers are passed.
            let code = unsafe { __cudaPushCallConfiguration(grid, block, n as usize, 8) };
            assert_eq!(code, 0);
        }
        for n in [2, 1] {
            assert_eq!(pop(), Ok((Dim3(n, 2, 3), Dim3(4, 5, n), n as usize, 8)));
        }
        assert_eq!(pop(), Err(52));
    });
}

#[test]
fn what_cannot_run_fails_at_its_use() {
    // Not at the registration, which happens before `main`.
    program(&[RUNTIME_13], || {
        let binary = register(true);
        assert_eq!(launch(&PUT, 1, 0), Err(209));
        // SAFETY: the handle is looked up.
        unsafe { __cudaUnregisterFatBinary(binary) };
        assert_eq!(launch(&PUT, 1, 0), Err(98));
        register(false);
        assert_eq!(put(), (7, 7));
    });
}

#[test]
fn an_older_driver_does_not_do() {
    program(&[], || assert_eq!(malloc(4), Err(35)));
}

#[test]
fn calls_of_the_driver_beneath_fail_on_request() {
    let faulty = [RUNTIME_13, ("CUDA_SIM_FAULT", "cuMemAlloc_v2:1=2")];
    program(&faulty, || {
        assert_eq!(malloc(4), Err(2));
        register(false);
        assert_eq!(put(), (7, 7));
    });
}

#[test]
fn memory_that_a_program_does_not_free_is_a_leak() {
    let leaky = [RUNTIME_13, ("CUDA_SIM_LEAKS", "fail")];
    let ended = process(&leaky, || {
        register(false);
        put();
        malloc(4).expect("memory");
    });
    assert_eq!(ended.code, Some(86));
    assert!(ended.stderr.contains("not freed by the program: 1\n"));
}

#[test]
fn errors_have_the_names_of_the_runtime() {
    let name = |code| {
        // SAFETY: the answer is a C string that is never freed.
        unsafe { CStr::from_ptr(cudaGetErrorName(code)) }.to_str()
    };
    assert_eq!(name(0), Ok("cudaSuccess"));
    assert_eq!(name(2), Ok("cudaErrorMemoryAllocation"));
    assert_eq!(name(98), Ok("cudaErrorInvalidDeviceFunction"));
    assert_eq!(name(719), Ok("cudaErrorLaunchFailure"));
    assert_eq!(name(123_456), Ok("unrecognized error code"));
}
