//! All contexts of the process: those that programs created, and each device's primary one.

use crate::environment::MAX_DEVICES;
use crate::error::{Code, Result};
use crate::state::context::Context;
use crate::state::driver::Driver;
use crate::state::handle::{Handle, Table};
use crate::sync::locked;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

/// Created contexts and primary contexts that are retained.
static ALL: LazyLock<Table<Context>> = LazyLock::new(Table::default);
/// The primary contexts, by the device's ordinal.
static PRIMARY: [Mutex<Primary>; MAX_DEVICES] = [const { Mutex::new(Primary::NONE) }; MAX_DEVICES];

/// A device's primary context: made at the first retain, with the same handle
/// for as long as the process lives.
pub struct Primary {
    /// Retains less releases.
    retained: u32,
    /// The scheduling flags it has or will have.
    pub flags: u32,
    /// The context, while retained.
    pub context: Option<Arc<Context>>,
    /// The primary context's handle, once it had one.
    handle: Option<Handle>,
}

impl Primary {
    const NONE: Primary = Primary {
        retained: 0,
        flags: 0,
        context: None,
        handle: None,
    };
}

/// The primary context of the device with this ordinal, with exclusive access.
pub fn primary(ordinal: usize) -> MutexGuard<'static, Primary> {
    locked(&PRIMARY[ordinal])
}

/// The context with this handle.
pub fn known(handle: Handle) -> Result<Arc<Context>> {
    let context = ALL.get(handle);
    context.ok_or_else(|| handle.is_no(Code::INVALID_CONTEXT, "context"))
}

/// Whether a context met an error that it does not survive.
pub fn is_dead(handle: Handle) -> bool {
    ALL.get(handle).is_some_and(|context| context.is_dead())
}

/// Makes a context on a device.
pub fn create(driver: &'static Driver, ordinal: usize, flags: u32) -> Arc<Context> {
    add(Context::new(driver, ordinal, Handle::fresh(), flags, false))
}

fn add(context: Context) -> Arc<Context> {
    let context = Arc::new(context);
    ALL.insert(context.handle, Arc::clone(&context));
    context
}

/// Ends a context.
pub fn destroy(context: &Context) {
    ALL.remove(context.handle);
    context.destroy();
}

/// Retains the primary context of a device.
pub fn retain(driver: &'static Driver, ordinal: usize) -> Result<Arc<Context>> {
    let mut primary = primary(ordinal);
    let handle = *primary.handle.get_or_insert_with(Handle::fresh);
    let context = match &primary.context {
        Some(context) => {
            context.state()?;
            Arc::clone(context)
        }
        None => add(Context::new(driver, ordinal, handle, primary.flags, true)),
    };
    primary.retained += 1;
    primary.context = Some(Arc::clone(&context));
    Ok(context)
}

/// Releases the primary context of a device, which ends with the last retain.
pub fn release(ordinal: usize) -> Result {
    let mut primary = primary(ordinal);
    if primary.retained == 0 {
        return Err(Code::INVALID_CONTEXT.because("the primary context is not retained"));
    }
    primary.retained -= 1;
    if primary.retained == 0 {
        primary.end();
    }
    Ok(())
}

/// Ends the primary context of a device, whoever has retained it.
pub fn reset(ordinal: usize) {
    let mut primary = primary(ordinal);
    primary.retained = 0;
    primary.end();
}

impl Primary {
    fn end(&mut self) {
        if let Some(context) = self.context.take() {
            destroy(&context);
        }
    }
}

/// Takes out all contexts that programs created, in the order they were made.
pub fn drain_created() -> Vec<(Handle, Arc<Context>)> {
    ALL.drain(|context| !context.is_primary)
}
