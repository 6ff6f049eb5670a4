//! First forms of functions that have a later one with the same parameters.

use super::call;
use super::captures::cuStreamBeginCapture_v2;
use super::contexts::{
    cuCtxCreate_v2, cuCtxDestroy_v2, cuCtxPopCurrent_v2, cuCtxPushCurrent_v2,
    cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxSetFlags_v2,
};
use super::entries::entries;
use super::linkers::{cuLinkAddData_v2, cuLinkAddFile_v2, cuLinkCreate_v2};
use super::memories::cuMemHostRegister_v2;
use super::raw::{HostPointer, Out, Text, Values};
use super::streams::{cuEventDestroy_v2, cuStreamDestroy_v2};
use crate::state::handle::Handle;

/// Declares functions by the later ones that they are.
macro_rules! first {
    ($($name:ident($($arg:ident: $type:ty),*) = $later:ident($($value:expr),*);)*) => {
        entries! {
            $(bare fn $name($($arg: $type),*) | | {
                // SAFETY: both have the same contract.
                unsafe { $later($($value),*) }.result()
            })*
        }
    };
}

first! {
    cuCtxCreate(out: Out<Handle>, flags: u32, device: i32) = cuCtxCreate_v2(out, flags, device);
    cuCtxDestroy(context: Handle) = cuCtxDestroy_v2(context);
    cuCtxPushCurrent(context: Handle) = cuCtxPushCurrent_v2(context);
    cuCtxPopCurrent(out: Out<Handle>) = cuCtxPopCurrent_v2(out);
    cuDevicePrimaryCtxRelease(device: i32) = cuDevicePrimaryCtxRelease_v2(device);
    cuDevicePrimaryCtxReset(device: i32) = cuDevicePrimaryCtxReset_v2(device);
    cuDevicePrimaryCtxSetFlags(device: i32, flags: u32)
        = cuDevicePrimaryCtxSetFlags_v2(device, flags);
    cuMemHostRegister(pointer: HostPointer, bytes: usize, flags: u32)
        = cuMemHostRegister_v2(pointer, bytes, flags);
    cuStreamDestroy(stream: Handle) = cuStreamDestroy_v2(stream);
    cuEventDestroy(event: Handle) = cuEventDestroy_v2(event);
    // Its captures are global: CU_STREAM_CAPTURE_MODE_GLOBAL.
    cuStreamBeginCapture(stream: Handle) = cuStreamBeginCapture_v2(stream, 0);
    cuLinkCreate(count: u32, options: Values<u32>, values: Values<HostPointer>, out: Out<Handle>)
        = cuLinkCreate_v2(count, options, values, out);
    cuLinkAddData(
        linker: Handle, kind: u32, image: HostPointer, bytes: usize, name: Text, count: u32,
        options: Values<u32>, values: Values<HostPointer>
    ) = cuLinkAddData_v2(linker, kind, image, bytes, name, count, options, values);
    cuLinkAddFile(
        linker: Handle, kind: u32, path: Text, count: u32, options: Values<u32>,
        values: Values<HostPointer>
    ) = cuLinkAddFile_v2(linker, kind, path, count, options, values);
}
