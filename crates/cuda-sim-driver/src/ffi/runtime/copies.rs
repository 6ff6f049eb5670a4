//! Allocations and copies, and copies to and from variables by name.

use super::call::{self, current, driver_call};
use super::programs::variable;
use crate::error::{Code, Result, invalid};
use crate::ffi::copies::{
    Copy2D, cuMemcpy, cuMemcpy2DAsync_v2, cuMemcpy2DUnaligned_v2, cuMemcpyAsync,
};
use crate::ffi::entries::entries;
use crate::ffi::fills::{cuMemsetD8_v2, cuMemsetD8Async};
use crate::ffi::memories::{cuMemAlloc_v2, cuMemFreeHost};
use crate::ffi::pools::cuMemAllocAsync;
use crate::ffi::raw::{HostPointer, Out, Values};
use crate::state::handle::Handle;
use crate::state::memory::Kind;

/// A `cudaPointerAttributes`.
#[repr(C)]
pub struct PointerAttributes {
    kind: u32,
    device: i32,
    on_device: u64,
    on_host: u64,
    reserved: [u64; 8],
}

/// `cudaMemoryType`s, and `cudaInvalidDeviceId`.
const UNREGISTERED: u32 = 0;
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const MANAGED: u32 = 3;
const NO_DEVICE: i32 = -2;

entries! {
    runtime fn cudaMalloc(out: Out<u64>, bytes: usize) | | {
        match bytes {
            0 => out.set(0),
            _ => driver_call!(cuMemAlloc_v2(out, bytes)),
        }
    }

    runtime fn cudaMallocAsync + _ptsz(out: Out<u64>, bytes: usize, stream: Handle) | | {
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

    runtime fn cudaMemset + _ptds(to: u64, value: i32, bytes: usize) | | {
        driver_call!(cuMemsetD8_v2(to, value as u8, bytes))
    }

    runtime fn cudaMemsetAsync + _ptsz(to: u64, value: i32, bytes: usize, stream: Handle) | | {
        driver_call!(cuMemsetD8Async(to, value as u8, bytes, stream))
    }

    runtime fn cudaMemcpy + _ptds(to: u64, from: u64, bytes: usize, direction: u32) | | {
        check(to, from, direction)?;
        driver_call!(cuMemcpy(to, from, bytes))
    }

    runtime fn cudaMemcpyAsync + _ptsz(to: u64, from: u64, bytes: usize, direction: u32, stream: Handle) | | {
        check(to, from, direction)?;
        driver_call!(cuMemcpyAsync(to, from, bytes, stream))
    }

    runtime fn cudaMemcpy2D + _ptds(
        to: u64,
        to_pitch: usize,
        from: u64,
        from_pitch: usize,
        width: usize,
        height: usize,
        direction: u32,
    ) | | {
        check(to, from, direction)?;
        let mut copy = Copy2D::between((to, to_pitch), (from, from_pitch), (width, height));
        driver_call!(cuMemcpy2DUnaligned_v2(Values::of(&mut copy)))
    }

    runtime fn cudaMemcpy2DAsync + _ptsz(
        to: u64,
        to_pitch: usize,
        from: u64,
        from_pitch: usize,
        width: usize,
        height: usize,
        direction: u32,
        stream: Handle,
    ) | | {
        check(to, from, direction)?;
        let mut copy = Copy2D::between((to, to_pitch), (from, from_pitch), (width, height));
        driver_call!(cuMemcpy2DAsync_v2(Values::of(&mut copy), stream))
    }

    // An address that the driver does not know is host memory like any other.
    runtime fn cudaPointerGetAttributes(out: Out<PointerAttributes>, address: u64) | | {
        let context = current()?;
        let memory = &context.driver.memory;
        let here = context.ordinal as i32;
        let (kind, device, on_device, on_host) = match memory.block(address) {
            Some(block) => match block.kind {
                Kind::Managed(_) => (MANAGED, block.gpu.ordinal() as i32, true, true),
                _ => (DEVICE, block.gpu.ordinal() as i32, true, false),
            },
            None if memory.host_block(address).is_some() => (HOST, here, false, true),
            None => (UNREGISTERED, NO_DEVICE, false, true),
        };
        let at = |there| if there { address } else { 0 };
        out.set(PointerAttributes {
            kind,
            device,
            on_device: at(on_device),
            on_host: at(on_host),
            reserved: [0; 8],
        })
    }

    runtime fn cudaGetSymbolAddress(out: Out<u64>, symbol: u64) | | {
        out.set(variable(symbol)?.0)
    }

    runtime fn cudaGetSymbolSize(out: Out<usize>, symbol: u64) | | {
        out.set(variable(symbol)?.1 as usize)
    }

    runtime fn cudaMemcpyToSymbol + _ptds(symbol: u64, from: u64, bytes: usize, offset: usize, direction: u32) | | {
        let to = part(symbol, offset, bytes)?;
        check(to, from, direction)?;
        driver_call!(cuMemcpy(to, from, bytes))
    }

    runtime fn cudaMemcpyToSymbolAsync + _ptsz(
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

    runtime fn cudaMemcpyFromSymbol + _ptds(to: u64, symbol: u64, bytes: usize, offset: usize, direction: u32) | | {
        let from = part(symbol, offset, bytes)?;
        check(to, from, direction)?;
        driver_call!(cuMemcpy(to, from, bytes))
    }

    runtime fn cudaMemcpyFromSymbolAsync + _ptsz(
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
        _ => {
            let why = format!("{direction} is no direction of copies");
            return Err(Code::INVALID_DIRECTION.because(why));
        }
    };
    let context = current()?;
    let lies = |address: u64, on_device: bool| match context.driver.memory.block(address) {
        Some(block) => on_device || matches!(block.kind, Kind::Managed(_)),
        None => !on_device,
    };
    let side = |on_device| if on_device { "device" } else { "host" };
    for (name, address, on_device) in [("target", to, to_device), ("source", from, from_device)] {
        if !lies(address, on_device) {
            let (asked, other) = (side(on_device), side(!on_device));
            return Err(invalid(format!(
                "by the direction of the copy its {name} is on the {asked}, but {address:#x} is \
                 {other} memory, or nothing"
            )));
        }
    }
    Ok(())
}

/// The address of a part of a variable.
fn part(symbol: u64, offset: usize, bytes: usize) -> Result<u64> {
    let (start, size) = variable(symbol)?;
    let end = offset.checked_add(bytes).filter(|end| *end as u64 <= size);
    if end.is_none() {
        let why = format!("{bytes} bytes from {offset} on are beyond the variable's {size}");
        return Err(invalid(why));
    }
    Ok(start + offset as u64)
}
