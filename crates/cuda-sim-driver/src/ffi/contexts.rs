//! Contexts: primary, created, and the calling thread's stack of them.

use super::call;
use super::entries::entries;
use super::modules::{bank_config, cache_config};
use super::raw::Out;
use crate::error::{Code, Result, invalid};
use crate::state::context::Context;
use crate::state::contexts::{self, known};
use crate::state::driver::Driver;
use crate::state::handle::Handle;
use crate::state::stream::PRIORITIES;
use crate::state::thread;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Scheduling, mapped host memory, local memory, and what CUDA 12 adds.
const ALL_FLAGS: u32 = 0xff;
/// The version that `cuCtxGetApiVersion` answers for contexts of every version since CUDA 3.2.
const API_VERSION: u32 = 3020;

entries! {
    device(dev) fn cuDevicePrimaryCtxRetain(out: Out<Handle>, dev: i32) |driver, _device, ordinal| {
        out.check()?;
        out.set(contexts::retain(driver, ordinal)?.handle)
    }

    device_release(dev) fn cuDevicePrimaryCtxRelease_v2(dev: i32) |_driver, _device, ordinal| {
        contexts::release(ordinal)
    }

    device(dev) fn cuDevicePrimaryCtxSetFlags_v2(dev: i32, flags: u32) |_driver, _device, ordinal| {
        valid_flags(flags)?;
        let mut primary = contexts::primary(ordinal);
        primary.flags = flags;
        if let Some(context) = &primary.context {
            context.flags.store(flags, Ordering::Relaxed);
        }
        Ok(())
    }

    device(dev) fn cuDevicePrimaryCtxGetState(dev: i32, flags: Out<u32>, active: Out<i32>) |_driver, _device, ordinal| {
        let primary = contexts::primary(ordinal);
        flags.set(primary.flags)?;
        active.set(i32::from(primary.context.is_some()))
    }

    device_release(dev) fn cuDevicePrimaryCtxReset_v2(dev: i32) |_driver, _device, ordinal| {
        contexts::reset(ordinal);
        Ok(())
    }

    device(dev) fn cuCtxCreate_v2(out: Out<Handle>, flags: u32, dev: i32) |driver, _device, ordinal| {
        create(driver, ordinal, &out, flags)
    }

    driver_wide fn cuCtxGetId(handle: Handle, id: Out<u64>) |_driver| {
        id.set(given(handle)?.handle.0 as u64)
    }

    // There is no profiler to start.
    context fn cuProfilerStart() |_context| {
        Ok(())
    }

    context fn cuProfilerStop() |_context| {
        Ok(())
    }

    driver_wide fn cuCtxDestroy_v2(handle: Handle) |_driver| {
        let context = known(handle)?;
        if context.is_primary {
            return Err(Code::INVALID_CONTEXT.because("a primary context is released, not destroyed"));
        }
        if thread::top()?.is_some_and(|current| current.handle == handle) {
            thread::pop()?;
        }
        contexts::destroy(&context);
        Ok(())
    }

    driver_wide fn cuCtxPushCurrent_v2(handle: Handle) |_driver| {
        thread::push(known(handle)?)
    }

    driver_wide fn cuCtxPopCurrent_v2(out: Out<Handle>) |_driver| {
        let context = thread::pop()?;
        out.set_if_asked(context.handle);
        Ok(())
    }

    driver_wide fn cuCtxSetCurrent(handle: Handle) |_driver| {
        thread::replace(match handle {
            Handle::NULL => None,
            handle => Some(known(handle)?),
        })
    }

    driver_wide fn cuCtxGetCurrent(out: Out<Handle>) |_driver| {
        out.set(thread::top()?.map_or(Handle::NULL, |context| context.handle))
    }

    context fn cuCtxGetDevice(out: Out<i32>) |context| {
        out.set(context.ordinal as i32)
    }

    context fn cuCtxGetFlags(out: Out<u32>) |context| {
        out.set(context.flags.load(Ordering::Relaxed))
    }

    driver_wide fn cuCtxGetDevice_v2(out: Out<i32>, handle: Handle) |driver| {
        out.set(given_since_13(driver, handle)?.ordinal as i32)
    }

    context fn cuCtxSynchronize() |context| {
        synchronize(context)
    }

    driver_wide fn cuCtxSynchronize_v2(handle: Handle) |driver| {
        synchronize(&*given_since_13(driver, handle)?)
    }

    context fn cuCtxSetLimit(limit: u32, value: usize) |context| {
        let mut settings = context.settings();
        let known = settings.limits.get_mut(limit as usize);
        *known.ok_or_else(|| no_limit(limit))? = value;
        Ok(())
    }

    context fn cuCtxGetLimit(value: Out<usize>, limit: u32) |context| {
        let settings = context.settings();
        value.set(*settings.limits.get(limit as usize).ok_or_else(|| no_limit(limit))?)
    }

    context fn cuCtxGetCacheConfig(config: Out<u32>) |context| {
        config.set(context.settings().cache)
    }

    context fn cuCtxSetCacheConfig(config: u32) |context| {
        cache_config(config)?;
        context.settings().cache = config;
        Ok(())
    }

    context fn cuCtxGetSharedMemConfig(config: Out<u32>) |context| {
        config.set(context.settings().shared)
    }

    context fn cuCtxSetSharedMemConfig(config: u32) |context| {
        bank_config(config)?;
        context.settings().shared = config;
        Ok(())
    }

    driver_wide fn cuCtxGetApiVersion(handle: Handle, version: Out<u32>) |_driver| {
        if handle != Handle::NULL {
            known(handle)?;
        }
        version.set(API_VERSION)
    }

    context fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) |_context| {
        least.set_if_asked(PRIORITIES.0);
        greatest.set_if_asked(PRIORITIES.1);
        Ok(())
    }

    context fn cuCtxResetPersistingL2Cache() |_context| {
        Ok(())
    }
}

fn create(driver: &'static Driver, ordinal: usize, out: &Out<Handle>, flags: u32) -> Result {
    out.check()?;
    valid_flags(flags)?;
    let context = contexts::create(driver, ordinal, flags);
    thread::push(Arc::clone(&context))?;
    out.set(context.handle)
}

fn synchronize(context: &Context) -> Result {
    if !context.captures().is_empty() {
        let why = "a stream captures, whose work does not run";
        return Err(Code::STREAM_CAPTURE_UNSUPPORTED.because(why));
    }
    context.finish();
    context.state()
}

/// The context with this handle; null stands for the current one.
fn given(handle: Handle) -> Result<Arc<Context>> {
    match handle {
        Handle::NULL => thread::current(),
        handle => known(handle),
    }
}

/// The context that a form of CUDA 13 is given; an older driver has only the form without.
/// Programs that look for a `_v2` of everything, as Numba does, find the symbol all the same
/// and pass no context.
fn given_since_13(driver: &Driver, handle: Handle) -> Result<Arc<Context>> {
    match driver.environment.version.0 {
        13000.. => given(handle),
        _ => given(Handle::NULL),
    }
}

fn no_limit(limit: u32) -> Code {
    Code::UNSUPPORTED_LIMIT.because(format!("there is no limit {limit}"))
}

fn valid_flags(flags: u32) -> Result {
    // The scheduling modes exclude each other: spin 1, yield 2, blocking 4.
    if flags & !ALL_FLAGS == 0 && matches!(flags & 7, 0 | 1 | 2 | 4) {
        Ok(())
    } else {
        Err(invalid(format!("{flags:#x} are no flags of contexts")))
    }
}
