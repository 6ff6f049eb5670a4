//! Every function of the driver API, as a jump through a slot.
//!
//! The slot of a function is empty until its first call, which looks the
//! function up ([`resolve`]), fills the slot and goes on as if it had been full.
//! Later calls cost one load and one indirect jump.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::arch::trampoline;
use crate::library;

/// What every function answers in a process that was forked from one with a driver:
/// `CUDA_ERROR_NOT_INITIALIZED`, as the driver's own `cuInit` does there.
const NOT_INITIALIZED: c_int = 3;

/// What every function answers where there is no driver: `CUDA_ERROR_NO_DEVICE`.
const NO_DEVICE: c_int = 100;

/// What a function answers that the driver is too old to have:
/// `CUDA_ERROR_NOT_SUPPORTED`.
const NOT_SUPPORTED: c_int = 801;

/// Declares the functions. One expansion, of the first name:
///
/// ```text
/// const NAMES: [&CStr; COUNT] = [c"cuArray3DCreate_v2", ...];
///
/// #[unsafe(naked)]
/// #[unsafe(no_mangle)]
/// unsafe extern "C" fn cuArray3DCreate_v2() { trampoline!(cuArray3DCreate_v2, 0) }
/// ```
macro_rules! functions {
    ($($name:ident)*) => {
        /// The functions' indices, in the order of the table.
        #[allow(non_camel_case_types, clippy::enum_variant_names)]
        enum Index { $($name),* }

        const COUNT: usize = [$(stringify!($name)),*].len();

        /// The functions' names, by index.
        const NAMES: [&CStr; COUNT] = [$(
            match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => unreachable!(),
            }
        ),*];

        $(
            // The type is nobody's: callers declare the real one, and the jump
            // hands their arguments on as they are.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            #[allow(non_snake_case)]
            unsafe extern "C" fn $name() {
                trampoline!($name, Index::$name as usize)
            }
        )*
    };
}

// All that `cust_raw` 0.11 declares, cuLaunchKernelEx, and libraries of kernels.
functions! {
    cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayCreate_v2 cuArrayDestroy
    cuArrayGetDescriptor_v2 cuArrayGetPlane cuArrayGetSparseProperties
    cuCtxAttach cuCtxCreate_v2 cuCtxCreate_v3 cuCtxDestroy_v2 cuCtxDetach
    cuCtxDisablePeerAccess cuCtxEnablePeerAccess cuCtxGetApiVersion
    cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetDevice cuCtxGetExecAffinity
    cuCtxGetFlags cuCtxGetLimit cuCtxGetSharedMemConfig
    cuCtxGetStreamPriorityRange cuCtxPopCurrent_v2 cuCtxPushCurrent_v2
    cuCtxResetPersistingL2Cache cuCtxSetCacheConfig cuCtxSetCurrent
    cuCtxSetLimit cuCtxSetSharedMemConfig cuCtxSynchronize
    cuDestroyExternalMemory cuDestroyExternalSemaphore cuDeviceCanAccessPeer
    cuDeviceComputeCapability cuDeviceGet cuDeviceGetAttribute
    cuDeviceGetByPCIBusId cuDeviceGetCount cuDeviceGetDefaultMemPool
    cuDeviceGetExecAffinitySupport cuDeviceGetGraphMemAttribute cuDeviceGetLuid
    cuDeviceGetMemPool cuDeviceGetName cuDeviceGetNvSciSyncAttributes
    cuDeviceGetP2PAttribute cuDeviceGetPCIBusId cuDeviceGetProperties
    cuDeviceGetTexture1DLinearMaxWidth cuDeviceGetUuid cuDeviceGetUuid_v2
    cuDeviceGraphMemTrim cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRelease_v2
    cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxRetain
    cuDevicePrimaryCtxSetFlags_v2 cuDeviceSetGraphMemAttribute
    cuDeviceSetMemPool cuDeviceTotalMem_v2 cuDriverGetVersion cuEventCreate
    cuEventDestroy_v2 cuEventElapsedTime cuEventQuery cuEventRecord
    cuEventRecordWithFlags cuEventSynchronize cuExternalMemoryGetMappedBuffer
    cuExternalMemoryGetMappedMipmappedArray cuFlushGPUDirectRDMAWrites
    cuFuncGetAttribute cuFuncGetModule cuFuncSetAttribute cuFuncSetBlockShape
    cuFuncSetCacheConfig cuFuncSetSharedMemConfig cuFuncSetSharedSize
    cuGetErrorName cuGetErrorString cuGetExportTable cuGetProcAddress
    cuGraphAddChildGraphNode cuGraphAddDependencies cuGraphAddEmptyNode
    cuGraphAddEventRecordNode cuGraphAddEventWaitNode
    cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode
    cuGraphAddHostNode cuGraphAddKernelNode cuGraphAddMemAllocNode
    cuGraphAddMemFreeNode cuGraphAddMemcpyNode cuGraphAddMemsetNode
    cuGraphChildGraphNodeGetGraph cuGraphClone cuGraphCreate
    cuGraphDebugDotPrint cuGraphDestroy cuGraphDestroyNode
    cuGraphEventRecordNodeGetEvent cuGraphEventRecordNodeSetEvent
    cuGraphEventWaitNodeGetEvent cuGraphEventWaitNodeSetEvent
    cuGraphExecChildGraphNodeSetParams cuGraphExecDestroy
    cuGraphExecEventRecordNodeSetEvent cuGraphExecEventWaitNodeSetEvent
    cuGraphExecExternalSemaphoresSignalNodeSetParams
    cuGraphExecExternalSemaphoresWaitNodeSetParams cuGraphExecHostNodeSetParams
    cuGraphExecKernelNodeSetParams cuGraphExecMemcpyNodeSetParams
    cuGraphExecMemsetNodeSetParams cuGraphExecUpdate
    cuGraphExternalSemaphoresSignalNodeGetParams
    cuGraphExternalSemaphoresSignalNodeSetParams
    cuGraphExternalSemaphoresWaitNodeGetParams
    cuGraphExternalSemaphoresWaitNodeSetParams cuGraphGetEdges cuGraphGetNodes
    cuGraphGetRootNodes cuGraphHostNodeGetParams cuGraphHostNodeSetParams
    cuGraphInstantiateWithFlags cuGraphInstantiate_v2
    cuGraphKernelNodeCopyAttributes cuGraphKernelNodeGetAttribute
    cuGraphKernelNodeGetParams cuGraphKernelNodeSetAttribute
    cuGraphKernelNodeSetParams cuGraphLaunch cuGraphMemAllocNodeGetParams
    cuGraphMemFreeNodeGetParams cuGraphMemcpyNodeGetParams
    cuGraphMemcpyNodeSetParams cuGraphMemsetNodeGetParams
    cuGraphMemsetNodeSetParams cuGraphNodeFindInClone cuGraphNodeGetDependencies
    cuGraphNodeGetDependentNodes cuGraphNodeGetType cuGraphReleaseUserObject
    cuGraphRemoveDependencies cuGraphRetainUserObject cuGraphUpload
    cuGraphicsMapResources cuGraphicsResourceGetMappedMipmappedArray
    cuGraphicsResourceGetMappedPointer_v2 cuGraphicsResourceSetMapFlags_v2
    cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources
    cuGraphicsUnregisterResource cuImportExternalMemory
    cuImportExternalSemaphore cuInit cuIpcCloseMemHandle cuIpcGetEventHandle
    cuIpcGetMemHandle cuIpcOpenEventHandle cuIpcOpenMemHandle_v2 cuLaunch
    cuLaunchCooperativeKernel cuLaunchCooperativeKernelMultiDevice cuLaunchGrid
    cuKernelGetFunction
    cuLaunchGridAsync cuLaunchHostFunc cuLaunchKernel cuLaunchKernelEx
    cuLibraryGetKernel cuLibraryLoadData cuLibraryUnload cuLinkAddData_v2
    cuLinkAddFile_v2 cuLinkComplete cuLinkCreate_v2 cuLinkDestroy
    cuMemAddressFree cuMemAddressReserve cuMemAdvise cuMemAllocAsync
    cuMemAllocFromPoolAsync cuMemAllocHost_v2 cuMemAllocManaged
    cuMemAllocPitch_v2 cuMemAlloc_v2 cuMemCreate cuMemExportToShareableHandle
    cuMemFreeAsync cuMemFreeHost cuMemFree_v2 cuMemGetAccess
    cuMemGetAddressRange_v2 cuMemGetAllocationGranularity
    cuMemGetAllocationPropertiesFromHandle cuMemGetInfo_v2 cuMemHostAlloc
    cuMemHostGetDevicePointer_v2 cuMemHostGetFlags cuMemHostRegister_v2
    cuMemHostUnregister cuMemImportFromShareableHandle cuMemMap
    cuMemMapArrayAsync cuMemPoolCreate cuMemPoolDestroy cuMemPoolExportPointer
    cuMemPoolExportToShareableHandle cuMemPoolGetAccess cuMemPoolGetAttribute
    cuMemPoolImportFromShareableHandle cuMemPoolImportPointer cuMemPoolSetAccess
    cuMemPoolSetAttribute cuMemPoolTrimTo cuMemPrefetchAsync
    cuMemRangeGetAttribute cuMemRangeGetAttributes cuMemRelease
    cuMemRetainAllocationHandle cuMemSetAccess cuMemUnmap cuMemcpy
    cuMemcpy2DAsync_v2 cuMemcpy2DUnaligned_v2 cuMemcpy2D_v2 cuMemcpy3DAsync_v2
    cuMemcpy3DPeer cuMemcpy3DPeerAsync cuMemcpy3D_v2 cuMemcpyAsync
    cuMemcpyAtoA_v2 cuMemcpyAtoD_v2 cuMemcpyAtoHAsync_v2 cuMemcpyAtoH_v2
    cuMemcpyDtoA_v2 cuMemcpyDtoDAsync_v2 cuMemcpyDtoD_v2 cuMemcpyDtoHAsync_v2
    cuMemcpyDtoH_v2 cuMemcpyHtoAAsync_v2 cuMemcpyHtoA_v2 cuMemcpyHtoDAsync_v2
    cuMemcpyHtoD_v2 cuMemcpyPeer cuMemcpyPeerAsync cuMemsetD16Async
    cuMemsetD16_v2 cuMemsetD2D16Async cuMemsetD2D16_v2 cuMemsetD2D32Async
    cuMemsetD2D32_v2 cuMemsetD2D8Async cuMemsetD2D8_v2 cuMemsetD32Async
    cuMemsetD32_v2 cuMemsetD8Async cuMemsetD8_v2 cuMipmappedArrayCreate
    cuMipmappedArrayDestroy cuMipmappedArrayGetLevel
    cuMipmappedArrayGetSparseProperties cuModuleGetFunction cuModuleGetGlobal_v2
    cuModuleGetSurfRef cuModuleGetTexRef cuModuleLoad cuModuleLoadData
    cuModuleLoadDataEx cuModuleLoadFatBinary cuModuleUnload
    cuOccupancyAvailableDynamicSMemPerBlock
    cuOccupancyMaxActiveBlocksPerMultiprocessor
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
    cuOccupancyMaxPotentialBlockSize cuOccupancyMaxPotentialBlockSizeWithFlags
    cuParamSetSize cuParamSetTexRef cuParamSetf cuParamSeti cuParamSetv
    cuPointerGetAttribute cuPointerGetAttributes cuPointerSetAttribute
    cuProfilerInitialize cuProfilerStart cuProfilerStop
    cuSignalExternalSemaphoresAsync cuStreamAddCallback cuStreamAttachMemAsync
    cuStreamBatchMemOp cuStreamBeginCapture_v2 cuStreamCopyAttributes
    cuStreamCreate cuStreamCreateWithPriority cuStreamDestroy_v2
    cuStreamEndCapture cuStreamGetAttribute cuStreamGetCaptureInfo
    cuStreamGetCaptureInfo_v2 cuStreamGetCtx cuStreamGetFlags
    cuStreamGetPriority cuStreamIsCapturing cuStreamQuery cuStreamSetAttribute
    cuStreamSynchronize cuStreamUpdateCaptureDependencies cuStreamWaitEvent
    cuStreamWaitValue32 cuStreamWaitValue64 cuStreamWriteValue32
    cuStreamWriteValue64 cuSurfObjectCreate cuSurfObjectDestroy
    cuSurfObjectGetResourceDesc cuSurfRefGetArray cuSurfRefSetArray
    cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc
    cuTexObjectGetResourceViewDesc cuTexObjectGetTextureDesc cuTexRefCreate
    cuTexRefDestroy cuTexRefGetAddressMode cuTexRefGetAddress_v2
    cuTexRefGetArray cuTexRefGetBorderColor cuTexRefGetFilterMode
    cuTexRefGetFlags cuTexRefGetFormat cuTexRefGetMaxAnisotropy
    cuTexRefGetMipmapFilterMode cuTexRefGetMipmapLevelBias
    cuTexRefGetMipmapLevelClamp cuTexRefGetMipmappedArray
    cuTexRefSetAddress2D_v3 cuTexRefSetAddressMode cuTexRefSetAddress_v2
    cuTexRefSetArray cuTexRefSetBorderColor cuTexRefSetFilterMode
    cuTexRefSetFlags cuTexRefSetFormat cuTexRefSetMaxAnisotropy
    cuTexRefSetMipmapFilterMode cuTexRefSetMipmapLevelBias
    cuTexRefSetMipmapLevelClamp cuTexRefSetMipmappedArray
    cuThreadExchangeStreamCaptureMode cuUserObjectCreate cuUserObjectRelease
    cuUserObjectRetain cuWaitExternalSemaphoresAsync
}

/// Where each function is, by index; null until its first call.
pub(crate) static SLOTS: [AtomicPtr<()>; COUNT] =
    [const { AtomicPtr::new(ptr::null_mut()) }; COUNT];

/// The function of an index, looked up and put into its slot.
///
/// Threads that come here at once for one function find the same address.
pub(crate) extern "C" fn resolve(index: usize) -> *const () {
    let name = NAMES[index];
    // Before the library is asked for: a thread that the child has not may have been opening it.
    if IS_FORKED.load(Ordering::Acquire) {
        return forked as *const ();
    }
    let function = match library::loaded() {
        Ok(driver) => driver.function(name).unwrap_or(not_supported as *const ()),
        // The two functions that do not fail for want of a driver: `cust` calls
        // them to print the error that the others answered.
        Err(_) if name == c"cuGetErrorName" => no_driver_error_name as *const (),
        Err(_) if name == c"cuGetErrorString" => no_driver_error_string as *const (),
        Err(_) => no_device as *const (),
    };
    // Release: whoever finds the address finds the library it points into, too.
    SLOTS[index].store(function.cast_mut(), Ordering::Release);
    function
}

/// Whether this process was forked from one that had a driver.
static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// Has every function answer an error from now on.
///
/// A child has the driver's memory but not its threads, and would wait for them for ever, also
/// where it gives back what its parent took. This runs between the fork and the child's first
/// step, and does nothing but write to memory.
pub(crate) extern "C" fn forget_driver() {
    IS_FORKED.store(true, Ordering::Release);
    for slot in &SLOTS {
        slot.store((forked as *const ()).cast_mut(), Ordering::Release);
    }
}

/// Whether [`forget_driver`] has run.
pub(crate) fn is_forked() -> bool {
    IS_FORKED.load(Ordering::Acquire)
}

// The C calling convention leaves the arguments to the caller, so these may be
// called with any, and take none.

extern "C" fn forked() -> c_int {
    NOT_INITIALIZED
}

extern "C" fn no_device() -> c_int {
    NO_DEVICE
}

extern "C" fn not_supported() -> c_int {
    NOT_SUPPORTED
}

unsafe extern "C" fn no_driver_error_name(_error: c_int, name: *mut *const c_char) -> c_int {
    // SAFETY: as for `no_driver_error_string`.
    unsafe { name.write(c"CUDA_ERROR_NO_DEVICE".as_ptr()) };
    0
}

unsafe extern "C" fn no_driver_error_string(_error: c_int, text: *mut *const c_char) -> c_int {
    // SAFETY: the driver API makes the caller pass an address that is valid for
    // writing one pointer; the string it then points to is static.
    unsafe { text.write(c"no CUDA driver can be loaded on this machine".as_ptr()) };
    0
}
