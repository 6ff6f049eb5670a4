//! Calls of the CUDA driver API in any order and with any handles: each answers.
//!
//! `libcuda_sim_driver.so` is loaded as a program would load it: `cargo build -p cuda-sim-driver`, with the
//! fuzzer's own `RUSTFLAGS` where what it covers is to guide the search.
#![no_main]
// The calls are foreign functions.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};
use std::sync::LazyLock;

use libloading::{Library, Symbol};

/// What a call is given where it takes a handle or a device's address.
#[derive(arbitrary::Arbitrary, Clone, Copy, Debug)]
enum Handle {
    Null,
    /// The one that this earlier call gave.
    Given(u8),
    Any(u64),
}

#[derive(arbitrary::Arbitrary, Clone, Copy, Debug)]
enum Call {
    CreateContext,
    DestroyContext(Handle),
    SetContext(Handle),
    PopContext,
    Synchronize,
    Allocate(u16),
    Free(Handle),
    Fill(Handle, u8, u16),
    ToDevice(Handle, u8),
    ToHost(Handle, u8),
    Within(Handle, Handle, u16),
    Load,
    Unload(Handle),
    Function(Handle),
    Launch(Handle, u8, u8, Handle),
    CreateStream,
    DestroyStream(Handle),
    SynchronizeStream(Handle),
    CreateEvent,
    DestroyEvent(Handle),
    Record(Handle, Handle),
    Wait(Handle, Handle),
    Elapsed(Handle, Handle),
}

const PTX: &std::ffi::CStr = c".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %d<3>;\n.reg .b32 %r<2>;\nld.param.u64 %d0, [p];\nmov.u32 %r0, %tid.x;\nst.global.u32 [%d0], %r0;\nret;\n}\n";

type Answer = i32;

static DRIVER: LazyLock<Library> = LazyLock::new(|| {
    let path = std::env::var_os("BIGINT_CUDA_DRIVER").unwrap_or_else(|| {
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../target/debug/deps/libcuda_sim_driver.so"
        )
        .into()
    });
    // SAFETY: the library has no initialiser that asks for anything.
    let library = unsafe { Library::new(&path) };
    library.unwrap_or_else(|error| panic!("{error}: build it by `cargo build -p cuda-sim-driver`"))
});

macro_rules! call {
    ($name:literal ($($argument:expr => $type:ty),*)) => {{
        // SAFETY: the driver API declares the function so; what pointers it is given is said by `make`.
        let function: Symbol<'_, unsafe extern "C" fn($($type),*) -> Answer> =
            unsafe { DRIVER.get(concat!($name, "\0").as_bytes()) }.expect("the driver has it");
        // SAFETY: pointers to the host are to memory that is there for as long as the call; handles
        // are any numbers, which the driver looks up.
        unsafe { function($($argument),*) }
    }};
}

/// Makes a call; the handle that it gave.
fn make(call: Call, given: &[u64], memory: &mut [u8; 256]) -> Option<u64> {
    let of = |handle| match handle {
        Handle::Null => 0,
        Handle::Given(which) if given.is_empty() => u64::from(which),
        Handle::Given(which) => given[usize::from(which) % given.len()],
        Handle::Any(value) => value,
    };
    let mut made = 0u64;
    let out = &raw mut made;
    let host = memory.as_mut_ptr().cast::<c_void>();
    let answer = match call {
        Call::CreateContext => call!("cuCtxCreate_v2"(out => *mut u64, 0 => u32, 0 => i32)),
        Call::DestroyContext(context) => call!("cuCtxDestroy_v2"(of(context) => u64)),
        Call::SetContext(context) => call!("cuCtxSetCurrent"(of(context) => u64)),
        Call::PopContext => call!("cuCtxPopCurrent_v2"(out => *mut u64)),
        Call::Synchronize => call!("cuCtxSynchronize"()),
        Call::Allocate(bytes) => call!("cuMemAlloc_v2"(out => *mut u64, bytes.into() => usize)),
        Call::Free(at) => call!("cuMemFree_v2"(of(at) => u64)),
        Call::Fill(at, byte, bytes) => {
            call!("cuMemsetD8_v2"(of(at) => u64, byte => u8, bytes.into() => usize))
        }
        Call::ToDevice(at, bytes) => {
            call!("cuMemcpyHtoD_v2"(of(at) => u64, host => *const c_void, bytes.into() => usize))
        }
        Call::ToHost(at, bytes) => {
            call!("cuMemcpyDtoH_v2"(host => *mut c_void, of(at) => u64, bytes.into() => usize))
        }
        Call::Within(to, from, bytes) => {
            call!("cuMemcpyDtoD_v2"(of(to) => u64, of(from) => u64, bytes.into() => usize))
        }
        Call::Load => call!("cuModuleLoadData"(out => *mut u64, PTX.as_ptr() => *const c_char)),
        Call::Unload(module) => call!("cuModuleUnload"(of(module) => u64)),
        Call::Function(module) => {
            call!("cuModuleGetFunction"(out => *mut u64, of(module) => u64, c"k".as_ptr() => *const c_char))
        }
        Call::Launch(function, blocks, threads, at) => {
            let mut address = of(at);
            let mut parameters = [(&raw mut address).cast::<c_void>()];
            call!("cuLaunchKernel"(
                of(function) => u64, blocks.into() => u32, 1 => u32, 1 => u32, threads.into() => u32,
                1 => u32, 1 => u32, 0 => u32, 0 => u64, parameters.as_mut_ptr() => *mut *mut c_void,
                std::ptr::null_mut() => *mut *mut c_void
            ))
        }
        Call::CreateStream => call!("cuStreamCreate"(out => *mut u64, 0 => u32)),
        Call::DestroyStream(stream) => call!("cuStreamDestroy_v2"(of(stream) => u64)),
        Call::SynchronizeStream(stream) => call!("cuStreamSynchronize"(of(stream) => u64)),
        Call::CreateEvent => call!("cuEventCreate"(out => *mut u64, 0 => u32)),
        Call::DestroyEvent(event) => call!("cuEventDestroy_v2"(of(event) => u64)),
        Call::Record(event, stream) => call!("cuEventRecord"(of(event) => u64, of(stream) => u64)),
        Call::Wait(stream, event) => {
            call!("cuStreamWaitEvent"(of(stream) => u64, of(event) => u64, 0 => u32))
        }
        Call::Elapsed(from, to) => {
            let mut milliseconds = 0f32;
            call!("cuEventElapsedTime"(&raw mut milliseconds => *mut f32, of(from) => u64, of(to) => u64))
        }
    };
    (answer == 0 && made != 0).then_some(made)
}

libfuzzer_sys::fuzz_target!(|calls: Vec<Call>| {
    call!("cuInit"(0 => u32));
    let (mut given, mut memory) = (Vec::new(), [0; 256]);
    for &call in calls.iter().take(100) {
        given.extend(make(call, &given, &mut memory));
    }
    // Nothing that one input left is there for the next.
    while let Some(context) = make(Call::PopContext, &given, &mut memory) {
        make(
            Call::DestroyContext(Handle::Any(context)),
            &given,
            &mut memory,
        );
    }
    for &handle in &given {
        make(
            Call::DestroyContext(Handle::Any(handle)),
            &given,
            &mut memory,
        );
    }
});
