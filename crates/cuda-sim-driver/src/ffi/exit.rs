//! What is done when the process exits: the report of leaks.

#![allow(unsafe_code)] // Calls the C library.

use crate::environment::Leaks;
use crate::state::driver::driver;
use crate::state::leaks;
use crate::sync::locked;
use std::panic::catch_unwind;
use std::sync::{Mutex, Once};

/// The exit code of a process that leaked, where `CUDA_SIM_LEAKS=fail`.
const EXIT_CODE: i32 = 86;

/// Has `f` called when the process exits, before functions that were given earlier; not in a
/// process forked from this one.
pub fn at_exit(f: fn()) {
    /// A process, and what is to be called at its end.
    type Ending = (u32, fn());
    static ENDINGS: Mutex<Vec<Ending>> = Mutex::new(Vec::new());
    extern "C" fn call() {
        // A panic must not cross into the C library.
        let _ = catch_unwind(|| {
            let last = locked(&ENDINGS).pop();
            if let Some((process, f)) = last
                && process == std::process::id()
            {
                f();
            }
        });
    }
    locked(&ENDINGS).push((std::process::id(), f));
    // SAFETY: `call` lives as long as the process: the library is never unmapped.
    unsafe { libc::atexit(call) };
}

/// Has leaks reported when the process exits, as `CUDA_SIM_LEAKS` says.
pub fn report_leaks_at_exit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if driver().is_ok_and(|driver| driver.environment.leaks != Leaks::Ignore) {
            at_exit(report_leaks);
        }
    });
}

fn report_leaks() {
    let Ok(driver) = driver() else { return };
    if let Some(text) = leaks::report(driver) {
        driver.environment.say(&text);
        if driver.environment.leaks == Leaks::Fail {
            // SAFETY: has no precondition; ends the process.
            unsafe { libc::_exit(EXIT_CODE) };
        }
    }
}
