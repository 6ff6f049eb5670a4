//! The report at exit of what a program did not free.

use crate::state::contexts;
use crate::state::driver::Driver;
use crate::sync::locked;
use std::fmt::Write;

/// Leaks are listed one by one up to this many.
const LISTED: usize = 20;

/// The report, or nothing if everything was freed. Primary contexts do not count,
/// nor does what is in a dead context: nobody can free it there.
pub fn report(driver: &Driver) -> Option<String> {
    let counts = |context| !contexts::is_dead(context);
    let mut left = driver.memory.unfreed(counts);
    let modules = driver.modules.drain(|module| counts(module.context));
    left.extend(modules.iter().map(|(_, module)| module.describe()));
    let streams = driver.streams.drain(|stream| counts(stream.context));
    left.extend(streams.iter().map(|(handle, _)| handle.named("stream")));
    let events = driver.events.drain(|event| counts(event.context));
    left.extend(events.iter().map(|(handle, _)| handle.named("event")));
    let contexts = contexts::drain_created();
    left.extend(contexts.iter().map(|(handle, _)| handle.named("context")));
    let abandoned = locked(&driver.abandoned);
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
