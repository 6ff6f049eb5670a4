//! Entry points that `cust` refers to and the simulator has nothing behind:
//! arrays, textures, surfaces, other processes, memory of other APIs. They are
//! exported so that looking them up succeeds, and answer that they are not
//! supported.

use crate::error::Code;

/// Declares them. The parameters are not named: in the C calling convention of
/// every platform with a CUDA driver, the caller puts them away.
macro_rules! unsupported {
    ($($name:ident)*) => {
        $(
            /// Answers `CUDA_ERROR_NOT_SUPPORTED`.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> Code {
                $crate::ffi::call::driver_wide(stringify!($name), |_| Err(Code::NOT_SUPPORTED))
            }
        )*
        /// The entry points of this module, and where they are.
        pub const SYMBOLS: &[$crate::ffi::Symbol] =
            &[$((stringify!($name), $name as *const ())),*];
    };
}

unsupported! {
    cuArray3DCreate_v2
    cuArray3DGetDescriptor_v2
    cuArrayDestroy
    cuMemcpyAtoH_v2
    cuMemcpyHtoA_v2
    cuTexObjectCreate
    cuTexObjectDestroy
    cuTexObjectGetResourceDesc
    cuTexObjectGetResourceViewDesc
    cuTexObjectGetTextureDesc
    cuSurfObjectCreate
    cuSurfObjectDestroy
    cuSurfObjectGetResourceDesc
    cuGraphDebugDotPrint
    cuIpcCloseMemHandle
    cuIpcGetEventHandle
    cuIpcGetMemHandle
    cuIpcOpenEventHandle
    cuIpcOpenMemHandle_v2
    cuImportExternalMemory
    cuExternalMemoryGetMappedBuffer
    cuDestroyExternalMemory
    cuCtxEnablePeerAccess
    cuCtxDisablePeerAccess
    cuGetExportTable
}
