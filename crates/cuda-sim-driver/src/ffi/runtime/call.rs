//! What every entry point of the runtime does before and after its own work, and what it
//! keeps for each thread: a device and an error.

use crate::error::{Code, Result};
use crate::ffi::call;
use crate::ffi::devices::cuInit;
use crate::state::context::Context;
use crate::state::driver::{Driver, driver};
use crate::state::{contexts, thread};
use crate::sync::locked;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

/// The runtime's version, whose interfaces and structures these are.
pub const VERSION: i32 = 13000;

/// Calls a function of the driver API.
macro_rules! driver_call {
    ($name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the caller of the runtime's function has accepted that function's
        // contract, which says of each pointer passed on what the driver's asks.
        unsafe { $name($($argument),*) }.result()
    };
}
pub(crate) use driver_call;

thread_local! {
    /// The device that the thread has chosen.
    pub static DEVICE: Cell<i32> = const { Cell::new(0) };
    /// The thread's last error.
    pub static LAST: Cell<Code> = const { Cell::new(Code::SUCCESS) };
}

/// The devices whose primary context the runtime holds.
pub static RETAINED: Mutex<Option<HashSet<i32>>> = Mutex::new(None);

/// An entry point that answers what an earlier call did: no failure of its own.
pub fn memory_of(_name: &'static str, body: impl FnOnce() -> Result) -> Code {
    body().err().unwrap_or(Code::SUCCESS)
}

/// An entry point that needs no context. Its error is kept for `cudaGetLastError`.
pub fn runtime_wide(name: &'static str, body: impl FnOnce() -> Result) -> Code {
    let code = call::bare(name, body);
    if code != Code::SUCCESS {
        LAST.set(code);
    }
    code
}

/// An entry point that works in the calling thread's context, which it may be the first to
/// need.
pub fn runtime(name: &'static str, body: impl FnOnce() -> Result) -> Code {
    runtime_wide(name, || ready().and_then(|()| body()))
}

/// Makes sure that the thread has a current context: the one it has, or else the
/// primary one of its device.
fn ready() -> Result {
    started()?;
    match thread::top()? {
        Some(context) if context.state() != Err(Code::CONTEXT_IS_DESTROYED) => Ok(()),
        _ => enter(DEVICE.get()),
    }
}

/// The driver, started.
pub fn started() -> Result<&'static Driver> {
    driver_call!(cuInit(0))?;
    let driver = driver()?;
    if driver.environment.version.0 < VERSION {
        let why = format!(
            "CUDA_SIM_DRIVER_VERSION is {}, and programs of this runtime need 13.0",
            driver.environment.version
        );
        return Err(Code::INSUFFICIENT_DRIVER.because(why));
    }
    Ok(driver)
}

/// Makes the primary context of a device current.
pub fn enter(ordinal: i32) -> Result {
    let driver = started()?;
    let device = driver.device(ordinal)?;
    let mut retained = locked(&RETAINED);
    let retained = retained.get_or_insert_default();
    let held = contexts::primary(ordinal as usize).context.clone();
    let context = match held.filter(|_| retained.contains(&ordinal)) {
        Some(context) => context,
        None => {
            device.state()?;
            driver.count_call("cuDevicePrimaryCtxRetain", Some(ordinal as usize))?;
            let context = contexts::retain(driver, ordinal as usize)?;
            retained.insert(ordinal);
            context
        }
    };
    DEVICE.set(ordinal);
    thread::replace(Some(context))
}

/// The context that [`ready`] saw to, if it is well.
pub fn current() -> Result<Arc<Context>> {
    let context = thread::current()?;
    context.state()?;
    Ok(context)
}
