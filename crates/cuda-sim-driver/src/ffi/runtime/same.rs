//! The functions that the runtime and the driver have under different names.

use super::call::{self, driver_call};
use super::programs::kernel;
use crate::ffi::captures::{
    cuStreamBeginCapture_v2, cuStreamEndCapture, cuStreamGetCaptureInfo_v3, cuStreamIsCapturing,
    cuThreadExchangeStreamCaptureMode,
};
use crate::ffi::contexts::{
    cuCtxGetCacheConfig, cuCtxGetFlags, cuCtxGetLimit, cuCtxGetStreamPriorityRange,
    cuCtxResetPersistingL2Cache, cuCtxSetCacheConfig, cuCtxSetLimit, cuCtxSynchronize,
    cuProfilerStart, cuProfilerStop,
};
use crate::ffi::copies::{cuMemcpyPeer, cuMemcpyPeerAsync};
use crate::ffi::devices::cuDeviceCanAccessPeer;
use crate::ffi::entries::entries;
use crate::ffi::fills::{cuMemsetD2D8_v2, cuMemsetD2D8Async};
use crate::ffi::graphs::{
    cuGraphAddDependencies_v2, cuGraphClone, cuGraphCreate, cuGraphDestroy, cuGraphExecDestroy,
    cuGraphGetNodes, cuGraphInstantiateWithFlags, cuGraphLaunch, cuGraphUpload,
};
use crate::ffi::launches::{
    LaunchConfig, cuOccupancyAvailableDynamicSMemPerBlock, cuOccupancyMaxActiveClusters,
    cuOccupancyMaxPotentialClusterSize,
};
use crate::ffi::memories::{
    cuMemAdvise_v2, cuMemAllocHost_v2, cuMemAllocManaged, cuMemAllocPitch_v2, cuMemFree_v2,
    cuMemGetInfo_v2, cuMemHostAlloc, cuMemHostGetDevicePointer_v2, cuMemHostGetFlags,
    cuMemHostRegister_v2, cuMemHostUnregister, cuMemPrefetchAsync_v2,
};
use crate::ffi::modules::{cuFuncGetName, cuFuncSetCacheConfig};
use crate::ffi::pools::{
    PoolProperties, cuDeviceGetDefaultMemPool, cuDeviceGetMemPool, cuDeviceSetMemPool,
    cuMemAllocFromPoolAsync, cuMemFreeAsync, cuMemPoolCreate, cuMemPoolDestroy,
    cuMemPoolGetAttribute, cuMemPoolSetAttribute, cuMemPoolTrimTo,
};
use crate::ffi::raw::{HostFunction, HostPointer, Out, StreamCallback, Values};
use crate::ffi::streams::{
    cuEventCreate, cuEventDestroy_v2, cuEventElapsedTime_v2, cuEventQuery, cuEventRecord,
    cuEventRecordWithFlags, cuEventSynchronize, cuLaunchHostFunc, cuStreamAddCallback,
    cuStreamCreate, cuStreamCreateWithPriority, cuStreamDestroy_v2, cuStreamGetDevice,
    cuStreamGetFlags, cuStreamGetId, cuStreamGetPriority, cuStreamQuery, cuStreamSynchronize,
    cuStreamWaitEvent,
};
use crate::state::handle::Handle;
use std::ffi::c_char;

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

    cudaMallocFromPoolAsync + _ptsz(out: Out<u64>, bytes: usize, pool: Handle, stream: Handle)
        = cuMemAllocFromPoolAsync(out, bytes, pool, stream);
    cudaMallocPitch(out: Out<u64>, pitch: Out<usize>, width: usize, height: usize)
        = cuMemAllocPitch_v2(out, pitch, width, height, 16);
    cudaMemset2D + _ptds(to: u64, pitch: usize, value: u32, width: usize, height: usize)
        = cuMemsetD2D8_v2(to, pitch, value as u8, width, height);
    cudaMemset2DAsync + _ptsz(
        to: u64, pitch: usize, value: u32, width: usize, height: usize, stream: Handle
    ) = cuMemsetD2D8Async(to, pitch, value as u8, width, height, stream);
    cudaMemcpyPeer(to: u64, _device: i32, from: u64, _other: i32, bytes: usize)
        = cuMemcpyPeer(to, Handle::NULL, from, Handle::NULL, bytes);
    cudaMemcpyPeerAsync(
        to: u64, _device: i32, from: u64, _other: i32, bytes: usize, stream: Handle
    ) = cuMemcpyPeerAsync(to, Handle::NULL, from, Handle::NULL, bytes, stream);
    cudaMemPrefetchAsync + _ptsz(
        address: u64, bytes: usize, location: u64, flags: u32, stream: Handle
    ) = cuMemPrefetchAsync_v2(address, bytes, location, flags, stream);
    cudaMemAdvise(address: u64, bytes: usize, advice: u32, location: u64)
        = cuMemAdvise_v2(address, bytes, advice, location);
    cudaHostGetFlags(flags: Out<u32>, pointer: HostPointer) = cuMemHostGetFlags(flags, pointer);
    cudaHostGetDevicePointer(address: Out<u64>, pointer: HostPointer, flags: u32)
        = cuMemHostGetDevicePointer_v2(address, pointer, flags);

    cudaDeviceGetDefaultMemPool(out: Out<Handle>, device: i32)
        = cuDeviceGetDefaultMemPool(out, device);
    cudaDeviceGetMemPool(out: Out<Handle>, device: i32) = cuDeviceGetMemPool(out, device);
    cudaDeviceSetMemPool(device: i32, pool: Handle) = cuDeviceSetMemPool(device, pool);
    cudaMemPoolCreate(out: Out<Handle>, properties: Values<PoolProperties>)
        = cuMemPoolCreate(out, properties);
    cudaMemPoolDestroy(pool: Handle) = cuMemPoolDestroy(pool);
    cudaMemPoolTrimTo(pool: Handle, keep: usize) = cuMemPoolTrimTo(pool, keep);
    cudaMemPoolSetAttribute(pool: Handle, attribute: u32, value: HostPointer)
        = cuMemPoolSetAttribute(pool, attribute, value);
    cudaMemPoolGetAttribute(pool: Handle, attribute: u32, value: HostPointer)
        = cuMemPoolGetAttribute(pool, attribute, value);

    cudaStreamGetPriority + _ptsz(stream: Handle, priority: Out<i32>)
        = cuStreamGetPriority(stream, priority);
    cudaStreamGetFlags + _ptsz(stream: Handle, flags: Out<u32>) = cuStreamGetFlags(stream, flags);
    cudaStreamGetId + _ptsz(stream: Handle, id: Out<u64>) = cuStreamGetId(stream, id);
    cudaStreamGetDevice + _ptsz(stream: Handle, device: Out<i32>)
        = cuStreamGetDevice(stream, device);
    cudaStreamAddCallback + _ptsz(
        stream: Handle, callback: StreamCallback, argument: HostPointer, flags: u32
    ) = cuStreamAddCallback(stream, callback, argument, flags);
    cudaStreamBeginCapture + _ptsz(stream: Handle, mode: u32)
        = cuStreamBeginCapture_v2(stream, mode);
    cudaStreamEndCapture + _ptsz(stream: Handle, graph: Out<Handle>)
        = cuStreamEndCapture(stream, graph);
    cudaStreamIsCapturing + _ptsz(stream: Handle, status: Out<u32>)
        = cuStreamIsCapturing(stream, status);
    cudaStreamGetCaptureInfo + _ptsz(
        stream: Handle, status: Out<u32>, id: Out<u64>, graph: Out<Handle>,
        behind: Out<*const Handle>, edges: Out<*const u8>, count: Out<usize>
    ) = cuStreamGetCaptureInfo_v3(stream, status, id, graph, behind, edges, count);
    cudaThreadExchangeStreamCaptureMode(mode: Values<u32>)
        = cuThreadExchangeStreamCaptureMode(mode);
    cudaGraphCreate(out: Out<Handle>, flags: u32) = cuGraphCreate(out, flags);
    cudaGraphClone(out: Out<Handle>, graph: Handle) = cuGraphClone(out, graph);
    cudaGraphAddDependencies(
        graph: Handle, from: Values<Handle>, to: Values<Handle>, kinds: Values<u64>, count: usize
    ) = cuGraphAddDependencies_v2(graph, from, to, kinds, count);
    cudaGraphDestroy(graph: Handle) = cuGraphDestroy(graph);
    cudaGraphGetNodes(graph: Handle, nodes: Values<Handle>, count: Values<usize>)
        = cuGraphGetNodes(graph, nodes, count);
    cudaGraphInstantiate(out: Out<Handle>, graph: Handle, flags: u64)
        = cuGraphInstantiateWithFlags(out, graph, flags);
    cudaGraphInstantiateWithFlags(out: Out<Handle>, graph: Handle, flags: u64)
        = cuGraphInstantiateWithFlags(out, graph, flags);
    cudaGraphUpload + _ptsz(executable: Handle, stream: Handle)
        = cuGraphUpload(executable, stream);
    cudaGraphLaunch + _ptsz(executable: Handle, stream: Handle)
        = cuGraphLaunch(executable, stream);
    cudaGraphExecDestroy(executable: Handle) = cuGraphExecDestroy(executable);

    cudaFuncSetCacheConfig(function: u64, config: u32)
        = cuFuncSetCacheConfig(kernel(function)?, config);
    cudaFuncGetName(name: Out<*const c_char>, function: u64)
        = cuFuncGetName(name, kernel(function)?);
    cudaDeviceSetCacheConfig(config: u32) = cuCtxSetCacheConfig(config);
    cudaDeviceGetCacheConfig(config: Out<u32>) = cuCtxGetCacheConfig(config);
    cudaGetDeviceFlags(flags: Out<u32>) = cuCtxGetFlags(flags);
    cudaCtxResetPersistingL2Cache() = cuCtxResetPersistingL2Cache();
    cudaProfilerStart() = cuProfilerStart();
    cudaProfilerStop() = cuProfilerStop();
    cudaOccupancyAvailableDynamicSMemPerBlock(
        bytes: Out<usize>, function: u64, blocks: i32, threads: i32
    ) = cuOccupancyAvailableDynamicSMemPerBlock(bytes, kernel(function)?, blocks, threads);
    cudaOccupancyMaxPotentialClusterSize(
        size: Out<i32>, function: u64, config: Values<LaunchConfig>
    ) = cuOccupancyMaxPotentialClusterSize(size, kernel(function)?, config);
    cudaOccupancyMaxActiveClusters(
        clusters: Out<i32>, function: u64, config: Values<LaunchConfig>
    ) = cuOccupancyMaxActiveClusters(clusters, kernel(function)?, config);

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
