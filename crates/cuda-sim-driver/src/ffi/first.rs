//! Functions that another one does the work of: first forms of what has a later one, mostly.

use super::call;
use super::captures::cuStreamBeginCapture_v2;
use super::contexts::{
    cuCtxCreate_v2, cuCtxDestroy_v2, cuCtxPopCurrent_v2, cuCtxPushCurrent_v2,
    cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxSetFlags_v2,
};
use super::copies::{Copy2D, cuMemcpy2DUnaligned_v2};
use super::devices::{Uuid, cuDeviceGetUuid_v2};
use super::entries::entries;
use super::graphs::{
    KernelParams, cuGraphAddDependencies_v2, cuGraphAddKernelNode_v2,
    cuGraphExecKernelNodeSetParams_v2, cuGraphGetEdges_v2, cuGraphKernelNodeSetParams_v2,
    cuGraphNodeGetDependencies_v2, cuGraphNodeGetDependentNodes_v2,
};
use super::launches::{
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, cuOccupancyMaxPotentialBlockSizeWithFlags,
};
use super::linkers::{cuLinkAddData_v2, cuLinkAddFile_v2, cuLinkCreate_v2};
use super::memories::{cuMemAdvise_v2, cuMemHostRegister_v2};
use super::raw::{HostPointer, Out, SharedOfBlock, Text, Values};
use super::streams::{cuEventDestroy_v2, cuEventElapsedTime_v2, cuStreamDestroy_v2};
use crate::state::handle::Handle;

/// Declares functions by the others that they are.
macro_rules! first {
    ($($name:ident $(+ $suffix:ident)? ($($arg:ident: $type:ty),*)
        = $later:ident($($value:expr),*);)*) => {
        entries! {
            $(bare fn $name $(+ $suffix)? ($($arg: $type),*) | | {
                // SAFETY: both have the same contract.
                unsafe { $later($($value),*) }.result()
            })*
        }
    };
}

first! {
    cuCtxCreate(out: Out<Handle>, flags: u32, device: i32) = cuCtxCreate_v2(out, flags, device);
    // The parameters limit what a context may use, which is not done here.
    cuCtxCreate_v3(out: Out<Handle>, _limits: HostPointer, _count: i32, flags: u32, device: i32)
        = cuCtxCreate_v2(out, flags, device);
    cuCtxCreate_v4(out: Out<Handle>, _limits: HostPointer, flags: u32, device: i32)
        = cuCtxCreate_v2(out, flags, device);
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
    cuDeviceGetUuid(uuid: Out<Uuid>, device: i32) = cuDeviceGetUuid_v2(uuid, device);
    cuEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle)
        = cuEventElapsedTime_v2(milliseconds, start, end);
    cuMemcpy2D_v2 + _ptds(copy: Values<Copy2D>) = cuMemcpy2DUnaligned_v2(copy);
    cuMemAdvise(address: u64, bytes: usize, advice: u32, _device: i32)
        = cuMemAdvise_v2(address, bytes, advice, 0);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<i32>, function: Handle, threads: i32, shared: usize
    ) = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
    cuOccupancyMaxPotentialBlockSize(
        grid: Out<i32>, threads: Out<i32>, function: Handle, of_block: SharedOfBlock,
        shared: usize, limit: i32
    ) = cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid, threads, function, of_block, shared, limit, 0
    );
    cuGraphGetEdges(graph: Handle, from: Values<Handle>, to: Values<Handle>, count: Values<usize>)
        = cuGraphGetEdges_v2(graph, from, to, Values::NONE, count);
    cuGraphNodeGetDependencies(node: Handle, before: Values<Handle>, count: Values<usize>)
        = cuGraphNodeGetDependencies_v2(node, before, Values::NONE, count);
    cuGraphNodeGetDependentNodes(node: Handle, after: Values<Handle>, count: Values<usize>)
        = cuGraphNodeGetDependentNodes_v2(node, after, Values::NONE, count);
    cuGraphAddDependencies(graph: Handle, from: Values<Handle>, to: Values<Handle>, count: usize)
        = cuGraphAddDependencies_v2(graph, from, to, Values::NONE, count);
    cuGraphAddKernelNode(
        out: Out<Handle>, graph: Handle, after: Values<Handle>, count: usize,
        params: Values<KernelParams>
    ) = cuGraphAddKernelNode_v2(out, graph, after, count, Values::of(&mut params.get(0)?.into()));
    cuGraphKernelNodeSetParams(node: Handle, params: Values<KernelParams>)
        = cuGraphKernelNodeSetParams_v2(node, Values::of(&mut params.get(0)?.into()));
    cuGraphExecKernelNodeSetParams(graph: Handle, node: Handle, params: Values<KernelParams>)
        = cuGraphExecKernelNodeSetParams_v2(
            graph, node, Values::of(&mut params.get(0)?.into())
        );
}
