//! Memory pools, and allocations in the order of streams.

use super::call;
use super::entries::entries;
use super::raw::{HostPointer, Out, Values};
use super::streams::target;
use crate::error::{Code, Result, invalid};
use crate::state::context::Context;
use crate::state::driver::Driver;
use crate::state::handle::Handle;
use crate::state::memory::Kind;
use crate::state::pool::Pool;
use std::sync::Arc;

/// The head of a `CUmemPoolProps`, which is 88 bytes long: kind of allocation, types
/// of handles, and where it lies.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PoolProperties {
    kind: u32,
    handles: u32,
    location: Location,
}

/// A `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    kind: u32,
    id: i32,
}

/// `CU_MEM_LOCATION_TYPE_DEVICE`.
const ON_DEVICE: u32 = 1;

/// A `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Access {
    location: Location,
    flags: u32,
}

entries! {
    device(dev) fn cuDeviceGetDefaultMemPool(out: Out<Handle>, dev: i32) |driver, device, ordinal| {
        let mut pools = device.pools();
        out.set(pools.default(driver, ordinal))
    }

    device(dev) fn cuDeviceGetMemPool(out: Out<Handle>, dev: i32) |driver, device, ordinal| {
        let mut pools = device.pools();
        out.set(pools.current(driver, ordinal))
    }

    device(dev) fn cuDeviceSetMemPool(dev: i32, pool: Handle) |driver, device, ordinal| {
        if known(driver, pool)?.ordinal != ordinal {
            return Err(invalid("the pool is of another device"));
        }
        device.pools().current = Some(pool);
        Ok(())
    }

    driver_wide fn cuMemPoolCreate(out: Out<Handle>, properties: Values<PoolProperties>) |driver| {
        out.check()?;
        let properties = properties.get(0)?;
        // Pinned memory of the device, which no other process is given.
        if properties.kind != 1 || properties.location.kind != ON_DEVICE {
            return Err(invalid("pools are of pinned memory of a device"));
        }
        if properties.handles != 0 {
            return Err(Code::NOT_SUPPORTED.because("no other process can be given a pool"));
        }
        driver.device(properties.location.id)?;
        let pool = Arc::new(Pool::new(properties.location.id as usize, true));
        driver.pools.insert(pool.handle, Arc::clone(&pool));
        out.set(pool.handle)
    }

    driver_wide fn cuMemPoolDestroy(pool: Handle) |driver| {
        let known = known(driver, pool)?;
        if !known.created {
            return Err(invalid("a device's default pool cannot be destroyed"));
        }
        let mut pools = driver.devices[known.ordinal].pools();
        if pools.current == Some(pool) {
            pools.current = None;
        }
        // What was taken from it stays until it is freed.
        driver.pools.remove(pool);
        Ok(())
    }

    driver_wide fn cuMemPoolTrimTo(pool: Handle, _keep: usize) |driver| {
        known(driver, pool).map(|_| ())
    }

    driver_wide fn cuMemPoolSetAttribute(pool: Handle, attribute: u32, value: HostPointer) |driver| {
        let pool = known(driver, pool)?;
        let mut account = pool.account();
        match attribute {
            1..=3 => account.reuse[attribute as usize - 1] = value.values::<i32>().get(0)?,
            4 => account.threshold = value.values::<u64>().get(0)?,
            // The marks of the most that was used can be set back to zero.
            6 | 8 if value.values::<u64>().get(0)? == 0 => account.most = account.used,
            _ => return Err(no_attribute(attribute)),
        }
        Ok(())
    }

    driver_wide fn cuMemPoolGetAttribute(pool: Handle, attribute: u32, value: HostPointer) |driver| {
        let account = *known(driver, pool)?.account();
        let number = match attribute {
            1..=3 => return value.values::<i32>().set(0, account.reuse[attribute as usize - 1]),
            4 => account.threshold,
            // Bytes reserved, which are those in use.
            5 | 7 => account.used,
            6 | 8 => account.most,
            _ => return Err(no_attribute(attribute)),
        };
        value.values::<u64>().set(0, number)
    }

    driver_wide fn cuMemPoolSetAccess(pool: Handle, accesses: Values<Access>, count: usize) |driver| {
        let pool = known(driver, pool)?;
        for index in 0..count {
            let access = accesses.get(index)?;
            let own = access.location.kind == ON_DEVICE && access.location.id as usize == pool.ordinal;
            match (own, access.flags) {
                // No access, and all of it: CU_MEM_ACCESS_FLAGS_PROT_READWRITE.
                (true, 3) | (false, 0) => {}
                (true, _) => return Err(invalid("a device cannot be kept from its own pool")),
                (false, _) => {
                    let why = "no other device reaches a pool";
                    return Err(Code::NOT_SUPPORTED.because(why));
                }
            }
        }
        Ok(())
    }

    driver_wide fn cuMemPoolGetAccess(flags: Out<u32>, pool: Handle, location: Values<Location>) |driver| {
        let (pool, location) = (known(driver, pool)?, location.get(0)?);
        let own = location.kind == ON_DEVICE && location.id as usize == pool.ordinal;
        flags.set(if own { 3 } else { 0 })
    }

    context fn cuMemAllocAsync + _ptsz(address: Out<u64>, bytes: usize, stream: Handle) |context| {
        let pool = context.device().pools().current(context.driver, context.ordinal);
        alloc(context, &address, bytes, pool, stream, "cuMemAllocAsync")
    }

    context fn cuMemAllocFromPoolAsync + _ptsz(
        address: Out<u64>,
        bytes: usize,
        pool: Handle,
        stream: Handle,
    ) |context| {
        alloc(context, &address, bytes, pool, stream, "cuMemAllocFromPoolAsync")
    }

    release fn cuMemFreeAsync + _ptsz(address: u64, stream: Handle) |context| {
        let target = target(context, stream)?;
        context.refuse_capture(target)?;
        let block = context.driver.memory.remove(address)?;
        context.submit(target, &[], move |_| {
            block.release();
            Ok(())
        })?;
        Ok(())
    }
}

/// The pool with this handle.
fn known(driver: &Driver, handle: Handle) -> Result<Arc<Pool>> {
    let pool = driver.pools.get(handle);
    pool.ok_or_else(|| handle.is_no(Code::INVALID_VALUE, "memory pool"))
}

fn no_attribute(attribute: u32) -> Code {
    invalid(format!(
        "{attribute} is no attribute of pools, or cannot be set so"
    ))
}

fn alloc(
    context: &Context,
    address: &Out<u64>,
    bytes: usize,
    pool: Handle,
    stream: Handle,
    function: &'static str,
) -> Result {
    address.check()?;
    let target = target(context, stream)?;
    context.refuse_capture(target)?;
    let pool = known(context.driver, pool)?;
    if bytes == 0 {
        return Err(invalid("0 bytes are asked for"));
    }
    if pool.ordinal != context.ordinal {
        return Err(invalid(
            "the pool is of another device than the current context",
        ));
    }
    let base = context.device().gpu.alloc(bytes as u64)?;
    pool.take(bytes as u64);
    let kind = Kind::Pooled(pool);
    let memory = &context.driver.memory;
    memory.add(base, bytes as u64, context.place(), kind, function);
    address.set(base)
}
