//! The log of calls that fail. `CUDA_SIM_QUIET=1` turns it off.

use crate::environment::environment;
use crate::error::{CONTEXT_LOST, Code, take_reason};
use crate::sync::locked;
use std::collections::HashSet;
use std::sync::{LazyLock, Mutex};

/// More messages than this would bury the first one.
const MOST: usize = 50;

/// Logs that a call fails, and why, once for each function and reason. Work that is not
/// ready is no failure.
pub fn report(function: &str, code: Code) {
    static REPORTED: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    if matches!(code, Code::SUCCESS | Code::NOT_READY) {
        return;
    }
    // What is wrong with the environment is logged where it is read.
    let Ok(environment) = environment() else {
        return;
    };
    if environment.quiet {
        return;
    }
    let why = take_reason().unwrap_or_else(|| {
        let text = code.text().unwrap_or_default();
        text.to_string_lossy().into_owned()
    });
    let message = format!("{function} answers {code}: {why}");
    // Every function answers that the context is lost, so that is logged for one of them.
    let failure = if why == CONTEXT_LOST {
        format!("{code}: {why}")
    } else {
        message.clone()
    };
    let mut reported = locked(&REPORTED);
    if reported.len() == MOST || !reported.insert(failure) {
        return;
    }
    environment.say(&message);
    if reported.len() == MOST {
        environment.say("no more kinds of failure are logged");
    }
}
