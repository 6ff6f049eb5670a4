//! The runtime's errors: the driver's by other names, and a few of its own.

use super::call::{self, LAST};
use crate::error::Code;
use crate::ffi::entries::entries;
use std::ffi::{CStr, c_char};

impl Code {
    pub const INVALID_CONFIGURATION: Code = Code(9);
    pub const INVALID_SYMBOL: Code = Code(13);
    pub const INVALID_DIRECTION: Code = Code(21);
    pub const INSUFFICIENT_DRIVER: Code = Code(35);
    pub const MISSING_CONFIGURATION: Code = Code(52);
    pub const INVALID_DEVICE_FUNCTION: Code = Code(98);
}

entries! {
    memory_of fn cudaGetLastError() | | {
        let last = LAST.get();
        // What killed the context is answered until the device is reset.
        if !last.is_sticky() {
            LAST.set(Code::SUCCESS);
        }
        last.result()
    }

    memory_of fn cudaPeekAtLastError() | | {
        LAST.get().result()
    }
}

/// # Safety
/// The contract of the CUDA runtime API's function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetErrorName(error: Code) -> *const c_char {
    let row = NAMES.iter().find(|(code, _)| *code == error.0);
    row.map_or(UNKNOWN, |(_, name)| name).as_ptr()
}

/// # Safety
/// The contract of the CUDA runtime API's function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetErrorString(error: Code) -> *const c_char {
    let own = match error {
        Code::INVALID_CONFIGURATION => c"invalid configuration argument",
        Code::INVALID_SYMBOL => c"invalid device symbol",
        Code::INVALID_DIRECTION => c"invalid copy direction for memcpy",
        Code::INSUFFICIENT_DRIVER => {
            c"CUDA driver version is insufficient for CUDA runtime version"
        }
        Code::MISSING_CONFIGURATION => c"__global__ function call is not configured",
        Code::INVALID_DEVICE_FUNCTION => c"invalid device function",
        code => code.text().unwrap_or(UNKNOWN),
    };
    own.as_ptr()
}

const UNKNOWN: &CStr = c"unrecognized error code";

const NAMES: &[(u32, &CStr)] = &[
    (0, c"cudaSuccess"),
    (1, c"cudaErrorInvalidValue"),
    (2, c"cudaErrorMemoryAllocation"),
    (3, c"cudaErrorInitializationError"),
    (4, c"cudaErrorCudartUnloading"),
    (9, c"cudaErrorInvalidConfiguration"),
    (13, c"cudaErrorInvalidSymbol"),
    (21, c"cudaErrorInvalidMemcpyDirection"),
    (35, c"cudaErrorInsufficientDriver"),
    (46, c"cudaErrorDevicesUnavailable"),
    (52, c"cudaErrorMissingConfiguration"),
    (98, c"cudaErrorInvalidDeviceFunction"),
    (100, c"cudaErrorNoDevice"),
    (101, c"cudaErrorInvalidDevice"),
    (200, c"cudaErrorInvalidKernelImage"),
    (201, c"cudaErrorDeviceUninitialized"),
    (209, c"cudaErrorNoKernelImageForDevice"),
    (214, c"cudaErrorECCUncorrectable"),
    (215, c"cudaErrorUnsupportedLimit"),
    (217, c"cudaErrorPeerAccessUnsupported"),
    (218, c"cudaErrorInvalidPtx"),
    (220, c"cudaErrorNvlinkUncorrectable"),
    (221, c"cudaErrorJitCompilerNotFound"),
    (222, c"cudaErrorUnsupportedPtxVersion"),
    (300, c"cudaErrorInvalidSource"),
    (301, c"cudaErrorFileNotFound"),
    (304, c"cudaErrorOperatingSystem"),
    (400, c"cudaErrorInvalidResourceHandle"),
    (401, c"cudaErrorIllegalState"),
    (500, c"cudaErrorSymbolNotFound"),
    (600, c"cudaErrorNotReady"),
    (700, c"cudaErrorIllegalAddress"),
    (701, c"cudaErrorLaunchOutOfResources"),
    (702, c"cudaErrorLaunchTimeout"),
    (704, c"cudaErrorPeerAccessAlreadyEnabled"),
    (705, c"cudaErrorPeerAccessNotEnabled"),
    (708, c"cudaErrorSetOnActiveProcess"),
    (709, c"cudaErrorContextIsDestroyed"),
    (710, c"cudaErrorAssert"),
    (712, c"cudaErrorHostMemoryAlreadyRegistered"),
    (713, c"cudaErrorHostMemoryNotRegistered"),
    (714, c"cudaErrorHardwareStackError"),
    (715, c"cudaErrorIllegalInstruction"),
    (716, c"cudaErrorMisalignedAddress"),
    (717, c"cudaErrorInvalidAddressSpace"),
    (718, c"cudaErrorInvalidPc"),
    (719, c"cudaErrorLaunchFailure"),
    (720, c"cudaErrorCooperativeLaunchTooLarge"),
    (800, c"cudaErrorNotPermitted"),
    (801, c"cudaErrorNotSupported"),
    (802, c"cudaErrorSystemNotReady"),
    (803, c"cudaErrorSystemDriverMismatch"),
    (900, c"cudaErrorStreamCaptureUnsupported"),
    (901, c"cudaErrorStreamCaptureInvalidated"),
    (902, c"cudaErrorStreamCaptureMerge"),
    (903, c"cudaErrorStreamCaptureUnmatched"),
    (904, c"cudaErrorStreamCaptureUnjoined"),
    (905, c"cudaErrorStreamCaptureIsolation"),
    (906, c"cudaErrorStreamCaptureImplicit"),
    (907, c"cudaErrorCapturedEvent"),
    (909, c"cudaErrorTimeout"),
    (910, c"cudaErrorGraphExecUpdateFailure"),
    (999, c"cudaErrorUnknown"),
];
