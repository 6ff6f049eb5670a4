//! Allocations and copies, and copies to and from variables by name.

use super::programs::variable;
use super::{current, driver_call};
use crate::error::{Code, Result};
use crate::ffi::copies::{cuMemcpy, cuMemcpyAsync, cuMemsetD8_v2, cuMemsetD8Async};
use crate::ffi::entries;
use crate::ffi::memories::{cuMemAlloc_v2, cuMemFreeHost};
use crate::ffi::pools::cuMemAllocAsync;
use crate::ffi::raw::{HostPointer, Out};
use crate::handle::Handle;
use crate::memory::Kind;

entries! {
    runtime fn cudaMalloc(out: Out<u64>, bytes: usize) | | {
        match bytes {
            0 => out.set(0),
            _ => driver_call!(cuMemAlloc_v2(out, bytes)),
        }
    }

    runtime fn cudaMallocAsync(out: Out<u64>, bytes: usize, stream: Handle) | | {
        match bytes {
            0 => out.set(0),
            _ => driver_call!(cuMemAllocAsync(out, bytes, stream)),
        }
    }

    runtime fn cudaFreeHost(pointer: HostPointer) | | {
        if pointer == HostPointer::NULL {
            return Ok(());
        }
        driver_call!(cuMemFreeHost(pointer))
    }

    runtime fn cudaMemset(to: u64, value: i32, bytes: usize) | | {
        driver_call!(cuMemsetD8_v2(to, value as u8, bytes))
    }

    runtime fn cudaMemsetAsync(to: u64, value: i32, bytes: usize, stream: Handle) | | {
        driver_call!(cuMemsetD8Async(to, value as u8, bytes, stream))
    }

    runtime fn cudaMemcpy(to: u64, from: u64, bytes: usize, direction: u32) | | {
        check(to, from, direction)?;
        driver_call!(cuMemcpy(to, from, bytes))
    }

    runtime fn cudaMemcpyAsync(to: u64, from: u64, bytes: usize, direction: u32, stream: Handle) | | {
        check(to, from, direction)?;
        driver_call!(cuMemcpyAsync(to, from, bytes, stream))
    }

    runtime fn cudaGetSymbolAddress(out: Out<u64>, symbol: u64) | | {
        out.set(variable(symbol)?.0)
    }

    runtime fn cudaGetSymbolSize(out: Out<usize>, symbol: u64) | | {
        out.set(variable(symbol)?.1 as usize)
    }

    runtime fn cudaMemcpyToSymbol(symbol: u64, from: u64, bytes: usize, offset: usize, direction: u32) | | {
        let to = part(symbol, offset, bytes)?;
        check(to, from, direction)?;
        driver_call!(cuMemcpy(to, from, bytes))
    }

    runtime fn cudaMemcpyToSymbolAsync(
        symbol: u64,
        from: u64,
        bytes: usize,
        offset: usize,
        direction: u32,
        stream: Handle,
    ) | | {
        let to = part(symbol, offset, bytes)?;
        check(to, from, direction)?;
        driver_call!(cuMemcpyAsync(to, from, bytes, stream))
    }

    runtime fn cudaMemcpyFromSymbol(to: u64, symbol: u64, bytes: usize, offset: usize, direction: u32) | | {
        let from = part(symbol, offset, bytes)?;
        check(to, from, direction)?;
        driver_call!(cuMemcpy(to, from, bytes))
    }

    runtime fn cudaMemcpyFromSymbolAsync(
        to: u64,
        symbol: u64,
        bytes: usize,
        offset: usize,
        direction: u32,
        stream: Handle,
    ) | | {
        let from = part(symbol, offset, bytes)?;
        check(to, from, direction)?;
        driver_call!(cuMemcpyAsync(to, from, bytes, stream))
    }
}

/// An error unless both addresses lie where a `cudaMemcpyKind` says.
fn check(to: u64, from: u64, direction: u32) -> Result {
    // Of each, whether it is on the device.
    let (to_device, from_device) = match direction {
        0 => (false, false),
        1 => (true, false),
        2 => (false, true),
        3 => (true, true),
        // Wherever the addresses are.
        4 => return Ok(()),
        _ => return Err(Code::INVALID_DIRECTION),
    };
    let context = current()?;
    let lies = |address: u64, on_device: bool| match context.driver.memory.block(address) {
        Some(block) => on_device || matches!(block.kind, Kind::Managed(_)),
        None => !on_device,
    };
    if lies(to, to_device) && lies(from, from_device) {
        Ok(())
    } else {
        Err(Code::INVALID_VALUE)
    }
}

/// The address of a part of a variable.
fn part(symbol: u64, offset: usize, bytes: usize) -> Result<u64> {
    let (start, size) = variable(symbol)?;
    let end = offset.checked_add(bytes).ok_or(Code::INVALID_VALUE)?;
    if end as u64 > size {
        return Err(Code::INVALID_VALUE);
    }
    Ok(start + offset as u64)
}
