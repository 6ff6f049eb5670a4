//! What every entry point does before and after its own work: nothing unwinds
//! into C, a call that `CUDA_SIM_FAULT` names fails, a dead context answers what
//! killed it.

use super::failures;
use crate::environment::{environment, faults};
use crate::error::{Code, Result, take_reason};
use crate::state::context::Context;
use crate::state::driver::{Device, Driver, driver};
use crate::state::{schedule, thread};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

thread_local! {
    /// The number of entry points that the thread is within: those of the runtime call the
    /// driver's.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static PER_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Runs the body of an entry point, and reports what it answers if that is an error.
fn guarded(name: &str, body: impl FnOnce() -> Result) -> Code {
    let outermost = DEPTH.replace(DEPTH.get() + 1) == 0;
    if outermost {
        // That of an earlier call.
        take_reason();
    }
    // The body's own state is behind locks that outlive a panic.
    let code = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Code::SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => Code::UNKNOWN.because("the simulator failed; this is a mistake in it"),
    };
    DEPTH.set(DEPTH.get() - 1);
    if outermost {
        failures::report(name, code);
    }
    code
}

/// Calls an entry point whose default stream is the calling thread's own.
pub fn per_thread(entry_point: impl FnOnce() -> Code) -> Code {
    let before = PER_THREAD.replace(true);
    let code = entry_point();
    PER_THREAD.set(before);
    code
}

/// Whether the default stream is, in the call under way, the calling thread's own.
pub fn is_per_thread() -> bool {
    PER_THREAD.get()
}

fn not_from_a_host_function() -> Result {
    if schedule::on_worker_thread() {
        let why = "a host function on a stream must not call the driver";
        return Err(Code::NOT_PERMITTED.because(why));
    }
    Ok(())
}

/// An entry point that works before `cuInit` too.
pub fn bare(name: &'static str, body: impl FnOnce() -> Result) -> Code {
    guarded(name, || {
        // A bad environment is `cuInit`'s to report.
        if let Ok(environment) = environment()
            && let Some(injected) = environment.faults.count_call(name, None)
        {
            return Err(injected.code.because(faults::ASKED_FOR));
        }
        body()
    })
}

/// An entry point that concerns no device and no context.
pub fn driver_wide(name: &'static str, body: impl FnOnce(&'static Driver) -> Result) -> Code {
    guarded(name, || {
        not_from_a_host_function()?;
        let driver = driver()?;
        driver.count_call(name, None)?;
        body(driver)
    })
}

/// An entry point on the device with this ordinal.
pub fn device(
    name: &'static str,
    ordinal: i32,
    body: impl FnOnce(&'static Driver, &'static Device, usize) -> Result,
) -> Code {
    guarded(name, || {
        not_from_a_host_function()?;
        let driver = driver()?;
        let device = driver.device(ordinal)?;
        let ordinal = ordinal as usize;
        device.state()?;
        driver.count_call(name, Some(ordinal))?;
        body(driver, device, ordinal)
    })
}

/// An entry point that gives up a device's context, be the device lost or not.
pub fn device_release(
    name: &'static str,
    ordinal: i32,
    body: impl FnOnce(&'static Driver, &'static Device, usize) -> Result,
) -> Code {
    guarded(name, || {
        not_from_a_host_function()?;
        let driver = driver()?;
        let device = driver.device(ordinal)?;
        let ordinal = ordinal as usize;
        if device.state().is_ok() {
            driver.count_call(name, Some(ordinal))?;
        }
        body(driver, device, ordinal)
    })
}

/// An entry point that works in the calling thread's current context.
pub fn context(name: &'static str, body: impl FnOnce(&Arc<Context>) -> Result) -> Code {
    guarded(name, || {
        not_from_a_host_function()?;
        let context = living_context()?;
        context.state()?;
        count_call(name, &context)?;
        body(&context)
    })
}

/// An entry point that gives something back: it does so even in a context that
/// met a sticky error, but answers that error.
pub fn release(name: &'static str, body: impl FnOnce(&Arc<Context>) -> Result) -> Code {
    guarded(name, || {
        not_from_a_host_function()?;
        let context = living_context()?;
        let refused = match context.state() {
            Ok(()) => count_call(name, &context),
            dead => dead,
        };
        if let Err(code) = refused
            && context.state().is_ok()
        {
            return Err(code);
        }
        let done = body(&context);
        refused.and(done)
    })
}

fn living_context() -> Result<Arc<Context>> {
    driver()?;
    let context = thread::current()?;
    match context.state() {
        Err(Code::CONTEXT_IS_DESTROYED) => Err(Code::CONTEXT_IS_DESTROYED),
        _ => Ok(context),
    }
}

/// Counts the call; one that fails with a sticky code takes the context with it.
fn count_call(name: &str, context: &Context) -> Result {
    context
        .driver
        .count_call(name, Some(context.ordinal))
        .inspect_err(|code| {
            if code.is_sticky() {
                context.fail(*code);
            }
        })
}
