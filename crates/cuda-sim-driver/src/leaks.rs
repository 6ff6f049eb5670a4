//! The report at exit of what a program did not free.

use crate::context::Context;
use crate::driver::{Driver, driver};
use crate::environment::Leaks;
use crate::ffi::raw;
use crate::ffi::runtime::programs;
use crate::handle::Handle;
use crate::memory::{Block, HostBlock, Kind};
use crate::module::Module;
use std::fmt::Write;
use std::sync::PoisonError;

/// What a process ends with when it leaked and `CUDA_SIM_LEAKS=fail`.
pub const EXIT_CODE: i32 = 86;
/// Leaks are listed one by one up to this many.
const LISTED: usize = 20;

/// A module, in words.
pub fn module(handle: Handle, module: &Module) -> String {
    let kernels = module.kernel_names();
    format!("module {:#x} ({kernels})", handle.0)
}

/// A stream, in words.
pub fn stream(handle: Handle) -> String {
    format!("stream {:#x}", handle.0)
}

/// An event, in words.
pub fn event(handle: Handle) -> String {
    format!("event {:#x}", handle.0)
}

/// Device or managed memory, in words; nothing for a variable, which nobody frees.
pub fn block(block: &Block) -> Option<String> {
    let what = match block.kind {
        Kind::Device | Kind::Pooled(_) => "device memory",
        Kind::Managed(_) => "managed memory",
        Kind::Variable(_) => return None,
    };
    Some(memory(what, block.base, block.bytes, block.made_by))
}

/// Page-locked memory, in words.
pub fn host_block(block: &HostBlock) -> String {
    let what = match block.owned {
        Some(_) => "page-locked memory",
        None => "registered memory",
    };
    memory(what, block.base, block.bytes, block.made_by)
}

fn memory(what: &str, base: u64, bytes: u64, (function, number): (&str, u64)) -> String {
    format!("{what} {base:#x}, {bytes} bytes, allocation {number}, by {function}")
}

/// The report, or nothing if everything was freed. Primary contexts do not count,
/// nor does what is in a dead context: nobody can free it there.
pub fn report(driver: &Driver) -> Option<String> {
    let counts = |context| !driver.is_dead(context);
    let mut left = driver.memory.unfreed(counts);
    let modules = driver.modules.drain(|module| counts(module.context));
    left.extend(modules.iter().map(|(handle, m)| module(*handle, m)));
    let streams = driver.streams.drain(|stream| counts(stream.context.handle));
    left.extend(streams.iter().map(|(handle, _)| stream(*handle)));
    let events = driver.events.drain(|event| counts(event.context));
    left.extend(events.iter().map(|(handle, _)| event(*handle)));
    let created = |context: &Context| !context.is_primary;
    let contexts = driver.contexts.drain(created);
    left.extend(contexts.iter().map(|(h, _)| format!("context {:#x}", h.0)));
    let abandoned = driver
        .abandoned
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    left.extend(
        abandoned
            .iter()
            .map(|what| format!("{what} (freed only with its context)")),
    );

    if left.is_empty() {
        return None;
    }
    let mut text = format!("not freed by the program: {}", left.len());
    for what in left.iter().take(LISTED) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {what}");
    }
    if left.len() > LISTED {
        let _ = write!(text, "\n  and {} more", left.len() - LISTED);
    }
    Some(text)
}

/// Has the report made when the process exits.
pub fn report_at_exit() {
    raw::at_exit(|| {
        let Ok(driver) = driver() else { return };
        programs::unload();
        if let Some(text) = report(driver) {
            driver.say(&text);
            if driver.environment.leaks == Leaks::Fail {
                raw::exit_now(EXIT_CODE);
            }
        }
    });
}
