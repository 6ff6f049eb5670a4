//! Signals: one that asks for an end ends the program at the next look, with its checkpoint written;
//! a second one at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::Failure;

/// Whether a signal asks for an end.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// Heeds signals from here on.
    pub fn on_signals() -> Self {
        let stop = Stop::default();
        for signal in [SIGINT, SIGTERM] {
            let asked = Arc::new(AtomicBool::new(false));
            // In this order the first signal finds `asked` unset. A signal that cannot be heeded ends
            // the program, as it would anyway.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, asked.clone());
            let _ = flag::register(signal, asked);
            let _ = flag::register_usize(signal, stop.0.clone(), signal.unsigned_abs() as usize);
        }
        stop
    }

    /// The failure, if a signal came.
    pub fn failure(&self) -> Option<Failure> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(Failure::Interrupted(
                i32::try_from(signal).unwrap_or(SIGINT),
            )),
        }
    }
}
