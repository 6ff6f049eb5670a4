//! Why calls fail, in words: a code alone does not say which of a call's arguments
//! is wrong. `CUDA_SIM_QUIET=1` keeps them back.

use crate::driver::environment;
use crate::error::Code;
use crate::log;
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};

/// More messages than this would bury the first one.
const MOST: usize = 50;
/// The reason of every call after the one that lost the context. It is told once, not
/// of each function.
pub const DEAD: &str = "earlier work failed, and its context or device with it; every later call \
                        there answers the same";

thread_local! {
    /// The last reason that was given on this thread.
    static REASON: RefCell<Option<String>> = const { RefCell::new(None) };
}

impl Code {
    /// This code, and what people are told if the call that is under way answers it.
    #[must_use]
    pub fn because(self, why: impl Into<String>) -> Code {
        // A thread that ends has no reasons any more; the code alone will do then.
        let _ = REASON.try_with(|reason| *reason.borrow_mut() = Some(why.into()));
        self
    }
}

/// The error for an argument that makes no sense.
pub fn invalid(why: impl Into<String>) -> Code {
    Code::INVALID_VALUE.because(why)
}

/// Forgets what an earlier call gave as a reason.
pub fn forget() {
    let _ = REASON.try_with(RefCell::take);
}

/// Says once that a call fails, and why. Work that is not ready is no failure.
pub fn tell(function: &str, code: Code) {
    static TOLD: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    if matches!(code, Code::SUCCESS | Code::NOT_READY) {
        return;
    }
    // What is wrong with the environment is said where it is read.
    let Ok(environment) = environment() else {
        return;
    };
    if environment.quiet {
        return;
    }
    let reason = REASON.try_with(RefCell::take).ok().flatten();
    let why = reason.unwrap_or_else(|| {
        let text = code.text().unwrap_or_default();
        text.to_string_lossy().into_owned()
    });
    let message = format!("{function} answers {code}: {why}");
    let cause = if why == DEAD {
        format!("{code}: {why}")
    } else {
        message.clone()
    };
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.len() == MOST || !told.insert(cause) {
        return;
    }
    log::say(environment.log.as_deref(), &message);
    if told.len() == MOST {
        let last = "so many kinds of failure are told; of the rest nothing is said";
        log::say(environment.log.as_deref(), last);
    }
}
