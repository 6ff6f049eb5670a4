//! Copies.

use super::call;
use super::entries::entries;
use super::raw::{HostPointer, Values};
use super::streams::{default_target, target};
use crate::error::{Code, Result, invalid};
use crate::state::context::Context;
use crate::state::copy::{self, Source};
use crate::state::graph::{Work, kind};
use crate::state::handle::Handle;
use crate::state::host::Access;
use crate::state::memory::{Kind, Location};
use crate::state::stream::Target;
use std::sync::Arc;

entries! {
    context fn cuMemcpy + _ptds(to: u64, from: u64, bytes: usize) |context| {
        let (to, from) = anywhere(context, to, from, bytes)?;
        copy_now(context, to, from, bytes)
    }

    context fn cuMemcpyHtoD_v2 + _ptds(to: u64, from: HostPointer, bytes: usize) |context| {
        let (to, from) = (on_device(context, to, bytes)?, on_host(context, from, bytes, Access::Read)?);
        copy_now(context, to, from, bytes)
    }

    context fn cuMemcpyDtoH_v2 + _ptds(to: HostPointer, from: u64, bytes: usize) |context| {
        let (to, from) = (on_host(context, to, bytes, Access::Write)?, on_device(context, from, bytes)?);
        copy_now(context, to, from, bytes)
    }

    // Within the device no copy makes the host wait, as CUDA has it.
    context fn cuMemcpyDtoD_v2 + _ptds(to: u64, from: u64, bytes: usize) |context| {
        let (to, from) = (on_device(context, to, bytes)?, on_device(context, from, bytes)?);
        copy_later(context, default_target(context)?, to, from, bytes)
    }

    context fn cuMemcpyAsync + _ptsz(to: u64, from: u64, bytes: usize, stream: Handle) |context| {
        let (to, from) = anywhere(context, to, from, bytes)?;
        copy_later(context, target(context, stream)?, to, from, bytes)
    }

    context fn cuMemcpyHtoDAsync_v2 + _ptsz(to: u64, from: HostPointer, bytes: usize, stream: Handle) |context| {
        let (to, from) = (on_device(context, to, bytes)?, on_host(context, from, bytes, Access::Read)?);
        copy_later(context, target(context, stream)?, to, from, bytes)
    }

    context fn cuMemcpyDtoHAsync_v2 + _ptsz(to: HostPointer, from: u64, bytes: usize, stream: Handle) |context| {
        let (to, from) = (on_host(context, to, bytes, Access::Write)?, on_device(context, from, bytes)?);
        copy_later(context, target(context, stream)?, to, from, bytes)
    }

    context fn cuMemcpyDtoDAsync_v2 + _ptsz(to: u64, from: u64, bytes: usize, stream: Handle) |context| {
        let (to, from) = (on_device(context, to, bytes)?, on_device(context, from, bytes)?);
        copy_later(context, target(context, stream)?, to, from, bytes)
    }

    context fn cuMemcpy2DUnaligned_v2 + _ptds(copy: Values<Copy2D>) |context| {
        copy_rows_now(context, copy.get(0)?.rows(context)?)
    }

    context fn cuMemcpy2DAsync_v2 + _ptsz(copy: Values<Copy2D>, stream: Handle) |context| {
        copy_rows_later(context, target(context, stream)?, copy.get(0)?.rows(context)?)
    }

    context fn cuMemcpy3D_v2 + _ptds(copy: Values<Copy3D>) |context| {
        copy_rows_now(context, copy.get(0)?.rows(context)?)
    }

    context fn cuMemcpy3DAsync_v2 + _ptsz(copy: Values<Copy3D>, stream: Handle) |context| {
        copy_rows_later(context, target(context, stream)?, copy.get(0)?.rows(context)?)
    }

    // Addresses say which device they are on, so the contexts do not matter.
    context fn cuMemcpyPeer + _ptds(to: u64, _target: Handle, from: u64, _source: Handle, bytes: usize) |context| {
        let (to, from) = (on_device(context, to, bytes)?, on_device(context, from, bytes)?);
        copy_now(context, to, from, bytes)
    }

    context fn cuMemcpyPeerAsync + _ptsz(
        to: u64,
        _target: Handle,
        from: u64,
        _source: Handle,
        bytes: usize,
        stream: Handle,
    ) |context| {
        let (to, from) = (on_device(context, to, bytes)?, on_device(context, from, bytes)?);
        copy_later(context, target(context, stream)?, to, from, bytes)
    }
}

/// The location of a device pointer's range.
pub(super) fn on_device(context: &Context, address: u64, bytes: usize) -> Result<Location> {
    context.driver.memory.locate(address, bytes as u64)
}

/// The location of a host pointer's range; an error unless the program may read or write it.
fn on_host(
    context: &Context,
    pointer: HostPointer,
    bytes: usize,
    access: Access,
) -> Result<Location> {
    if bytes == 0 {
        // Nothing is touched, so null will do.
        let nothing = HostPointer::from_address(1).span(0)?;
        return Ok(Location::Host(nothing));
    }
    let span = pointer.span(bytes)?;
    let (memory, address) = (&context.driver.memory, pointer.address());
    if let Some(block) = memory.block(address) {
        if matches!(block.kind, Kind::Managed(_)) {
            return on_device(context, address, bytes);
        }
        return Err(invalid(format!(
            "the host pointer {address:#x} leads to memory of device {}",
            block.gpu.ordinal()
        )));
    }
    if memory.host_block(address).is_none() && !span.allows(access) {
        let use_of = match access {
            Access::Read => "read",
            Access::Write => "written",
        };
        return Err(invalid(format!(
            "{bytes} bytes from the host pointer {address:#x} on cannot all be {use_of}"
        )));
    }
    Ok(Location::Host(span))
}

/// The locations of the ranges of two pointers that may be either: unified addressing.
fn anywhere(context: &Context, to: u64, from: u64, bytes: usize) -> Result<(Location, Location)> {
    let located = |address, access| either(context, address, bytes, access);
    Ok((located(to, Access::Write)?, located(from, Access::Read)?))
}

fn either(context: &Context, address: u64, bytes: usize, access: Access) -> Result<Location> {
    match context.driver.memory.block(address) {
        Some(_) => on_device(context, address, bytes),
        None => on_host(context, HostPointer::from_address(address), bytes, access),
    }
}

/// Copies, and returns when that is done.
fn copy_now(context: &Arc<Context>, to: Location, from: Location, bytes: usize) -> Result {
    let target = default_target(context)?;
    if bytes > 0 {
        submit(context, target, to, Source::Memory(from), bytes)?;
    }
    context.synchronize_stream(target)
}

/// Copies several rows, and returns when that is done.
fn copy_rows_now(context: &Arc<Context>, rows: Vec<(Location, Location, usize)>) -> Result {
    rows.into_iter()
        .try_for_each(|(to, from, bytes)| copy_now(context, to, from, bytes))
}

/// Copies several rows, each when its turn on the stream comes.
fn copy_rows_later(
    context: &Arc<Context>,
    target: Target,
    rows: Vec<(Location, Location, usize)>,
) -> Result {
    rows.into_iter()
        .try_for_each(|(to, from, bytes)| copy_later(context, target, to, from, bytes))
}

/// Copies when its turn on the stream comes. As in CUDA, host memory that is not
/// page-locked makes it less asynchronous: what is copied from is read before the
/// call returns, what is copied to is written before it does.
fn copy_later(
    context: &Arc<Context>,
    target: Target,
    to: Location,
    from: Location,
    bytes: usize,
) -> Result {
    if bytes == 0 {
        return Ok(());
    }
    if context.capture_of(target).is_some() {
        // Each launch of the graph reads and writes what is there then.
        return submit(context, target, to, Source::Memory(from), bytes);
    }
    let pageable = |location: &Location| match location {
        Location::Device { .. } => false,
        Location::Host(span) => {
            let memory = &context.driver.memory;
            let known = memory.host_block(span.address()).is_some();
            !known && memory.block(span.address()).is_none()
        }
    };
    let waits = pageable(&to);
    let source = match from {
        Location::Host(span) if pageable(&from) => Source::Staged(span.with_bytes(<[u8]>::to_vec)),
        from => Source::Memory(from),
    };
    submit(context, target, to, source, bytes)?;
    if waits {
        context.synchronize_stream(target)?;
    }
    Ok(())
}

fn submit(
    context: &Arc<Context>,
    target: Target,
    to: Location,
    from: Source,
    bytes: usize,
) -> Result {
    let work = move || copy::copy(to, &from, bytes);
    context.enqueue(target, Work::new(kind::COPY, work))
}

pub(super) fn too_large() -> Code {
    invalid("an extent or a pitch is too large")
}

/// A `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy2D {
    from: Side,
    to: Side,
    width: usize,
    height: usize,
}

/// One side of a `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Side {
    x: usize,
    y: usize,
    memory_type: u32,
    host: HostPointer,
    device: u64,
    array: usize,
    pitch: usize,
}

impl Side {
    /// The location of row `row` of the rectangle.
    fn row(&self, context: &Context, row: usize, width: usize, access: Access) -> Result<Location> {
        // Zero: the rows lie close.
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let start = self
            .y
            .checked_add(row)
            .and_then(|y| y.checked_mul(pitch))
            .and_then(|offset| offset.checked_add(self.x))
            .ok_or_else(too_large)? as u64;
        let at = |base: u64| base.checked_add(start).ok_or_else(too_large);
        match self.memory_type {
            // CU_MEMORYTYPE_HOST, _DEVICE, _ARRAY, _UNIFIED.
            1 => {
                let start = HostPointer::from_address(at(self.host.address())?);
                on_host(context, start, width, access)
            }
            2 => on_device(context, at(self.device)?, width),
            3 => Err(Code::NOT_SUPPORTED.because("there are no arrays here")),
            4 => either(context, at(self.device)?, width, access),
            kind => Err(invalid(format!("{kind} is no type of memory"))),
        }
    }
}

impl Copy2D {
    /// A copy of `(width, height)` bytes between addresses that may be on either side, each
    /// with its pitch.
    pub(super) fn between(to: (u64, usize), from: (u64, usize), extent: (usize, usize)) -> Self {
        let side = |(device, pitch)| Side {
            x: 0,
            y: 0,
            memory_type: 4,
            host: HostPointer::NULL,
            device,
            array: 0,
            pitch,
        };
        Copy2D {
            from: side(from),
            to: side(to),
            width: extent.0,
            height: extent.1,
        }
    }

    /// The rows to copy, all of them valid: nothing is copied otherwise.
    fn rows(&self, context: &Context) -> Result<Vec<(Location, Location, usize)>> {
        let narrow = |side: &Side| side.pitch != 0 && side.pitch < self.width;
        if narrow(&self.from) || narrow(&self.to) {
            return Err(invalid("a pitch is less than the width of the copy"));
        }
        (0..self.height)
            .map(|row| {
                let to = self.to.row(context, row, self.width, Access::Write)?;
                let from = self.from.row(context, row, self.width, Access::Read)?;
                Ok((to, from, self.width))
            })
            .collect()
    }
}

/// A `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3D {
    from: Side3D,
    to: Side3D,
    width: usize,
    height: usize,
    depth: usize,
}

/// One side of a `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Side3D {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    memory_type: u32,
    host: HostPointer,
    device: u64,
    array: usize,
    reserved: usize,
    pitch: usize,
    height: usize,
}

impl Copy3D {
    /// The rows to copy, all of them valid: nothing is copied otherwise.
    pub(super) fn rows(&self, context: &Context) -> Result<Vec<(Location, Location, usize)>> {
        let mut rows = Vec::new();
        for z in 0..self.depth {
            let flat = |side: &Side3D| -> Result<Side> {
                let height = if side.height == 0 {
                    self.height
                } else {
                    side.height
                };
                // A slice is a rectangle that begins so many rows further on.
                let y = (side.z + z)
                    .checked_mul(height)
                    .and_then(|rows| rows.checked_add(side.y))
                    .ok_or_else(too_large)?;
                Ok(Side {
                    x: side.x,
                    y,
                    memory_type: side.memory_type,
                    host: side.host,
                    device: side.device,
                    array: side.array,
                    pitch: side.pitch,
                })
            };
            let slice = Copy2D {
                from: flat(&self.from)?,
                to: flat(&self.to)?,
                width: self.width,
                height: self.height,
            };
            rows.extend(slice.rows(context)?);
        }
        Ok(rows)
    }
}
