//! Functions of the driver by name, for programs of the runtime.

use super::call::{self, VERSION, driver_call};
use crate::error::{Code, Result};
use crate::ffi::call::is_per_thread;
use crate::ffi::entries::entries;
use crate::ffi::raw::{Out, Text};
use crate::ffi::symbols::{PER_THREAD, cuGetProcAddress_v2};

entries! {
    runtime_wide fn cudaGetDriverEntryPoint + _ptsz(
        symbol: Text,
        function: Out<*const ()>,
        flags: u64,
        status: Out<u32>,
    ) | | {
        entry_point(symbol, function, VERSION, flags, status)
    }

    runtime_wide fn cudaGetDriverEntryPointByVersion + _ptsz(
        symbol: Text,
        function: Out<*const ()>,
        version: i32,
        flags: u64,
        status: Out<u32>,
    ) | | {
        entry_point(symbol, function, version, flags, status)
    }
}

/// A function of the driver by name. One that is not there is null, and no error.
fn entry_point(
    symbol: Text,
    function: Out<*const ()>,
    version: i32,
    flags: u64,
    status: Out<u32>,
) -> Result {
    // By default, the form for the default stream that the program was built for.
    let flags = match flags {
        0 if is_per_thread() => PER_THREAD,
        flags => flags,
    };
    match driver_call!(cuGetProcAddress_v2(
        symbol, function, version, flags, status
    )) {
        Err(Code::NOT_FOUND) => Ok(()),
        answer => answer,
    }
}
