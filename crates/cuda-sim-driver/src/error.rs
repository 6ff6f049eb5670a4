//! The driver's answers: `CUresult` with CUDA's numbers, names and texts, and the reason of
//! the latest one, in words: a code alone does not say which of a call's arguments is wrong.

use std::cell::RefCell;
use std::ffi::CStr;
use std::fmt;

/// A `CUresult`. Zero is success; everything else travels as an `Err`.
///
/// A number that CUDA does not know can be injected too, so this is not an enum.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code(pub u32);

/// The result of an entry point's body.
pub type Result<T = (), E = Code> = std::result::Result<T, E>;

/// One row of the table of codes.
struct Meaning {
    code: Code,
    name: &'static CStr,
    text: &'static CStr,
    sticky: bool,
}

/// Declares the codes: constant, number, whether it kills the context, words.
macro_rules! codes {
    ($($name:ident = $number:literal, $sticky:literal, $full:literal, $text:literal;)*) => {
        impl Code {
            $(pub const $name: Code = Code($number);)*
        }
        const TABLE: &[Meaning] = &[$(
            Meaning { code: Code::$name, name: $full, text: $text, sticky: $sticky },
        )*];
    };
}

codes! {
    SUCCESS = 0, false, c"CUDA_SUCCESS", c"no error";
    INVALID_VALUE = 1, false, c"CUDA_ERROR_INVALID_VALUE", c"invalid argument";
    OUT_OF_MEMORY = 2, false, c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory";
    NOT_INITIALIZED = 3, false, c"CUDA_ERROR_NOT_INITIALIZED", c"initialization error";
    DEINITIALIZED = 4, false, c"CUDA_ERROR_DEINITIALIZED", c"driver shutting down";
    DEVICE_UNAVAILABLE = 46, true, c"CUDA_ERROR_DEVICE_UNAVAILABLE", c"CUDA-capable device(s) is/are busy or unavailable";
    NO_DEVICE = 100, false, c"CUDA_ERROR_NO_DEVICE", c"no CUDA-capable device is detected";
    INVALID_DEVICE = 101, false, c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal";
    INVALID_IMAGE = 200, false, c"CUDA_ERROR_INVALID_IMAGE", c"device kernel image is invalid";
    INVALID_CONTEXT = 201, false, c"CUDA_ERROR_INVALID_CONTEXT", c"invalid device context";
    NO_BINARY_FOR_GPU = 209, false, c"CUDA_ERROR_NO_BINARY_FOR_GPU", c"no kernel image is available for execution on the device";
    ECC_UNCORRECTABLE = 214, true, c"CUDA_ERROR_ECC_UNCORRECTABLE", c"uncorrectable ECC error encountered";
    UNSUPPORTED_LIMIT = 215, false, c"CUDA_ERROR_UNSUPPORTED_LIMIT", c"limit is not supported on this architecture";
    PEER_ACCESS_UNSUPPORTED = 217, false, c"CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", c"peer access is not supported between these two devices";
    INVALID_PTX = 218, false, c"CUDA_ERROR_INVALID_PTX", c"a PTX JIT compilation failed";
    NVLINK_UNCORRECTABLE = 220, true, c"CUDA_ERROR_NVLINK_UNCORRECTABLE", c"uncorrectable NVLink error detected during the execution";
    JIT_COMPILER_NOT_FOUND = 221, false, c"CUDA_ERROR_JIT_COMPILER_NOT_FOUND", c"PTX JIT compiler library not found";
    UNSUPPORTED_PTX_VERSION = 222, false, c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", c"the provided PTX was compiled with an unsupported toolchain";
    INVALID_SOURCE = 300, false, c"CUDA_ERROR_INVALID_SOURCE", c"device kernel image is invalid";
    FILE_NOT_FOUND = 301, false, c"CUDA_ERROR_FILE_NOT_FOUND", c"file not found";
    OPERATING_SYSTEM = 304, false, c"CUDA_ERROR_OPERATING_SYSTEM", c"OS call failed or operation not supported on this OS";
    INVALID_HANDLE = 400, false, c"CUDA_ERROR_INVALID_HANDLE", c"invalid resource handle";
    ILLEGAL_STATE = 401, false, c"CUDA_ERROR_ILLEGAL_STATE", c"the operation cannot be performed in the present state";
    NOT_FOUND = 500, false, c"CUDA_ERROR_NOT_FOUND", c"named symbol not found";
    NOT_READY = 600, false, c"CUDA_ERROR_NOT_READY", c"device not ready";
    ILLEGAL_ADDRESS = 700, true, c"CUDA_ERROR_ILLEGAL_ADDRESS", c"an illegal memory access was encountered";
    LAUNCH_OUT_OF_RESOURCES = 701, false, c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", c"too many resources requested for launch";
    LAUNCH_TIMEOUT = 702, true, c"CUDA_ERROR_LAUNCH_TIMEOUT", c"the launch timed out and was terminated";
    PEER_ACCESS_ALREADY_ENABLED = 704, false, c"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", c"peer access is already enabled";
    PEER_ACCESS_NOT_ENABLED = 705, false, c"CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", c"peer access has not been enabled";
    PRIMARY_CONTEXT_ACTIVE = 708, false, c"CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", c"cannot set while device is active in this process";
    CONTEXT_IS_DESTROYED = 709, false, c"CUDA_ERROR_CONTEXT_IS_DESTROYED", c"context is destroyed";
    ASSERT = 710, true, c"CUDA_ERROR_ASSERT", c"device-side assert triggered";
    HOST_MEMORY_ALREADY_REGISTERED = 712, false, c"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", c"part or all of the requested memory range is already mapped";
    HOST_MEMORY_NOT_REGISTERED = 713, false, c"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", c"pointer does not correspond to a registered memory region";
    HARDWARE_STACK_ERROR = 714, true, c"CUDA_ERROR_HARDWARE_STACK_ERROR", c"hardware stack error";
    ILLEGAL_INSTRUCTION = 715, true, c"CUDA_ERROR_ILLEGAL_INSTRUCTION", c"an illegal instruction was encountered";
    MISALIGNED_ADDRESS = 716, true, c"CUDA_ERROR_MISALIGNED_ADDRESS", c"misaligned address";
    INVALID_ADDRESS_SPACE = 717, true, c"CUDA_ERROR_INVALID_ADDRESS_SPACE", c"operation not supported on global/shared address space";
    INVALID_PC = 718, true, c"CUDA_ERROR_INVALID_PC", c"invalid program counter";
    LAUNCH_FAILED = 719, true, c"CUDA_ERROR_LAUNCH_FAILED", c"unspecified launch failure";
    COOPERATIVE_LAUNCH_TOO_LARGE = 720, false, c"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", c"too many blocks in cooperative launch";
    NOT_PERMITTED = 800, false, c"CUDA_ERROR_NOT_PERMITTED", c"operation not permitted";
    NOT_SUPPORTED = 801, false, c"CUDA_ERROR_NOT_SUPPORTED", c"operation not supported";
    SYSTEM_NOT_READY = 802, false, c"CUDA_ERROR_SYSTEM_NOT_READY", c"system not yet initialized";
    SYSTEM_DRIVER_MISMATCH = 803, false, c"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", c"system has unsupported display driver / cuda driver combination";
    STREAM_CAPTURE_UNSUPPORTED = 900, false, c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", c"operation not permitted when stream is capturing";
    STREAM_CAPTURE_INVALIDATED = 901, false, c"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", c"operation failed due to a previous error during capture";
    STREAM_CAPTURE_MERGE = 902, false, c"CUDA_ERROR_STREAM_CAPTURE_MERGE", c"operation would result in a merge of separate capture sequences";
    STREAM_CAPTURE_UNMATCHED = 903, false, c"CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", c"capture was not ended in the same stream as it began";
    STREAM_CAPTURE_UNJOINED = 904, false, c"CUDA_ERROR_STREAM_CAPTURE_UNJOINED", c"capturing stream has unjoined work";
    STREAM_CAPTURE_ISOLATION = 905, false, c"CUDA_ERROR_STREAM_CAPTURE_ISOLATION", c"dependency created on uncaptured work in another stream";
    STREAM_CAPTURE_IMPLICIT = 906, false, c"CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", c"operation would make the legacy stream depend on a capturing blocking stream";
    CAPTURED_EVENT = 907, false, c"CUDA_ERROR_CAPTURED_EVENT", c"operation not permitted on an event last recorded in a capturing stream";
    TIMEOUT = 909, false, c"CUDA_ERROR_TIMEOUT", c"wait operation timed out";
    GRAPH_EXEC_UPDATE_FAILURE = 910, false, c"CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", c"the graph update was not performed because it included changes which violated constraints specific to instantiated graph update";
    INVALID_CLUSTER_SIZE = 912, false, c"CUDA_ERROR_INVALID_CLUSTER_SIZE", c"a kernel launch error has occurred due to cluster misconfiguration";
    UNKNOWN = 999, true, c"CUDA_ERROR_UNKNOWN", c"unknown error";
}

impl Code {
    fn meaning(self) -> Option<&'static Meaning> {
        TABLE.iter().find(|row| row.code == self)
    }

    /// The symbolic name, if CUDA has one for this number.
    pub fn name(self) -> Option<&'static CStr> {
        self.meaning().map(|row| row.name)
    }

    /// The sentence `cuGetErrorString` answers.
    pub fn text(self) -> Option<&'static CStr> {
        self.meaning().map(|row| row.text)
    }

    /// The code with this symbolic name.
    pub fn from_name(name: &str) -> Option<Code> {
        TABLE
            .iter()
            .find(|row| row.name.to_bytes() == name.as_bytes())
            .map(|row| row.code)
    }

    /// Whether a context that met this error answers it for ever after. CUDA does
    /// not say so of 999; but no context is known to have survived it.
    pub fn is_sticky(self) -> bool {
        self.meaning().is_some_and(|row| row.sticky)
    }

    /// `Ok` for success.
    pub fn result(self) -> Result {
        if self == Code::SUCCESS {
            Ok(())
        } else {
            Err(self)
        }
    }
}

thread_local! {
    /// The last reason that was given on this thread.
    static REASON: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The reason of every call after the one that lost the context.
pub const CONTEXT_LOST: &str = "earlier work failed, and its context or device with it; every \
                                later call there answers the same";

impl Code {
    /// The code with the reason that is logged if the call returns it.
    #[must_use]
    pub fn because(self, why: impl Into<String>) -> Code {
        // A thread that ends has no reasons any more; the code alone will do then.
        let _ = REASON.try_with(|reason| *reason.borrow_mut() = Some(why.into()));
        self
    }
}

/// The error for an argument that makes no sense.
pub fn invalid(why: impl Into<String>) -> Code {
    Code::INVALID_VALUE.because(why)
}

/// Takes the last reason that was given on this thread.
pub fn take_reason() -> Option<String> {
    REASON.try_with(RefCell::take).ok().flatten()
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name().and_then(|name| name.to_str().ok()) {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "CUresult {}", self.0),
        }
    }
}
