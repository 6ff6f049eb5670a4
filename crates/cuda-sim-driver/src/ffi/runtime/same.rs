//! What the runtime and the driver call differently and do alike.

use super::driver_call;
use crate::ffi::contexts::{
    cuCtxGetLimit, cuCtxGetStreamPriorityRange, cuCtxSetLimit, cuCtxSynchronize,
};
use crate::ffi::devices::cuDeviceCanAccessPeer;
use crate::ffi::entries;
use crate::ffi::memories::{
    cuMemAllocHost_v2, cuMemAllocManaged, cuMemFree_v2, cuMemGetInfo_v2, cuMemHostAlloc,
    cuMemHostRegister_v2, cuMemHostUnregister,
};
use crate::ffi::pools::cuMemFreeAsync;
use crate::ffi::raw::{HostFunction, HostPointer, Out};
use crate::ffi::streams::{
    cuEventCreate, cuEventDestroy_v2, cuEventElapsedTime_v2, cuEventQuery, cuEventRecord,
    cuEventRecordWithFlags, cuEventSynchronize, cuLaunchHostFunc, cuStreamCreate,
    cuStreamCreateWithPriority, cuStreamDestroy_v2, cuStreamQuery, cuStreamSynchronize,
    cuStreamWaitEvent,
};
use crate::handle::Handle;

/// Declares functions of the runtime by the functions of the driver that they are.
macro_rules! same {
    ($($name:ident $(+ $suffix:ident)? ($($arg:ident: $type:ty),*) = $driver:ident($($value:expr),*);)*) => {
        entries! {
            $(runtime fn $name $(+ $suffix)? ($($arg: $type),*) | | {
                driver_call!($driver($($value),*))
            })*
        }
    };
}

same! {
    cudaDeviceSynchronize() = cuCtxSynchronize();
    cudaDeviceSetLimit(limit: u32, value: usize) = cuCtxSetLimit(limit, value);
    cudaDeviceGetLimit(value: Out<usize>, limit: u32) = cuCtxGetLimit(value, limit);
    cudaDeviceGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>)
        = cuCtxGetStreamPriorityRange(least, greatest);
    cudaDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32)
        = cuDeviceCanAccessPeer(can, device, peer);

    cudaMemGetInfo(free: Out<usize>, total: Out<usize>) = cuMemGetInfo_v2(free, total);
    cudaFree(address: u64) = cuMemFree_v2(address);
    cudaFreeAsync + _ptsz(address: u64, stream: Handle) = cuMemFreeAsync(address, stream);
    cudaMallocManaged(out: Out<u64>, bytes: usize, flags: u32)
        = cuMemAllocManaged(out, bytes, flags);
    cudaMallocHost(out: Out<HostPointer>, bytes: usize) = cuMemAllocHost_v2(out, bytes);
    cudaHostAlloc(out: Out<HostPointer>, bytes: usize, flags: u32)
        = cuMemHostAlloc(out, bytes, flags);
    cudaHostRegister(pointer: HostPointer, bytes: usize, flags: u32)
        = cuMemHostRegister_v2(pointer, bytes, flags);
    cudaHostUnregister(pointer: HostPointer) = cuMemHostUnregister(pointer);

    cudaStreamCreate(out: Out<Handle>) = cuStreamCreate(out, 0);
    cudaStreamCreateWithFlags(out: Out<Handle>, flags: u32) = cuStreamCreate(out, flags);
    cudaStreamCreateWithPriority(out: Out<Handle>, flags: u32, priority: i32)
        = cuStreamCreateWithPriority(out, flags, priority);
    cudaStreamDestroy(stream: Handle) = cuStreamDestroy_v2(stream);
    cudaStreamQuery + _ptsz(stream: Handle) = cuStreamQuery(stream);
    cudaStreamSynchronize + _ptsz(stream: Handle) = cuStreamSynchronize(stream);
    cudaStreamWaitEvent + _ptsz(stream: Handle, event: Handle, flags: u32)
        = cuStreamWaitEvent(stream, event, flags);
    cudaLaunchHostFunc + _ptsz(stream: Handle, function: HostFunction, argument: HostPointer)
        = cuLaunchHostFunc(stream, function, argument);

    cudaEventCreate(out: Out<Handle>) = cuEventCreate(out, 0);
    cudaEventCreateWithFlags(out: Out<Handle>, flags: u32) = cuEventCreate(out, flags);
    cudaEventRecord + _ptsz(event: Handle, stream: Handle) = cuEventRecord(event, stream);
    cudaEventRecordWithFlags + _ptsz(event: Handle, stream: Handle, flags: u32)
        = cuEventRecordWithFlags(event, stream, flags);
    cudaEventQuery(event: Handle) = cuEventQuery(event);
    cudaEventSynchronize(event: Handle) = cuEventSynchronize(event);
    cudaEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle)
        = cuEventElapsedTime_v2(milliseconds, start, end);
    cudaEventDestroy(event: Handle) = cuEventDestroy_v2(event);
}
