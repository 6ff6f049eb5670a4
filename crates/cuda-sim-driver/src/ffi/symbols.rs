//! Entry points by name: what programs that link nothing look everything up with.

use super::entries;
use super::raw::{Out, Text};
use crate::driver::environment;
use crate::error::{Code, Result};

entries! {
    bare fn cuGetProcAddress(symbol: Text, function: Out<*const ()>, version: i32, _flags: u64) | | {
        look_up(symbol, &function, version).map(|_| ()).map_err(|_| Code::NOT_FOUND)
    }

    bare fn cuGetProcAddress_v2(
        symbol: Text,
        function: Out<*const ()>,
        version: i32,
        _flags: u64,
        status: Out<u32>,
    ) | | {
        function.check()?;
        let found = look_up(symbol, &function, version);
        status.set_if_asked(match found {
            Ok(()) => 0,
            Err(missing) => missing as u32,
        });
        found.map_err(|_| Code::NOT_FOUND)
    }
}

/// A `CUdriverProcAddressQueryResult` other than success.
#[derive(Clone, Copy)]
enum Missing {
    Symbol = 1,
    Version = 2,
}

/// The CUDA versions that brought later forms of functions; all others are older
/// than any version that a program asks for.
const SINCE: &[(&str, i32)] = &[
    ("cuCtxCreate_v3", 11040),
    ("cuCtxCreate_v4", 12050),
    ("cuEventElapsedTime_v2", 12080),
    ("cuGetProcAddress", 11030),
    ("cuGetProcAddress_v2", 12000),
    ("cuGraphAddDependencies_v2", 12030),
    ("cuGraphAddKernelNode_v2", 12000),
    ("cuGraphExecKernelNodeSetParams_v2", 12000),
    ("cuGraphExecUpdate_v2", 12000),
    ("cuGraphGetEdges_v2", 12030),
    ("cuGraphKernelNodeGetParams_v2", 12000),
    ("cuGraphKernelNodeSetParams_v2", 12000),
    ("cuKernelGetFunction", 12000),
    ("cuLaunchKernelEx", 11060),
    ("cuLibraryLoadData", 12000),
    ("cuMemAdvise_v2", 12020),
    ("cuMemPrefetchAsync_v2", 12020),
    ("cuStreamGetCaptureInfo_v2", 11030),
    ("cuStreamGetCaptureInfo_v3", 12030),
    ("cuStreamUpdateCaptureDependencies_v2", 12030),
];

/// The newest form of a function that a program of a CUDA version knows, of those
/// that the driver has.
fn look_up(symbol: Text, function: &Out<*const ()>, version: i32) -> Result<(), Missing> {
    let name = symbol.string().map_err(|_| Missing::Symbol)?;
    let newest = environment().map_or(version, |environment| environment.version.0);
    let since = |name: &str| {
        let row = SINCE.iter().find(|(known, _)| *known == name);
        row.map_or(0, |(_, since)| *since)
    };
    let forms = ["", "_v2", "_v3", "_v4"].map(|suffix| format!("{name}{suffix}"));
    let known = || forms.iter().filter(|form| super::exists(form));
    if name == "cuGraphInstantiate" && version >= 12000 {
        // The name passed on to another function.
        function.set_if_asked(
            super::address("cuGraphInstantiateWithFlags").unwrap_or(std::ptr::null()),
        );
        return Ok(());
    }
    let fits = |form: &&String| since(form) <= version.min(newest);
    let found = known().rfind(fits).and_then(|form| super::address(form));
    match found {
        Some(address) => {
            function.set_if_asked(address);
            Ok(())
        }
        None => {
            function.set_if_asked(std::ptr::null());
            Err(match known().next() {
                Some(_) => Missing::Version,
                None => Missing::Symbol,
            })
        }
    }
}
