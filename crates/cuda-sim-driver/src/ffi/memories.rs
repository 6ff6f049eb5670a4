//! Memory: of the device, of the host, and both.

use super::call;
use super::entries::entries;
use super::raw::{HostPointer, Out, Values};
use super::streams::target;
use crate::error::{Code, Result, invalid};
use crate::state::context::Context;
use crate::state::handle::Handle;
use crate::state::host::{Access, PAGE, PageLocked};
use crate::state::memory::{HostBlock, Kind};
use std::sync::Arc;

/// `CU_MEMHOSTALLOC_*`: portable, mapped, write-combined.
const HOST_ALLOC_FLAGS: u32 = 7;
/// `CU_MEMHOSTREGISTER_*`: portable, mapped, I/O memory, read-only.
const HOST_REGISTER_FLAGS: u32 = 15;
/// Rows of pitched memory begin at multiples of this many bytes.
const PITCH: usize = 512;

entries! {
    context fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) |context| {
        let info = context.device().gpu.memory_info();
        free.set(info.0 as usize)?;
        total.set(info.1 as usize)
    }

    context fn cuMemAlloc_v2(address: Out<u64>, bytes: usize) |context| {
        address.check()?;
        address.set(alloc(context, bytes, "cuMemAlloc_v2")?)
    }

    context fn cuMemAllocPitch_v2(
        address: Out<u64>,
        pitch: Out<usize>,
        width: usize,
        height: usize,
        element: u32,
    ) |context| {
        address.check()?;
        pitch.check()?;
        if !matches!(element, 4 | 8 | 16) {
            return Err(invalid(format!("elements of {element} bytes; there are 4, 8 and 16")));
        }
        let row = width.checked_next_multiple_of(PITCH).ok_or_else(too_much)?;
        let bytes = row.checked_mul(height).ok_or_else(too_much)?;
        address.set(alloc(context, bytes, "cuMemAllocPitch_v2")?)?;
        pitch.set(row)
    }

    context fn cuMemAllocManaged(address: Out<u64>, bytes: usize, flags: u32) |context| {
        address.check()?;
        // Attached to all streams, or to the host, or to one stream.
        if !matches!(flags, 1 | 2 | 4) {
            return Err(no_flags(flags));
        }
        some(bytes)?;
        let whole = bytes.checked_next_multiple_of(PAGE as usize).ok_or_else(too_much)?;
        let gpu = &context.device().gpu;
        if whole as u64 > gpu.memory_info().0 {
            return Err(gpu.full(bytes as u64));
        }
        let host = PageLocked::new(bytes).ok_or_else(too_much)?;
        let base = host.span().address();
        gpu.alloc_at(base, bytes as u64)?;
        let managed = Kind::Managed(host);
        context.driver.memory.add(base, bytes as u64, context.place(), managed, "cuMemAllocManaged");
        address.set(base)
    }

    release fn cuMemFree_v2(address: u64) |context| {
        if address == 0 {
            return Ok(());
        }
        let block = context.driver.memory.remove(address)?;
        // Memory under way is not pulled away.
        context.driver.scheduler.finish();
        block.release();
        context.state()
    }

    context fn cuMemGetAddressRange_v2(base: Out<u64>, bytes: Out<usize>, address: u64) |context| {
        let block = context.driver.memory.block(address);
        let none = || Code::NOT_FOUND.because(format!("no device memory is at {address:#x}"));
        let block = block.ok_or_else(none)?;
        base.set_if_asked(block.base);
        bytes.set_if_asked(block.bytes as usize);
        Ok(())
    }

    context fn cuMemAllocHost_v2(pointer: Out<HostPointer>, bytes: usize) |context| {
        alloc_host(context, &pointer, bytes, 0, "cuMemAllocHost_v2")
    }

    context fn cuMemHostAlloc(pointer: Out<HostPointer>, bytes: usize, flags: u32) |context| {
        if flags & !HOST_ALLOC_FLAGS != 0 {
            return Err(no_flags(flags));
        }
        alloc_host(context, &pointer, bytes, flags, "cuMemHostAlloc")
    }

    release fn cuMemFreeHost(pointer: HostPointer) |context| {
        let memory = &context.driver.memory;
        let block = memory.remove_host(pointer.address(), false);
        let block = block.ok_or_else(|| no_host_memory(pointer))?;
        // A copy under way still reads or writes it.
        context.driver.scheduler.finish();
        drop(block);
        context.state()
    }

    context fn cuMemHostRegister_v2(pointer: HostPointer, bytes: usize, flags: u32) |context| {
        if flags & !HOST_REGISTER_FLAGS != 0 {
            return Err(no_flags(flags));
        }
        some(bytes)?;
        let span = pointer.span(bytes)?;
        if !span.allows(Access::Read) {
            let why = format!("{bytes} bytes from {:#x} on are not all there", span.address());
            return Err(invalid(why));
        }
        let memory = &context.driver.memory;
        memory.add_host(span, context.handle, flags, None, "cuMemHostRegister_v2")
    }

    release fn cuMemHostUnregister(pointer: HostPointer) |context| {
        let memory = &context.driver.memory;
        let block = memory.remove_host(pointer.address(), true);
        let none = || {
            let why = format!("no registered memory begins at {:#x}", pointer.address());
            Code::HOST_MEMORY_NOT_REGISTERED.because(why)
        };
        block.ok_or_else(none)?;
        context.driver.scheduler.finish();
        context.state()
    }

    context fn cuMemHostGetFlags(flags: Out<u32>, pointer: HostPointer) |context| {
        flags.set(host_block(context, pointer)?.flags)
    }

    // Kernels of the simulator do not reach host memory.
    context fn cuMemHostGetDevicePointer_v2(
        _address: Out<u64>,
        pointer: HostPointer,
        _flags: u32,
    ) |context| {
        host_block(context, pointer)?;
        Err(Code::NOT_SUPPORTED.because("kernels of the simulator do not reach host memory"))
    }

    context fn cuMemPrefetchAsync + _ptsz(address: u64, bytes: usize, device: i32, stream: Handle) |context| {
        target(context, stream)?;
        // -1 is the host.
        if device != -1 {
            context.driver.device(device)?;
        }
        managed_range(context, address, bytes)
    }

    // A location is a kind and a number, passed in one register.
    context fn cuMemAdvise_v2(address: u64, bytes: usize, _advice: u32, _location: u64) |context| {
        managed_range(context, address, bytes)
    }

    context fn cuMemPrefetchAsync_v2 + _ptsz(
        address: u64,
        bytes: usize,
        _location: u64,
        _flags: u32,
        stream: Handle,
    ) |context| {
        target(context, stream)?;
        managed_range(context, address, bytes)
    }

    context fn cuPointerGetAttribute(out: HostPointer, attribute: u32, address: u64) |context| {
        let value = attribute_of(context, attribute, address)?;
        value.write(out)
    }

    context fn cuPointerGetAttributes(
        count: u32,
        attributes: Values<u32>,
        outs: Values<HostPointer>,
        address: u64,
    ) |context| {
        for index in 0..count as usize {
            // What an address does not have is zero here, and no error.
            let value = match attribute_of(context, attributes.get(index)?, address) {
                Ok(value) => value,
                Err(Code::INVALID_VALUE) => Attribute::Number(0),
                Err(code) => return Err(code),
            };
            value.write(outs.get(index)?)?;
        }
        Ok(())
    }
}

fn alloc(context: &Context, bytes: usize, function: &'static str) -> Result<u64> {
    some(bytes)?;
    let base = context.device().gpu.alloc(bytes as u64)?;
    let memory = &context.driver.memory;
    memory.add(base, bytes as u64, context.place(), Kind::Device, function);
    Ok(base)
}

fn alloc_host(
    context: &Context,
    pointer: &Out<HostPointer>,
    bytes: usize,
    flags: u32,
    function: &'static str,
) -> Result {
    pointer.check()?;
    some(bytes)?;
    let host = PageLocked::new(bytes).ok_or_else(too_much)?;
    let span = host.span();
    let memory = &context.driver.memory;
    memory.add_host(span, context.handle, flags, Some(host), function)?;
    pointer.set(HostPointer::from_address(span.address()))
}

fn host_block(context: &Context, pointer: HostPointer) -> Result<Arc<HostBlock>> {
    let block = context.driver.memory.host_block(pointer.address());
    block.ok_or_else(|| no_host_memory(pointer))
}

fn no_host_memory(pointer: HostPointer) -> Code {
    invalid(format!(
        "{:#x} is no memory of cuMemHostAlloc's",
        pointer.address()
    ))
}

fn no_flags(flags: u32) -> Code {
    invalid(format!("there are no such flags as {flags:#x} here"))
}

/// The error where a size is beyond what there could be, or the host has no more.
fn too_much() -> Code {
    Code::OUT_OF_MEMORY.because("the host has no room for so much")
}

/// An error unless anything is asked for.
fn some(bytes: usize) -> Result {
    match bytes {
        0 => Err(invalid("0 bytes are asked for")),
        _ => Ok(()),
    }
}

/// An invalid value unless the range is managed memory.
fn managed_range(context: &Context, address: u64, bytes: usize) -> Result {
    let memory = &context.driver.memory;
    memory.locate(address, bytes as u64)?;
    match memory
        .block(address)
        .map(|block| matches!(block.kind, Kind::Managed(_)))
    {
        Some(true) => Ok(()),
        _ => Err(invalid(format!("{address:#x} is no managed memory"))),
    }
}

/// A `CUpointer_attribute`'s value, in the width that its kind is written in.
enum Attribute {
    Number(u32),
    Wide(u64),
    Flag(bool),
}

impl Attribute {
    fn write(self, out: HostPointer) -> Result {
        let put = |bytes: &[u8]| -> Result {
            out.span(bytes.len())?
                .with_bytes_mut(|target| target.copy_from_slice(bytes));
            Ok(())
        };
        match self {
            Attribute::Number(number) => put(&number.to_ne_bytes()),
            Attribute::Wide(number) => put(&number.to_ne_bytes()),
            Attribute::Flag(flag) => put(&[u8::from(flag)]),
        }
    }
}

/// `CU_MEMORYTYPE_HOST` and `CU_MEMORYTYPE_DEVICE`.
const HOST: u32 = 1;
const DEVICE: u32 = 2;

fn attribute_of(context: &Context, attribute: u32, address: u64) -> Result<Attribute> {
    let memory = &context.driver.memory;
    let block = memory.block(address);
    let host = memory.host_block(address);
    let (base, bytes, owner, number) = match (&block, &host) {
        (Some(b), _) => (b.base, b.bytes, b.context, b.made_by.1),
        (None, Some(h)) => (h.base, h.bytes, h.context, h.made_by.1),
        (None, None) => {
            let why = format!("the driver does not know {address:#x}: it allocated nothing there");
            return Err(invalid(why));
        }
    };
    let is_managed = block
        .as_ref()
        .is_some_and(|block| matches!(block.kind, Kind::Managed(_)));
    let on_host = block.is_none() || is_managed;
    Ok(match attribute {
        // The context.
        1 => Attribute::Wide(owner.0 as u64),
        // The memory type.
        2 => Attribute::Number(if block.is_some() { DEVICE } else { HOST }),
        // The pointers for device and host.
        3 if block.is_some() => Attribute::Wide(address),
        4 if on_host => Attribute::Wide(address),
        // An identifier that is never used twice.
        7 => Attribute::Wide(number),
        8 => Attribute::Flag(is_managed),
        // The device.
        9 => {
            let device = block
                .as_ref()
                .map_or(context.ordinal, |block| block.gpu.ordinal());
            Attribute::Number(device as u32)
        }
        11 => Attribute::Wide(base),
        12 => Attribute::Wide(bytes),
        // Whether it is backed by memory.
        13 => Attribute::Flag(true),
        _ => {
            return Err(invalid(format!(
                "{address:#x} has no attribute {attribute}"
            )));
        }
    })
}
