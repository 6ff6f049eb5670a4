//! The CUDA runtime API, as programs built with `nvcc --cudart shared` call it: the
//! driver API with a device, an error and a launch's shape that each thread has of its
//! own, and with kernels and variables named by addresses in the program.
//!
//! NVIDIA's own runtime has the driver prove that it is NVIDIA's. This one asks nothing.

pub mod copies;
pub mod devices;
pub mod errors;
pub mod launches;
pub mod programs;
pub mod same;

use super::contexts::retain;
use super::devices::cuInit;
use crate::context::{self, Context};
use crate::driver::{Driver, driver};
use crate::error::{Code, Result};
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The runtime's version, whose interfaces and structures these are.
const VERSION: i32 = 13000;

/// Calls a function of the driver API.
macro_rules! driver_call {
    ($name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the caller of the runtime's function has accepted that function's
        // contract, which says of each pointer passed on what the driver's asks.
        unsafe { $name($($argument),*) }.result()
    };
}
use driver_call;

thread_local! {
    static DEVICE: Cell<i32> = const { Cell::new(0) };
    static LAST: Cell<Code> = const { Cell::new(Code::SUCCESS) };
}

/// The devices whose primary context the runtime holds.
static RETAINED: Mutex<Option<HashSet<i32>>> = Mutex::new(None);

/// Keeps an error for `cudaGetLastError`.
pub fn remember(code: Code) -> Code {
    if code != Code::SUCCESS {
        LAST.set(code);
    }
    code
}

/// Makes sure that the thread has a current context: the one it has, or else the
/// primary one of its device.
pub fn ready() -> Result {
    started()?;
    match context::current()? {
        Some(context) if context.state() != Err(Code::CONTEXT_IS_DESTROYED) => Ok(()),
        _ => enter(DEVICE.get()),
    }
}

/// The driver, started.
fn started() -> Result<&'static Driver> {
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
fn enter(ordinal: i32) -> Result {
    let driver = started()?;
    let device = driver.device(ordinal)?;
    let mut retained = RETAINED.lock().unwrap_or_else(PoisonError::into_inner);
    let retained = retained.get_or_insert_default();
    let held = device.primary().context.clone();
    let context = match held.filter(|_| retained.contains(&ordinal)) {
        Some(context) => context,
        None => {
            device.state()?;
            driver.strike("cuDevicePrimaryCtxRetain", Some(ordinal as usize))?;
            let context = retain(driver, device, ordinal as usize)?;
            retained.insert(ordinal);
            context
        }
    };
    DEVICE.set(ordinal);
    context::replace(Some(context))
}

/// The context that [`ready`] saw to, if it is well.
fn current() -> Result<Arc<Context>> {
    let context = context::current()?.ok_or_else(context::none)?;
    context.state()?;
    Ok(context)
}
